"""Ledgers drawn at random, most of false statements, and the exact values that refute them."""
