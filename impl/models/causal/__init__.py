"""Feed-forward causal models with their receptive fields."""
