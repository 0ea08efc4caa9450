"""What a hostile reader tried on the claims on cells of any kind: proofs of what is false."""

from collections.abc import Iterator

import pytest
from sympy import Abs, Expr, Integer, Rational

from theory import CLAIMS
from theory.axioms import AXIOMS, SUBMULTIPLICATIVE, SUBMULTIPLICATIVE_MAX
from theory.claim import Form
from theory.gate_axioms import ENTRY_EUCLIDEAN, LEAST_BOUND
from theory.gradient_axioms import TRIANGLE_WEIGHTED
from theory.jet_axioms import HOMOGENEITY_WEIGHTED
from theory.jet_terms import own_slope
from theory.law import Assumption, Axiom, Instance, Law, at, law
from theory.methods import Induction, Smt
from theory.methods.induction import HYPOTHESIS
from theory.proof import Lemma, Proof, Step, check
from theory.statement import Statement, eq, le
from theory.terms import Scalar, function, i, max_norm, norm, v, vector, y
from theory.unitary_axioms import MONOTONE_NORM
from theory.unitary_terms import part

W = vector("W")
values = function("values", Scalar, __name__)


def proved(goal: Statement, assumption: Assumption, *steps: Step) -> bool:
    """Whether the steps prove the goal, which the last of them concludes."""
    return check(Proof(steps), goal, (assumption,), minimal=False).proved


def test_no_induction_over_the_reals() -> None:
    """What is 0 at 0 and has the period 1 may be sin 2πy."""
    periodic = Assumption(
        "periodic", "", law=law("periodic", (y,), eq(values(0), 0), eq(values(y + 1), values(y)))
    )
    method = Induction(y, Smt(at("periodic", 0)), Smt(HYPOTHESIS, at("periodic", y)))
    goal = eq(values(Rational(1, 2)), 0)
    assert not proved(
        goal,
        periodic,
        Step("always", eq(values(y), 0), method, (y,)),
        Step("claim", goal, Smt(at("always", Rational(1, 2)))),
    )


def entries(bound: Expr, axiom: Axiom) -> Step:
    """|W_i| ≤ ‖W‖₂, by an axiom on entries, at W wherever it has a vector."""
    terms = (i if variable.is_integer else W for variable in axiom.variables)
    return Step("each", le(Abs(part(W, i)), bound), Smt(axiom.at(*terms)), (i,))


def test_the_spectral_norm_bounds_no_row_sum() -> None:
    """A rotation by 45° has the norm 1 and takes (1, 1) to (0, √2)."""
    goal = le(max_norm(W * v), max_norm(v))
    unit = Assumption("unit", "", law=law("unit", (), le(norm(W), Integer(1))))
    about_entries = [
        axiom
        for axiom in AXIOMS
        if any(c.conclusion.lhs.has(part) and c.conclusion.rhs.has(norm) for c in axiom.clauses)
    ]
    assert ENTRY_EUCLIDEAN in about_entries
    for axiom in about_entries:
        assert not proved(
            goal,
            unit,
            entries(norm(W), axiom),
            Step("rows", le(max_norm(W), norm(W)), Smt("each", LEAST_BOUND.at(norm(W), W))),
            Step("claim", goal, Smt("rows", "unit", SUBMULTIPLICATIVE_MAX.at(W, v))),
        )
