"""Contraction in weighted norms (Miller & Hardt, section 2; Lyapunov; Perron).

In the norm ‖Q h‖ with Q = P^{1/2} a linear system contracts as soon as its spectral radius is below
1.  An activation spoils that, unless Q is diagonal: then it commutes with the slopes.
"""
# ruff: noqa: N816 - the names of the vocabulary

from typing import Any

from sympy import Expr, Symbol

from rnnbounds.theory.axioms import base
from rnnbounds.theory.language import (
    Assumption,
    Axiom,
    Instance,
    Statement,
    assume,
    at,
    eq,
    le,
    symbols,
)
from rnnbounds.theory.language.terms.variables import A, a, b, c, operator, v, vector
from rnnbounds.theory.language.terms.vectors import (
    is_diagonal,
    max_norm,
    norm,
    phi,
)
from rnnbounds.theory.models.cells import LINEAR, RNN, SLOPES, U, W, bias
from rnnbounds.theory.proof import Claim, Form, Source, scale, step, theorem, thousandth_less

L_rho, lam_P, lam_D, lam_v = symbols("L_rho lam_P lam_D lam_v")
step_gap, state_gap = symbols("step_gap state_gap")
step_gap_P, step_gap_D, step_gap_v = symbols("step_gap_P step_gap_D step_gap_v")
state_gap_P, state_gap_D, state_gap_v = symbols("state_gap_P state_gap_D state_gap_v")

x_t = vector("x_t")
P_root, D, V = operator("P_root"), operator("D"), operator("V")


def _weighted(weights: Symbol, notation: str, norm: Any = norm) -> tuple[Symbol, Assumption]:
    """The inverse of the weights, and what makes it one: ‖A Q⁻¹ Q v‖ = ‖A v‖."""
    inverse = operator(f"{weights.name}_inverse")
    invertible = assume("invertible", f"{notation} is invertible", forall=(A, v)).that(
        eq(norm(A * inverse * weights * v), norm(A * v)), eq(norm(inverse * weights * v), norm(v))
    )
    return inverse, invertible


P_inverse, INVERTIBLE_P = _weighted(P_root, "Q = P^{1/2}")
QUADRATIC_FACTOR = assume("factor", "lam_P bounds ‖Q W Q⁻¹‖₂").that(
    le(norm(P_root * W * P_inverse), lam_P)
)
QUADRATIC_STEP = step(
    "one step",
    le(norm(P_root * (phi(a, c) - phi(b, c))), lam_P * norm(P_root * (a - b))),
    forall=(a, b, c),
).by(
    at("linear", a, c),
    at("linear", b, c),
    at("invertible", P_root * W, a - b),
    base.SUBMULTIPLICATIVE.at(P_root * W * P_inverse, P_root * (a - b)),
    "factor",
)
QUADRATIC = theorem(
    "quadratic",
    le(step_gap_P, lam_P * state_gap_P),
    (LINEAR, INVERTIBLE_P, QUADRATIC_FACTOR),
    "linear",
    (QUADRATIC_STEP,),
    note="Q solves a Lyapunov equation; lam_P is close to the spectral radius if need be",
).by(at("one step", a, b, x_t))


def _diagonal_form(
    name: str,
    weights: Symbol,
    factor: Expr,
    bound: Statement,
    texts: tuple[str, str, str],
    norms: tuple[Any, Axiom, Axiom],
) -> Form:
    """An RNN in a norm of diagonally weighted states: the weights commute with the slopes.

    `norms` are the norm, and what sub-multiplicativity and diagonal matrices are in it.
    """
    notation, factor_text, note = texts
    norm, submultiplicative, diagonal_commutes = norms
    inverse, invertible = _weighted(weights, notation, norm)
    diagonal = assume("diagonal", f"{notation} is diagonal").that(eq(is_diagonal(weights), 1))
    factors = assume("factor", factor_text).that(le(L_rho * norm(weights * W * inverse), factor))
    first, second = (W * h + U * c + bias for h in (a, b))
    spoiled: tuple[Instance, ...] = (
        at("rnn", a, c),
        at("rnn", b, c),
        base.MEAN_VALUE.at(first, second),
        diagonal_commutes.at(weights, first, second, W * (a - b)),
    )
    steps = (
        SLOPES,
        step(
            "the slopes come out",
            le(norm(weights * (phi(a, c) - phi(b, c))), L_rho * norm(weights * W * (a - b))),
            forall=(a, b, c),
        ).by(*spoiled, "slopes", "diagonal"),
        step(
            "one step",
            le(norm(weights * (phi(a, c) - phi(b, c))), factor * norm(weights * (a - b))),
            forall=(a, b, c),
        ).by(
            at("the slopes come out", a, b, c),
            at("invertible", weights * W, a - b),
            submultiplicative.at(weights * W * inverse, weights * (a - b)),
            "factor",
        ),
    )
    model = (RNN, invertible, diagonal, factors)
    return theorem(name, bound, model, "rnn", steps, note).by(at("one step", a, b, x_t))


DIAGONAL = _diagonal_form(
    "diagonal",
    D,
    lam_D,
    le(step_gap_D, lam_D * state_gap_D),
    ("D", "lam_D bounds L_ρ‖D W D⁻¹‖₂", "the only quadratic norms that survive an activation"),
    (norm, base.SUBMULTIPLICATIVE, base.DIAGONAL_COMMUTES),
)
PERRON = _diagonal_form(
    "perron",
    V,
    lam_v,
    le(step_gap_v, lam_v * state_gap_v),
    (
        "V = diag(1/v)",
        "lam_v bounds L_ρ‖V W V⁻¹‖_∞ = L_ρ max_i (|W| v)_i / v_i",
        "in the maximum norm of V h, for v the right Perron vector of |W|",
    ),
    (max_norm, base.SUBMULTIPLICATIVE_MAX, base.DIAGONAL_COMMUTES_MAX),
)

CONTRACTION_WEIGHTED = Claim(
    id="contraction-weighted",
    title="Linear systems and RNNs contract in weighted norms",
    source=Source("Miller & Hardt, Stable Recurrent Models", "section 2"),
    forms=(QUADRATIC, DIAGONAL, PERRON),
    false_variants=(
        thousandth_less(QUADRATIC),
        DIAGONAL.variant(
            "any-quadratic",
            "any quadratic norm of W is taken to certify the RNN",
            le(step_gap_P, L_rho * lam_P * state_gap_P),
        ),
        DIAGONAL.variant(
            "plain-norm",
            "the factor of the diagonal norm without its condition number",
            le(step_gap, lam_D * state_gap),
        ),
        PERRON.variant(
            "without-equivalence",
            "the factor of the maximum norm in the Euclidean one",
            le(step_gap, lam_v * state_gap),
        ),
        scale(PERRON, 1 / L_rho, "unit-slope", "the activation is taken for 1-Lipschitz"),
    ),
    extremal="pairs along a signed Perron vector; in the quadratic norm, along W's singular vector",
    example_factor=1.45,
)
