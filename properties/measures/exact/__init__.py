"""Exact measures of single members: of unitary networks, their limits, layers and memory."""
