"""Plain against fast, side by side in one run: times, memory and ratios, with a written record."""

import os

# The profiler that tracks CPU memory complains on machines without a GPU; read when torch loads.
os.environ.setdefault("KINETO_LOG_LEVEL", "99")
