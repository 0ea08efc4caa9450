"""Runs of cells of any kind: several at once, their gaps and their derivatives."""
