"""Certified primitives: outward rounding, norms, inverses, eigenvalues, ranges of functions."""
