"""What a cell's step runs over: floats, balls, rationals, intervals with slopes, jets."""
