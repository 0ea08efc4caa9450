"""The same model with other weights, and what training makes of them."""
