"""Cells of any kind: how they are drawn, and their certified constants."""
