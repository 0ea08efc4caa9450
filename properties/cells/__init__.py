"""Cells of any kind: steps in several arithmetics, runs that start at several times, slopes."""
