"""Cells on the box that no run leaves."""
