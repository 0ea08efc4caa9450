"""Deep transitions, stacks of layers, modes and scans, in rationals."""
