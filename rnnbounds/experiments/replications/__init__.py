"""Replications of the papers' experiments: one a module, on the tasks and networks beside."""
