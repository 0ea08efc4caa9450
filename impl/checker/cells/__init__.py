"""What is proved of cells: their steps, boxes and norms in balls and rationals."""
