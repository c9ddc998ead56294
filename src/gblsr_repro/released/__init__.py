"""Released weights: found, read, matched with a row, and written as a run without any training."""
