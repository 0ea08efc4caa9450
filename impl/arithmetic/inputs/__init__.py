"""Sets of inputs: what a norm needs to know of them."""
