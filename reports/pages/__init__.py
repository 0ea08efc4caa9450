"""Pages made from records alone."""
