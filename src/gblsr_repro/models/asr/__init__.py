"""Arbitrary-scale super-resolution: encoders, decoders and the model that joins them."""
