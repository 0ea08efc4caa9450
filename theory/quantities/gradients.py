"""Gradients in the weights, and the smoothness that bounds them."""

from theory.quantity import Quantity

GRADIENTS: tuple[Quantity, ...] = ()
