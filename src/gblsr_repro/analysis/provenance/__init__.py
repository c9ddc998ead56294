"""Compare a run's conditions with the paper's, once, when the aggregates are made.

`conditions` reads the metadata of runs, `settings` compares what numbers depend on with the
paper's, `comparison` images and devices, and writes aggregates/provenance_*.json, and `differences`
reads these files. Claims, tables and pages read conditions from them alone.
"""
