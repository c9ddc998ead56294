"""Judge the paper's claims on a run: published numbers, measured numbers, verdicts (claims.csv).

config/paper/claims.tsv has the claims, which `stated` reads with what measures each: functions of
`native`, `superres`, `diagnostics` and `structure`. `cells` makes a claim of every number of the
paper's tables. `judge` decides their verdicts by `rules`, `verdicts` reads, writes and counts
claims.csv.
"""
