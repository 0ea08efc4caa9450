"""Training: what is presupposed of the gradients."""

import pytest

from rnnbounds import theory
from rnnbounds.theory.language import Law
from rnnbounds.theory.language.terms.networks import loss_gradient, truncated_gradient
from rnnbounds.theory.proof import Form

CLAIMS = {id: theory.claim(id) for id in ("weight-gap", "end-to-end")}
CHAINED = [CLAIMS["weight-gap"].form(name) for name in ("product", "paper", "box")]


@pytest.mark.parametrize("form", [*CHAINED, *CLAIMS["end-to-end"].forms], ids=lambda f: f.name)
def test_nothing_is_presupposed_of_the_gradients_but_what_they_are(form: Form) -> None:
    """That ∇p is β-Lipschitz and ∇p^k within ε_k is shown, by Lemmas 3 and 2."""
    speak = {a.id for a in form.assumptions if a.law and gradient_terms(a.law)}
    assert speak == {"descent", "gradients"}
    (tie,) = (a.law for a in form.assumptions if a.id == "gradients")
    assert tie is not None
    assert {clause.conclusion.relation for clause in tie.clauses} == {"=="}


def gradient_terms(law: Law) -> bool:
    """Whether it speaks of the descents' gradients."""
    sides = [s for c in law.clauses for s in (c.conclusion.lhs, c.conclusion.rhs)]
    return any(side.has(loss_gradient, truncated_gradient) for side in sides)
