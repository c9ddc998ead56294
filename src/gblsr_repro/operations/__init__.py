"""Estimate the costs of a configuration, and report the progress of its trainings."""
