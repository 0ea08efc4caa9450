"""Laws that hold for vectors alone are used at vectors alone.

The engine's variables range over vectors and operators.  The inner product's laws are false of
operators, whose norm is spectral, so where they are used is checked here, steps that rest on them
included.
"""

from collections.abc import Iterator

import numpy as np
import pytest
from sympy import Basic, Expr, Symbol

from theory import CLAIMS
from theory.axioms.base import HOMOGENEITY, TRIANGLE
from theory.axioms.gates import ENTRY_EUCLIDEAN
from theory.axioms.gradients import CAUCHY_SCHWARZ
from theory.axioms.unitary import EXTENSIONAL, MONOTONE_NORM, left, right, singular
from theory.language import Axiom, Instance
from theory.language.terms import gradients, variables
from theory.language.terms import vectors as terms
from theory.language.terms.gates import unit_weights
from theory.language.terms.jets import own_slope
from theory.language.terms.layers import layer_matrix
from theory.language.terms.memory import shifted
from theory.language.terms.unitary import beside, d_run, identity
from theory.language.terms.vectors import norm
from theory.models.weights.projection import INNER_PRODUCT
from theory.proof import Form, Proof
from theory.proof.lemma import Lemma

OF_GRADIENTS = (
    "d_state d_input d_weights slopes bends jacobian d_matrix d_inputs d_offset lift sensitivity "
    "d_loss hessian recent"
)
OPERATORS = {
    *(getattr(gradients, name) for name in OF_GRADIENTS.split()),
    *(terms.diagonal, terms.absolute, terms.transpose, d_run, layer_matrix, shifted),
    *(left, right, singular, beside, identity),
}
VECTORS_ALONE = (INNER_PRODUCT, CAUCHY_SCHWARZ, EXTENSIONAL, MONOTONE_NORM, ENTRY_EUCLIDEAN)
FORMS = [
    pytest.param(form, id=f"{entry.id}-{form.name}") for entry in CLAIMS for form in entry.forms
]


def operators(term: Expr) -> set[Basic]:
    """What in the term may be an operator; a product with a vector is a vector."""
    found: set[Basic] = set()
    for summand in term.as_ordered_terms():
        last = summand.args_cnc()[1][-1:]
        for factor in last:
            named = isinstance(factor, Symbol) and str(factor)[0].isupper()
            if named or factor.func in OPERATORS:
                found.add(factor)
    return found


def uses(form: Form) -> Iterator[tuple[str, Instance]]:
    """The instances, in the proof, of laws for vectors and of steps that rest on them."""
    resting: set[str] = set()
    for step in form.proof.steps:
        for use in step.needs:
            if not isinstance(use, Instance):
                continue
            if use.law in VECTORS_ALONE or use.law in resting:
                resting.add(step.id)
                yield step.id, use


@pytest.mark.parametrize("form", FORMS)
def test_no_operator_where_only_vectors_may_stand(form: Form) -> None:
    """No term of such an instance is an operator."""
    for step, use in uses(form):
        for term in use.terms:
            assert not operators(term), (step, use.name)


def test_the_check_sees_them() -> None:
    """It finds uses in the claims that need them, and operators where they are planted."""
    seen = {entry.id for entry in CLAIMS for form in entry.forms for _ in uses(form)}
    assert {"projection", "weight-gap", "loss-constants", "urnn-equivalence"} <= seen
    assert {"cell-constants", "contraction-lstm"} <= seen
    slope = gradients.d_state(variables.a, variables.b)
    assert operators(variables.a + slope) == {slope}
    assert operators(slope * variables.a) == set()
    assert operators(variables.A - variables.a) == {variables.A}
    assert operators(layer_matrix(variables.j) + unit_weights) == {
        layer_matrix(variables.j),
        unit_weights,
    }


SEMINORM = (TRIANGLE, HOMOGENEITY)  # what holds of the length of a part of the state too
CELL_FORMS = [param for param in FORMS if param.values[0].about == "cell"]


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
