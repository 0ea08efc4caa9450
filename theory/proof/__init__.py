"""The proof engine: steps, what they may use, and the methods that prove them."""
