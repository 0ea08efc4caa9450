"""Certified primitives: outward rounding, matrices' numbers, ranges of functions."""
