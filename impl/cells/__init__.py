"""Cells: one a file, written once as a step over any arithmetic; `table` lists them."""
