"""Certifying a model."""
