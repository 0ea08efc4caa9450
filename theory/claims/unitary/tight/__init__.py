"""How few unitary states are enough (Emami et al., Theorem 3.2)."""
