"""Systems in exact rationals: unitary equivalents, and what may or may not stand in for one."""
