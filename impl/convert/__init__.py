"""Conversions of a model: truncation, unitary form."""
