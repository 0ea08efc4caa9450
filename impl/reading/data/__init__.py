"""Recorded inputs: files of numbers, arrays and loaders as sequences."""
