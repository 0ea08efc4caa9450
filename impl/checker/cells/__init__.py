"""Proofs about cells: their steps, boxes and norms, in balls and rationals."""
