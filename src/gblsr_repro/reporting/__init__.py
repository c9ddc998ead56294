"""Show a run's numbers: tables, figures and pages.

Reads aggregates/*.csv, aggregates/provenance_*.json and claims.csv, which `gblsr_repro.analysis`
computes.

`items` finds the functions of `tables` and `figures` that make the items of config/items.tsv, with
the words of `captions`, and `groups` has the items that one job makes; `report_page`, `claims_page`
and `readings_page` build pages of sections (`page`); `rendering` renders tables (`layout`) and
pages by the templates.
"""
