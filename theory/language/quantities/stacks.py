"""Stacks of two layers: factors of each, and what the stack does to two states (s¹, s²)."""

from sympy import Expr, Max

from rnnbounds.theory.language.quantities.norms import T, k
from rnnbounds.theory.language.quantity import Quantity, Symbol, certified, measured, parameter, tag
from rnnbounds.theory.language.terms.networks import p, q, states, upper_run
from rnnbounds.theory.language.terms.variables import a, b, x
from rnnbounds.theory.language.terms.vectors import max_norm

v_top = Symbol("v_top", real=True)
_OF_LAYER, _WEIGHTED = "of one layer", "max(‖s¹‖_∞, ‖s²‖_∞/v)"
_zero = a - a
# The states from which the window starts.
_low, _top = states(_zero, _zero, 0, T - k)


def _weighted(steps: int) -> Expr:
    """max(‖Δs¹‖, ‖Δs²‖/v) after some steps from (a, p) and (b, q)."""
    ends = zip(states(a, p, 0, steps), states(b, q, 0, steps), strict=True)
    first, second = (max_norm(one - two) for one, two in ends)
    return Max(first, second / v_top)


STACKS: tuple[Quantity, ...] = tag(
    "cascade",
    parameter("v_top", "the weight of the upper layer's state against the lower one's", "v"),
    certified("lam_1", "contraction factor of the lower layer", _OF_LAYER, r"\lambda_1"),
    certified("lam_2", "contraction factor of the upper layer", _OF_LAYER, r"\lambda_2"),
    certified(
        "mu", "Lipschitz constant of the upper layer in what the lower one shows", _OF_LAYER,
        r"\mu",
    ),
    measured(
        "stack_gap", "two states of a stack after one step",
        r"\lVert \varphi(s,x)-\varphi(s',x)\rVert_{stack}", _weighted(1), _WEIGHTED,
    ),
    measured(
        "stack_state_gap", "two states of a stack", r"\lVert s-s'\rVert_{stack}",
        Max(max_norm(a - b), max_norm(p - q) / v_top), _WEIGHTED,
    ),
    measured(
        "top_gap", "the upper layer after T steps from two states of the stack",
        r"\lVert s^2_T-s'^2_T\rVert", max_norm(upper_run(a, p, x, 0, T) - upper_run(b, q, x, 0, T)),
    ),
    measured(
        "low_start", "two states of the lower layer", r"\lVert s^1-s'^1\rVert", max_norm(a - b),
    ),
    measured(
        "top_start", "two states of the upper layer", r"\lVert s^2-s'^2\rVert", max_norm(p - q),
    ),
    measured(
        "top_memory", "full against truncated state of the upper layer",
        r"\lVert s^2_T-s^{2(k)}_T\rVert",
        max_norm(upper_run(_low, _top, x, T - k, k) - upper_run(_zero, _zero, x, T - k, k)),
    ),
    measured(
        "low_before", "the lower layer at the start of the window", r"\lVert s^1_{T-k}\rVert",
        max_norm(_low),
    ),
    measured(
        "top_before", "the upper layer at the start of the window", r"\lVert s^2_{T-k}\rVert",
        max_norm(_top),
    ),
)  # fmt: skip
