"""How a run differs from the paper's: compared once, when the aggregates are made.

`recorded` gathers what the runs recorded, `comparison` compares that with the paper's, `writing`
writes aggregates/provenance_*.json. All that shows or judges numbers reads those files, through
the classes of `differences`, which this package exports, and compares nothing again.
"""

from .differences import (
    BENCHMARKS,
    PAPER_PRESET,
    SHARED_GPU,
    Benchmark,
    Difference,
    Provenance,
    Scope,
)
