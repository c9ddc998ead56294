"""Compare a run's conditions with the paper's, once, when the aggregates are made.

`conditions` gathers the conditions that runs recorded, `comparison` compares them with the paper's,
`writing` writes aggregates/provenance_*.json, and `differences` reads these files. Claims, tables
and pages read conditions from them alone.
"""
