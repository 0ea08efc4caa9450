"""No axiom bounds the row sums of an operator by another norm, true as that is of vectors."""

import numpy as np
import pytest
from sympy import Abs, Expr

from rnnbounds.theory.axioms.base import AXIOMS, SUBMULTIPLICATIVE_MAX
from rnnbounds.theory.axioms.entries import ENTRY_EUCLIDEAN, LEAST_BOUND
from rnnbounds.theory.language import ONE, Assumption, Axiom, law, le
from rnnbounds.theory.language.terms.unitary import part
from rnnbounds.theory.language.terms.variables import i, operator, v
from rnnbounds.theory.language.terms.vectors import max_norm, norm, row_norm
from rnnbounds.theory.proof import Proof, Step, check
from rnnbounds.theory.proof.methods import Smt

W, V = operator("W"), operator("V")
ABOUT_ENTRIES = [
    axiom
    for axiom in AXIOMS
    if any(c.conclusion.lhs.has(part) and c.conclusion.rhs.has(norm) for c in axiom.clauses)
]
ABOUT_ROWS = [a for a in AXIOMS if any(c.conclusion.rhs.has(row_norm) for c in a.clauses)]


def entries(bound: Expr, axiom: Axiom) -> Step:
    """|W_i| ≤ ‖W‖₂, by an axiom on entries, at W wherever it has a vector."""
    terms = (i if variable.is_integer else W for variable in axiom.variables)
    return Step("each", le(Abs(part(W, i)), bound), Smt(axiom.at(*terms)), (i,))


@pytest.mark.parametrize("axiom", ABOUT_ENTRIES, ids=lambda axiom: axiom.text)
def test_the_spectral_norm_bounds_no_row_sum(axiom: Axiom) -> None:
    """A rotation by 45° has the norm 1 and takes (1, 1) to (0, √2)."""
    goal = le(max_norm(W * v), max_norm(v))
    unit = Assumption("unit", "", law=law("unit", (), le(norm(W), ONE)))
    steps = (
        entries(norm(W), axiom),
        Step("rows", le(max_norm(W), norm(W)), Smt("each", LEAST_BOUND.at(norm(W), W))),
        Step("claim", goal, Smt("rows", "unit", SUBMULTIPLICATIVE_MAX.at(W, v))),
    )
    assert not check(Proof(steps), goal, (unit,)).proved
    assert ENTRY_EUCLIDEAN in ABOUT_ENTRIES


@pytest.mark.parametrize("axiom", ABOUT_ROWS, ids=lambda axiom: axiom.text)
def test_the_largest_row_bounds_no_row_sum(axiom: Axiom) -> None:
    """W = [1 1]/√2 has rows of norm 1, and W I has the row sum √2."""
    assert np.abs(np.array([[1, 1]]) / np.sqrt(2) @ np.eye(2)).sum(axis=1).max() > 1
    unit = Assumption("unit", "", law=law("unit", (), le(row_norm(W), ONE), le(norm(V), ONE)))
    step = Step("claim", le(max_norm(W * V), ONE), Smt("unit", axiom.at(W, V)))
    assert not check(Proof((step,)), step.conclusion, (unit,)).proved
