"""LSTMs and GRUs: pairs of states in an invariant box, and what steps and runs make of them."""
