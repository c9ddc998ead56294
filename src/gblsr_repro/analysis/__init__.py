"""Compute what a run shows: means over seeds, differences from the paper's run, and claims.

Reads the files of runs, scores and timings; writes aggregates/*.csv, aggregates/provenance_*.json
and claims.csv, which `gblsr_repro.reporting` shows.

`schemas` has the columns and inputs of every aggregate, `aggregate` makes them, and `reader` reads
them and the paper's numbers. A number that follows from aggregates has one function, in `derived`,
`criteria` or `training_time`, which claims, tables, figures and pages call; it reads `measured`
numbers as `estimates`, arrays with standard errors. `subjects` names the paper's arms, methods and
data sets, `metrics` has the title, decimals and direction of every metric.
"""
