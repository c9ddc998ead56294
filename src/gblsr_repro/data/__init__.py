"""Fetch, record, decode, standardize and sample the images of both benchmarks."""
