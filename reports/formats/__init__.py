"""What was seen, in the formats of others."""
