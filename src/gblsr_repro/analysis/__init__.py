"""Compute what a run shows: means over seeds, differences from the paper's run, and claims.

Reads the files of runs, scores and timings; writes aggregates/*.csv, aggregates/provenance_*.json
and claims.csv. `gblsr_repro.reporting` shows these files and computes none of their numbers.
"""
