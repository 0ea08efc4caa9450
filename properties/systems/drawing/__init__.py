"""Hypothesis strategies of specs, and the conversion of a spec to numbers."""
