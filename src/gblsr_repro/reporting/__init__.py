"""Show a run's numbers: tables, figures, pages and records.

Reads aggregates/*.csv, aggregates/provenance_*.json and claims.csv, which `gblsr_repro.analysis`
computes.
"""
