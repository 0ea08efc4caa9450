"""The constants that a batch of systems supplies to the bounds: rigorous upper bounds, by name."""

from typing import ClassVar

from torch import Tensor

from rnnbounds.impl.gradients.smoothness import SMOOTHNESS, gradient_window
from rnnbounds.impl.gradients.state_constants import STATES
from rnnbounds.impl.gradients.supply import Supply


class Constants(Supply):
    """``constants[name]`` is a (B,) float64 tensor, computed when first asked for.

    Each certified constant is at least what its name means, infinite where no bound is known, and
    never NaN. Inputs are bounded by ‖x_t‖₂ ≤ B_x (B,); the outputs are C h with C (B, p, n), or h
    itself. The Euclidean constants are uniform on the ``region`` of weights, by default the cell
    alone; beyond one cell those of weighted norms are infinite. Gradients are those of ``loss`` in
    the blocks ``trained``, some of W, U and b in this order. Raises an InputError.
    Source: Miller & Hardt, Section 2 and Lemmas 1 to 3.
    """

    formulas: ClassVar = {**STATES, **SMOOTHNESS}
    of_one_cell: ClassVar = {"W_radius", "lam_P", "lam_D", "lam_v"}

    def epsilons(self, K: int) -> Tensor:
        """ε_k ≥ ‖∇p_T − ∇p_T^k‖ for every T, k = 0 … K: (B, K+1), infinite at k = 0."""
        return gradient_window(self["lam"], self["G_0"], self["D_1"], K)
