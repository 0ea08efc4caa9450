"""Claims as LaTeX."""
