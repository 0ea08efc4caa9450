"""Quantities read from their formal definitions, in float64, in balls and in rationals."""
