"""Gradients and weights of truncated models, against k."""
