"""Experiments on Emami and others' unitary networks: how well they learn, and long memories."""
