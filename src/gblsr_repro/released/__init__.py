"""Released weights: found, read, renamed, and written as a run without any training."""
