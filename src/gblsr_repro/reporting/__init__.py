"""Show a run's numbers: tables, figures and pages.

Reads aggregates/*.csv, aggregates/provenance_*.json and claims.csv, which `gblsr_repro.analysis`
computes.

`items` groups the items of config/items.tsv by the jobs that make them, and finds the functions of
`tables` and `figures` that do, with the words of `captions`; `page` makes pages of sections, those
of `report_page`, `sections` and `claims`; `rendering` renders tables (`layout`) and pages by the
templates.
"""
