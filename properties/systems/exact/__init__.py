"""Networks in exact rationals."""
