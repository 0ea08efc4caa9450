"""Memory of a model: measured on recorded inputs, and stated for others drawn like them."""
