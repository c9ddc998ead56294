"""Train the models of both benchmarks: the loop, saved states, and the metadata of runs."""
