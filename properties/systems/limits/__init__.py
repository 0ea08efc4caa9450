"""Limits of unitary networks: candidates for equivalents, exact, near and fitted."""
