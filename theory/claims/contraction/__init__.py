"""When a model is a contraction, and in which norm."""
