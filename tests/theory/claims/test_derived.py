"""What was assumed of sets is derived from single operations, and from no more than it needs."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from sympy import Expr

from rnnbounds.theory import claim
from rnnbounds.theory.language import ZERO, Clause
from rnnbounds.theory.language.terms.tubes import error, line
from rnnbounds.theory.models.tube import lines, pairs
from rnnbounds.theory.proof import Form, check
from rnnbounds.theory.proof.foundations.basis import Basis, basis

TUBE = (
    *("program", "values", "running errors", "leaves", "affine forms", "divided differences"),
    *("next state", "first set", "points", "coordinates", "next set"),
)
TUBE_OF_TWO = (
    *("leaves of two runs", "affine forms of two runs", "divided differences of two runs"),
    *("next difference", "first pair", "points of two runs", "coordinates of two runs"),
    *("next pair", "recorded runs"),
)
MOVES = ("inputs", "agreement", "orthogonal")
DERIVED = {
    "urnn-tight/kernel": (*MOVES, "candidate on the cell", "network on the cell", "inputs before"),
    "urnn-tight/constant-pattern": (*MOVES, "constant pattern", "scalar", "factor"),
    "certificate/radius": ("box", "radius"),
    "near-data/gap": (*TUBE, *TUBE_OF_TWO),
    "near-data/width": ("recorded run", "near", "printed width"),
    "near-data/wide gap": ("first set", "step of a set", "first pair", "step of a pair"),
    "near-data/exponent": ("first slope", "next slope", "last metric", "printed exponent"),
    "near-data/past gap": ("past", "first past", "step of a pair"),
    "near-data/past window": ("later gaps",),
    "near-data/ball": ("ball", "first of the ball", "step of a pair", "forgotten"),
    "state-bound/horizon": ("boxes", "printed horizon"),
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


@pytest.mark.parametrize(
    ("name", "left"),
    [
        ("near-data/gap", ("running errors",)),
        ("near-data/width", ("running errors",)),
        ("near-data/exponent", ("running errors",)),
        ("contraction-lstm/per-unit", ()),
    ],
)
def test_no_set_is_assumed(name: str, left: tuple[str, ...]) -> None:
    """What remains are hypotheses on single operations, and the errors of float64."""
    of, _, form = name.partition("/")
    assert basis(claim(of).form(form)) == Basis("inclusion assumed" if left else "derived", left)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "id"), [(name, id) for name, ids in DERIVED.items() for id in ids]
)
def test_every_clause_is_needed(name: str, id: str) -> None:
    """Each corner of a product, each end of a gate: without it the ledger fails."""
    of, _, form = name.partition("/")
    for clause, without in weaker(claim(of).form(form), id):
        ledger = check(without.proof, without.statement, without.assumptions, minimal=False)
        assert not ledger.proved, clause


@pytest.mark.parametrize("id", ["contraction-lstm", "contraction-gru"])
def test_gates_lie_between_their_ends(id: str) -> None:
    """Of a gated cell no interval of an activation is assumed: σ and tanh increase."""
    form = claim(id).form("per-unit")
    assert "images" not in {assumption.id for assumption in form.assumptions}
    assert "images" in {step.id for step in form.proof.steps}


def test_no_set_of_a_tube_is_assumed_to_hold_the_next() -> None:
    """That a step leads from set to set is a step of the ledger, of one run and of two."""
    steps = {step.id for step in claim("near-data").form("gap").proof.steps}
    assert {"one step", "runs stay", "one step of both", "both runs stay"} <= steps
    texts = (assumption.text for assumption in claim("near-data").form("gap").assumptions)
    assert not any("image" in text for text in texts)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("id", "radius", "less"),
    [
        ("affine forms", lines.mean_factor(lines.q).radius, error(line, lines.q)),
        ("affine forms", lines.mean_factor(lines.p).radius, error(line, lines.p)),
        ("affine forms", lines.slope_factor.radius, ZERO),
        ("affine forms of two runs", pairs.half_off(lines.p).radius, ZERO),
        ("affine forms of two runs", pairs.half_gap(lines.q).radius, ZERO),
        ("affine forms of two runs", pairs.middle(lines.p).radius, ZERO),
        ("affine forms of two runs", pairs.SLOPE_TERMS[2][1].radius, ZERO),
    ],
)
def test_first_order_alone_is_not_enough(id: str, radius: Expr, less: Expr) -> None:
    """Where a rest is stated with a smaller radius of one factor, the ledger fails."""
    form = claim("near-data").form("gap")
    (assumed,) = (assumption for assumption in form.assumptions if assumption.id == id)
    assert assumed.law is not None
    clauses = tuple(clause.replace({radius: less}) for clause in assumed.law.clauses)
    assert clauses != assumed.law.clauses
    smaller = replace(assumed, law=replace(assumed.law, clauses=clauses))
    rest = tuple(smaller if other is assumed else other for other in form.assumptions)
    ledger = check(form.proof, form.statement, rest, minimal=False)
    assert not ledger.proved
    assert "counter-model" in ledger.failures[0].detail
