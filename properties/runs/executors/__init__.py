"""Executors of calls: this process, a pool of processes, the workers of a cluster."""
