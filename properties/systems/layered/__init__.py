"""Deep transitions and stacks of layers, in rationals."""
