"""‖·‖₂ of a cell's states is the length of its output, and no norm of them."""

import numpy as np
import pytest

from rnnbounds.theory import CLAIMS
from rnnbounds.theory.proof import Form
from rnnbounds.theory.proof.norms import norm_misuses

CELL_FORMS = [
    pytest.param(form, id=f"{entry.id}-{form.name}")
    for entry in CLAIMS
    for form in entry.forms
    if form.about == "cell"
]


@pytest.mark.parametrize("form", CELL_FORMS)
def test_cells_have_operator_norms_in_the_box_alone(form: Form) -> None:
    """‖s‖₂ is there the length of the output, of which ‖A s‖₂ ≤ ‖A‖₂‖s‖₂ is false."""
    assert not list(norm_misuses(form.proof, form.about))


def test_the_check_of_operator_norms_sees_them() -> None:
    """A form on the Euclidean norm of all states, and one through a lemma."""
    seen = {
        entry.id for entry in CLAIMS for f in entry.forms for _ in norm_misuses(f.proof, "cell")
    }
    assert {"vanishing-gradient", "gradient-gap", "tbptt-gap"} <= seen
    assert len(CELL_FORMS) > 10


def test_the_output_has_a_seminorm() -> None:
    """(c, h) with h⁺ = c: the output of A s is 1, where s shows nothing and ‖A‖ is 1."""
    s, A = np.array([1.0, 0.0]), np.array([[0.0, 0.0], [1.0, 0.0]])
    shown = np.array([0.0, 1.0])
    assert abs(shown @ A @ s) > np.linalg.norm(A, 2) * abs(shown @ s)
