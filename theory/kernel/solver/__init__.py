"""z3 in a process of its own, within bounds of steps, of CPU time and of memory."""
