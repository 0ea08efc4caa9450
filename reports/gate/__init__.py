"""The gate: what regressed between two records, and what passes for noise."""
