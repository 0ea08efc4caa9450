"""Statements evaluated: float64 intervals, balls, rationals."""
