"""Models in both directions: what their certificates print, and how far windows are off."""

from sympy import Expr, sqrt

from rnnbounds.theory.language.quantities.norms import T, k
from rnnbounds.theory.language.quantity import Quantity, Symbol, certified, measured, tag
from rnnbounds.theory.language.terms.bidirectional import (
    ahead_run,
    back_run,
    top_ahead_run,
    top_back_run,
)
from rnnbounds.theory.language.terms.variables import x
from rnnbounds.theory.language.terms.vectors import norm


def joint(one: Expr, other: Expr) -> Expr:
    """√(a² + b²)."""
    return sqrt(one**2 + other**2)


def _inputs(name: str, meaning: str, notation: str) -> Quantity:
    """A number of inputs that a certificate prints."""
    return Quantity(Symbol(name, integer=True), "certified", meaning, "number", notation)


_OWN = "of the cell's certificate"
ahead_gap = norm(ahead_run(x, 0, T) - ahead_run(x, T - k, k))
back_gap = norm(back_run(x, 2 * T, T + 1) - back_run(x, 2 * T - k, T - k + 1))
top_ahead_gap = norm(top_ahead_run(x, 0, 2 * T, T) - top_ahead_run(x, T - k, 2 * T - k, k))
top_back_gap = norm(top_back_run(x, 0, 2 * T, T + 1) - top_back_run(x, T - k, 2 * T - k, T - k + 1))
BIDIRECTIONAL: tuple[Quantity, ...] = (
    *tag(
        "both",
        certified("lam_ahead", "the printed λ of the forward cell", _OWN, r"\lambda^{(f)}"),
        certified("lam_back", "the printed λ of the reverse cell", _OWN, r"\lambda^{(r)}"),
        certified("C_ahead", "the printed C of the forward cell", _OWN, r"C^{(f)}"),
        certified("C_back", "the printed C of the reverse cell", _OWN, r"C^{(r)}"),
        certified("R_ahead", "min(S/(1 − λ), R) of the forward cell", _OWN, r"R^{(f)}"),
        certified("R_back", "min(S/(1 − λ), R) of the reverse cell", _OWN, r"R^{(r)}"),
    ),
    *tag(
        "both both-stack",
        _inputs("past_told", "the printed inputs before t", "k_1^{(cert)}"),
        _inputs("future_told", "the printed inputs after t", "k_2^{(cert)}"),
        certified("eps_both", "the ε of that window", "Euclidean", r"\varepsilon^{(both)}"),
    ),
    *tag(
        "both",
        measured(
            "both_gap", "the output of one layer at T in full against that of the window",
            r"\lVert Y_T-Y_T^{(k)}\rVert", joint(ahead_gap, back_gap),
        ),
    ),
    *tag(
        "both-stack",
        measured(
            "top_both_gap", "the output of two layers at T in full against that of the window",
            r"\lVert Y^2_T-Y_T^{2(k)}\rVert", joint(top_ahead_gap, top_back_gap),
        ),
    ),
)  # fmt: skip
