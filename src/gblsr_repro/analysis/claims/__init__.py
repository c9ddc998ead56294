"""Judge the paper's claims on a run: published numbers, measured numbers, verdicts (claims.csv).

`topics` collects all claims, `judge` decides their verdicts, `verdicts` reads and writes
claims.csv.
"""
