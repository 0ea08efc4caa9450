"""Recurrent systems, their constants and their certificates, computed in batches."""
