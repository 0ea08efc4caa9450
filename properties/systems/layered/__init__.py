"""Deep transitions and stacks of layers, in dyadic rationals."""
