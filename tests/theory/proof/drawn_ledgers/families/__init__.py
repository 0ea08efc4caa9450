"""Families of drawn ledgers: each module draws statements of one kind and steps to prove them."""
