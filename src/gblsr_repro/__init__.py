"""Reproduce GB-LSR: models, protocol, analysis and reporting behind the Snakemake workflow."""

__version__ = "0.4.0"
