"""Refuting a contraction: orbits, in balls, that never come together."""
