"""Real models, read as a user's are, with the certificates that ship for them."""
