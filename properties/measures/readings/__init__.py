"""How quantities are read off a system: in float64, in balls, in rationals."""
