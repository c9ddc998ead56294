"""GB-LSR, reproducible end to end: models, protocol and reporting behind the Snakemake workflow."""

__version__ = "0.1.0"
