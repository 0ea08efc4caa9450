"""The limits of unitary networks: 2n states for ReLU, none that are enough for sigmoid."""

from math import exp as exp_

import pytest
from sympy import (
    Expr,
    I,
    Matrix,
    Rational,
    atanh,
    diag,
    exp,
    eye,
    limit,
    pi,
    simplify,
    symbols,
    tanh,
)

from rnnbounds import theory
from rnnbounds.theory.proof import prove

TIGHT, SIGMOID = theory.claim("urnn-tight"), theory.claim("urnn-sigmoid")


@pytest.mark.parametrize(
    ("V", "E", "G", "W"),
    [
        # the swap of two states with two others
        (
            [[0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0]],
            [[1, 0, 0, 0], [0, 1, 0, 0]],
            [[1, 0], [0, 1], [0, 0], [0, 0]],
            [[0, 0], [0, 0]],
        ),
        # W = (0 ½; 0 0), whose first state, doubled, makes the shift
        (
            [[0, 1, 0], [0, 0, 1], [1, 0, 0]],
            [[Rational(1, 2), 0, 0], [0, 1, 0]],
            [[2, 0], [0, 1], [0, 0]],
            [[0, Rational(1, 2)], [0, 0]],
        ),
        # a rotation, all active, for two steps
        (
            [[Rational(3, 5), Rational(-4, 5)], [Rational(4, 5), Rational(3, 5)]],
            [[1, 0]],
            [[1], [0]],
            [[Rational(3, 5)]],
        ),
    ],
    ids=["swap", "rescaled", "rotation"],
)
def test_what_two_steps_of_candidates_do(
    V: list[list[Expr]], E: list[list[Expr]], G: list[list[Expr]], W: list[list[Expr]]
) -> None:
    """E D₀ G = I, E D₁ G = I and E D₁ V D₀ G = W, for the candidates that make bounds tight."""
    V_, E_, G_, W_ = map(Matrix, (V, E, G, W))
    active = G_.shape[1] if len(V) > 2 else 2
    D = diag(*(int(r < active) for r in range(len(V))))
    assert eye(len(V)) == V_ * V_.T
    assert eye(len(W)) == E_ * D * G_
    assert E_ * D * V_ * D * G_ == W_


def test_the_claims_on_relu_are_proved_by_ranks_alone() -> None:
    """No axiom but that of ranks, and of norms where inputs move."""
    for form, ledger in zip(TIGHT.forms, prove(TIGHT), strict=True):
        assert ledger.proved
        norms = set() if form.name == "multiplicity" else {"norm"}
        assert set(ledger.axioms) == {"rank-nullity"} | norms


# No sigmoid network.


def test_no_sigmoid_network_by_theorems_of_textbooks() -> None:
    """No step is prose: Ax's theorem and poles make units independent, and then U returns."""
    independence = {"Ax's theorem", "algebraic elements", "free abelian groups", "poles"}
    limits = {"excluded": set[str](), "vector": {"Gelfand's formula"}}
    for form, ledger in zip(SIGMOID.forms, prove(SIGMOID), strict=True):
        assert ledger.proved
        assert independence <= set(ledger.axioms)
        if form.name in limits:
            assert limits[form.name] | {"Bolzano-Weierstrass theorem"} <= set(ledger.axioms)


a, g, t = symbols("a g t", real=True)


def test_the_poles_of_level_zero() -> None:
    """tanh(θ + g x) has the residue 1/g at (iπ/2 − θ)/g; the others follow by iπ/g."""
    at_pole = (I * pi / 2 - a) / g
    assert simplify(limit(t * tanh(a + g * (at_pole + t)), t, 0) - 1 / g) == 0


def test_with_imaginary_shifts_relations_do_exist() -> None:
    """tanh(z − iπ/3) + tanh z + tanh(z + iπ/3) = 3 tanh 3z: the lemma needs real weights."""
    for point in (Rational(1, 3), Rational(-2), Rational(5, 7)):
        shifted = sum(tanh(point + s * I * pi / 3) for s in (-1, 0, 1))
        assert abs((shifted - 3 * tanh(3 * point)).evalf(40)) < Rational(1, 10**30)


def test_other_analytic_functions_are_related() -> None:
    """A₂ = artanh(½ tanh A₁), not ±A₁, gives tanh A₂ = ½ tanh A₁."""
    assert tanh(atanh(tanh(a) / 2)) == tanh(a) / 2


def test_mixed_activations_agree() -> None:
    """tanh(r/4 + x) = 2σ(s + 2x − ½) − 1 for r = 2s − 1: |w| = ¼ is matched by U = 1."""
    s, x = symbols("s x", real=True)
    left = tanh((2 * s - 1) / 4 + x)
    right = 2 / (1 + exp(-(s + 2 * x - Rational(1, 2)))) - 1
    assert simplify((left - right).rewrite(exp)) == 0


def test_agreement_at_two_times_is_not_enough() -> None:
    """Units equal at time 0, and a row of U that sums to w: equal at times 0 and 1, not at 2."""

    def sigma(value: float) -> float:
        return 1 / (1 + exp_(-value))

    w, half = 0.5, 7**0.5 / 4
    U = ((0.25 + half, 0.25 - half), (-0.25 + half, 0.25 + half))
    h, s, gaps = 0.0, (0.0, 0.0), []
    for x in (0.3, -1.1, 0.7):
        h = sigma(w * h + x)
        s = tuple(sigma(row[0] * s[0] + row[1] * s[1] + x) for row in U)  # type: ignore[assignment]
        gaps.append(abs(h - s[0]))
    assert max(gaps[:2]) < 1e-15
    assert gaps[2] > 1e-3
