"""Feed-forward causal models: how they are drawn, and the fields that they are said to have."""
