"""Projected descent, stable sets, and what is certified of a training run."""
