"""Powers, returns and algebraic combinations, tried on numbers."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from sympy import Add, degree, expand, sqrt, symbols

from rnnbounds.theory.axioms.analytic import COMBINATIONS
from rnnbounds.theory.axioms.powers import GELFAND, RETURNS
from rnnbounds.theory.language.terms.unitary import outset, power, radius, ratio
from rnnbounds.theory.language.terms.variables import A


@pytest.mark.parametrize("seed", range(4))
def test_powers_fade_below_the_radius_one(seed: int) -> None:
    """‖A^j v‖ ≤ c q^j for a q between the spectral radius and 1, from a c seen early."""
    assert {f.func for f in GELFAND.clauses[0].conclusion.rhs.atoms(ratio, outset)} == {
        ratio,
        outset,
    }
    assert GELFAND.clauses[0].given[0].lhs == radius(A)
    random = np.random.default_rng(seed)
    matrix = np.triu(random.normal(size=(3, 3)) * 4, 1) + np.diag(random.uniform(-0.9, 0.9, 3))
    q = (1 + np.abs(np.linalg.eigvals(matrix)).max()) / 2
    vector, sizes = random.normal(size=3), []
    for j in range(400):
        sizes.append(np.linalg.norm(vector) / q**j)
        vector = matrix @ vector
    assert max(sizes[:200]) >= max(sizes[200:])


@pytest.mark.parametrize("seed", range(8))
def test_an_isometry_comes_back_late_too(seed: int) -> None:
    """No y > 0 and z q^s keep all members apart that are more than s apart.

    Of the turns 1 … M by any angle one ends within 2π/M of its start (Dirichlet), and so one of
    more than s and of at most (s + 1) M turns within 2π (s + 1)/M.
    """
    assert RETURNS.requires[0].clauses[0].conclusion.rhs.has(power)
    angle, most = np.random.default_rng(seed).uniform(0, 2 * np.pi), 20_000
    for s in (0, 5, 50):
        turns = np.arange(s + 1, (s + 1) * most + 1)
        assert np.abs(1 - np.exp(1j * angle * turns)).min() <= 2 * np.pi * (s + 1) / most + 1e-6


@pytest.mark.parametrize("seed", range(12))
def test_sums_with_what_is_algebraic_are_algebraic(seed: int) -> None:
    """With T = √r, r of the field of Z, and P = X A + T B, every Y = n P + m X is a root of
    (W − (n A + m) X)² − n² B² r, whose coefficients are of the field of X and Z."""
    assert len(COMBINATIONS.clauses[0].given) == 3
    random, (w, x, t) = Random(seed), symbols("w x t")
    A, B, n, m = (random.randint(-2, 2) for _ in range(4))
    r = Add(*(Fraction(random.randint(-3, 3), 2) * t**i for i in range(3)))
    vanishes = (w - (n * A + m) * x) ** 2 - n**2 * B**2 * r
    assert degree(vanishes, w) == 2
    assert expand(vanishes.subs(w, n * (x * A + sqrt(r) * B) + m * x)) == 0
