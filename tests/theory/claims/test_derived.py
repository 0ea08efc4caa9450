"""What was assumed of sets is derived from single operations, and from no more than it needs."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from rnnbounds.theory import claim
from rnnbounds.theory.language import Clause
from rnnbounds.theory.proof import Form, check

MOVES = ("inputs", "agreement", "orthogonal")
DERIVED = {
    "urnn-tight/needed": (*MOVES, "candidate on the cell", "network on the cell", "inputs before"),
    "cell-constants/box-contraction": ("program", "intervals", "images"),
    "contraction-lstm/per-unit": ("gates",),
}


def weaker(form: Form, id: str) -> Iterator[tuple[Clause, Form]]:
    """The form without each clause of the assumption."""
    (assumed,) = (assumption for assumption in form.assumptions if assumption.id == id)
    assert assumed.law is not None
    clauses = assumed.law.clauses
    for clause in clauses:
        left = tuple(other for other in clauses if other is not clause)
        fewer = replace(assumed, law=replace(assumed.law, clauses=left))
        rest = (fewer if other is assumed else other for other in form.assumptions)
        yield clause, replace(form, assumptions=tuple(rest))


def test_no_set_is_assumed() -> None:
    """What remains are hypotheses on single operations."""
    assert claim("contraction-lstm").form("per-unit").inclusions == ()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "id"), [(name, id) for name, ids in DERIVED.items() for id in ids]
)
def test_every_clause_is_needed(name: str, id: str) -> None:
    """Each corner of a product, each end of a gate: without it the ledger fails."""
    of, _, form = name.partition("/")
    for clause, without in weaker(claim(of).form(form), id):
        ledger = check(without.proof, without.statement, without.assumptions)
        assert not ledger.proved, clause


@pytest.mark.parametrize("id", ["contraction-lstm", "contraction-gru"])
def test_gates_lie_between_their_ends(id: str) -> None:
    """Of a gated cell no interval of an activation is assumed: σ and tanh increase."""
    form = claim(id).form("per-unit")
    assert "images" not in {assumption.id for assumption in form.assumptions}
    assert "images" in {step.id for step in form.proof.steps}
