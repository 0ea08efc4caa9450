"""Projected gradient descent, and what it ends at."""

from theory.quantity import Quantity

TRAINING: tuple[Quantity, ...] = ()
