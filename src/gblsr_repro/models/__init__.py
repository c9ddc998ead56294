"""Encoders, decoders and models of the native benchmark, and what super-resolution shares."""
