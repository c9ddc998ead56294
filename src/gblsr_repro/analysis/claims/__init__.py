"""Judge the paper's claims on a run: published numbers, measured numbers, verdicts (claims.csv).

`topics` collects all claims, whose functions read `measured` numbers as `estimates`, arrays with
standard errors; `judge` decides their verdicts, `rows` reads and writes claims.csv.
"""
