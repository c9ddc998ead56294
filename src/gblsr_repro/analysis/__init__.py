"""Compute what a run shows: means over seeds, differences from the paper's run, and claims.

Reads the files of runs, scores and timings; writes aggregates/*.csv, aggregates/provenance_*.json
and claims.csv. `gblsr_repro.reporting` shows these files and computes none of their numbers.

`schemas` has the columns and inputs of every aggregate; `aggregate` makes them of files or, by the
functions of `best_arms`, `criteria`, `efficiency`, `figure_numbers` and `training_time`, of other
aggregates; `reader` reads them, `paper_aggregates` the paper's numbers in their form.
"""
