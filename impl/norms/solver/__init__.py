"""The semidefinite solver in a process of its own, within bounds of steps, time and memory."""
