"""How gradients vanish, and how close those of the truncated model are."""
