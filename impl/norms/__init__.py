"""When a cell contracts: comparison, weighted and quadratic norms."""
