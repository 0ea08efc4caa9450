"""The claims, one a file."""
