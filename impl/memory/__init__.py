"""What a model remembers of recorded inputs: seen on them, and stated of others drawn like them."""
