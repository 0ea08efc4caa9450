"""Commands about claims and their proofs."""
