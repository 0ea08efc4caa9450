"""States and gradients of all truncations of a run at once."""
