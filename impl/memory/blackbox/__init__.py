"""Measurements of any causal model, as it is run: nothing is read of its weights."""
