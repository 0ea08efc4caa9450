"""When a cell contracts: comparison, weighted, semidefinite and iterated norms."""
