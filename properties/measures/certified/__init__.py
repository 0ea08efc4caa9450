"""Real models against what is printed of them."""
