"""Estimate the costs of a configuration."""
