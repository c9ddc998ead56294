"""The paper's claims: what it says, what was measured here, and the verdict (claims.csv).

`paper` holds all claims, `judge` makes their verdicts, `rows` reads what was written.
"""
