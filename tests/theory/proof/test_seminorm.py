"""‖·‖₂ of a cell's states is the length of its output, and no norm of them."""

from collections.abc import Iterator

import numpy as np
import pytest

from theory import CLAIMS
from theory.axioms.base import HOMOGENEITY, TRIANGLE
from theory.axioms.entries import INNER_PRODUCT
from theory.language import Axiom, Instance
from theory.language.terms.gradients import loss_gradient
from theory.language.terms.jets import own_slope
from theory.language.terms.vectors import norm
from theory.proof import Form, Proof
from theory.proof.laws import instances

SEMINORM = (TRIANGLE, HOMOGENEITY)  # what holds of the length of a part of the state too
CELL_FORMS = [
    pytest.param(form, id=f"{entry.id}-{form.name}")
    for entry in CLAIMS
    for form in entry.forms
    if form.about == "cell"
]


def operator_norms(proof: Proof) -> Iterator[Instance]:
    """Axioms on ‖·‖₂ that no seminorm of states obeys, wherever the proof or a lemma uses one.

    Derivatives in the weights that a sum multiplies, and gradients of losses, are covectors of
    weights, and no states; of states no inner product is taken.
    """
    for use in instances(proof):
        if isinstance(use.law, Axiom) and use.law not in SEMINORM and speaks_of_norm(use.law):
            of_weights = use.law is INNER_PRODUCT or any(
                t.has(own_slope, loss_gradient) for t in use.terms
            )
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
