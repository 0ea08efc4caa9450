"""What a model becomes: truncated, unitary, rescaled."""
