"""Vanilla networks: plain ones, those with a loss, and matrices alone."""
