"""What proofs are checked over: terms of our own, compared by structure, and the rules on them."""
