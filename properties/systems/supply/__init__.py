"""Batches of systems, and constants beside those of their cells."""
