"""Formal vectors, operators and runs: what ledgers speak of."""
