"""Gradients of a cell, their rounding, and the constants of first and second order."""
