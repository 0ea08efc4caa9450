"""Numbers of the carriers: float64 with its rounding, pairs, directions, sizes."""
