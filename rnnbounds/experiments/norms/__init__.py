"""Which norms certify networks that the spectral norm does not."""
