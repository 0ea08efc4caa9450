"""First and second derivatives of a cell's program, unit by unit."""
