"""Models with changed weights: their assumptions, and the effect of training."""
