"""Boxes that hold a cell's states: proposed by the cell, proved here."""
