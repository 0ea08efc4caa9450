"""Layers of cells, each fed by the one below: one cell with one state."""
