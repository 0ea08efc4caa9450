"""Commands about a user's own model."""
