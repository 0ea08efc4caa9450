"""Networks in exact rationals, and their unitary equivalents."""
