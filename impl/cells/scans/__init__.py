"""Cells that are linear in the state, so that a scan computes them."""
