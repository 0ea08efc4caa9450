"""Models in both directions: their certificates, their windows, and both as files."""
