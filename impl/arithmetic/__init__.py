"""What a cell's step runs over: floats, balls, rationals, intervals, jets; boxes it stays in."""
