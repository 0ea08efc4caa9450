"""What a hostile reader tried on the claims on cells of any kind: proofs of what is false."""

from collections.abc import Iterator

import numpy as np
import pytest
from sympy import Abs, Expr, Integer, Rational, oo

from theory import CLAIMS, claim
from theory.axioms.base import AXIOMS, HOMOGENEITY, SUBMULTIPLICATIVE_MAX, TRIANGLE
from theory.axioms.gates import ENTRY_EUCLIDEAN, LEAST_BOUND
from theory.axioms.unitary import MONOTONE_NORM
from theory.language.claim import Form
from theory.language.law import Assumption, Axiom, Instance, at, law
from theory.language.statement import Statement, eq, le
from theory.language.terms.jets import bend_most, own_slope
from theory.language.terms.unitary import part
from theory.language.terms.vectors import Scalar, function, i, max_norm, norm, v, vector, y
from theory.proof.methods import Induction, Smt
from theory.proof.methods.induction import HYPOTHESIS
from theory.proof.proof import Lemma, Proof, Step, check

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


SEMINORM = (TRIANGLE, HOMOGENEITY)  # what holds of the length of a part of the state too
CELL_FORMS = [
    pytest.param(form, id=f"{entry.id}-{form.name}")
    for entry in CLAIMS
    for form in entry.forms
    if form.about == "cell"
]


def operator_norms(proof: Proof) -> Iterator[Instance]:
    """Axioms on ‖·‖₂ that no seminorm of states obeys, wherever the proof or a lemma uses one.

    Derivatives in the weights that a sum multiplies are covectors of weights, and no states.
    """
    for use in (use for step in proof.steps for use in step.needs if isinstance(use, Instance)):
        if isinstance(use.law, Lemma):
            yield from operator_norms(use.law.proof)
        elif isinstance(use.law, Axiom) and use.law not in SEMINORM and speaks_of_norm(use.law):
            of_weights = use.law is MONOTONE_NORM and use.terms[0].has(own_slope)
            yield from () if of_weights else (use,)


def speaks_of_norm(axiom: Axiom) -> bool:
    """Whether ‖·‖₂ occurs in it."""
    statements = (s for clause in axiom.clauses for s in (clause.conclusion, *clause.given))
    required = (c.conclusion for part in axiom.requires for c in part.clauses)
    return any(side.has(norm) for s in (*statements, *required) for side in (s.lhs, s.rhs))


@pytest.mark.parametrize("form", CELL_FORMS)
def test_cells_have_operator_norms_in_the_box_alone(form: Form) -> None:
    """‖s‖₂ is there the length of the output, of which ‖A s‖₂ ≤ ‖A‖₂‖s‖₂ is false."""
    assert not list(operator_norms(form.proof))


def test_the_check_of_operator_norms_sees_them() -> None:
    """A form on the Euclidean norm of all states, and one through a lemma."""
    seen = {entry.id for entry in CLAIMS for f in entry.forms for _ in operator_norms(f.proof)}
    assert {"vanishing-gradient", "gradient-gap", "tbptt-gap"} <= seen
    assert len(CELL_FORMS) > 10


def test_the_output_has_a_seminorm() -> None:
    """(c, h) with h⁺ = c: the output of A s is 1, where s shows nothing and ‖A‖ is 1."""
    s, A = np.array([1.0, 0.0]), np.array([[0.0, 0.0], [1.0, 0.0]])
    shown = np.array([0.0, 1.0])
    assert abs(shown @ A @ s) > np.linalg.norm(A, 2) * abs(shown @ s)


@pytest.mark.parametrize("name", ["box-contraction", "box-weights"])
def test_first_constants_hold_of_relu(name: str) -> None:
    """ReLU's derivative jumps: where nothing bends, nothing is said of second derivatives."""
    form = claim("cell-constants").form(name)
    laws = [part.law for part in form.assumptions if part.law is not None]
    (activations,) = (part for part in laws if part.id == "activations")
    relu = {bend_most(v): oo}
    assert all(clause.replace(relu) == clause for clause in activations.clauses)
    assert all(part.id != "curvatures" for part in laws)
    for other in ("box-mixed", "box-state"):
        (curved,) = (
            part
            for part in claim("cell-constants").form(other).assumptions
            if part.id == "curvatures"
        )
        assert curved.condition is not None
