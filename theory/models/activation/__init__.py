"""Activations: their table, their pieces and their slopes."""
