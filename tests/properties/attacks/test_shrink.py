"""Shrinking: smaller, still wrong, the same every time, and said in one sentence."""

from dataclasses import replace as replace_budget

import pytest
from msgspec.structs import replace

from rnnbounds.properties.attacks.budget import PROFILES, TRIES
from rnnbounds.properties.attacks.shrink import (
    SIZES,
    explain_violation,
    field_choices,
    find_violation,
    shrink,
)
from rnnbounds.properties.attacks.typed_statement import attack_typed, typed_assumptions
from rnnbounds.properties.systems.batch import build_batch, explicit_spec
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.table import make_spec, parse_spec
from rnnbounds.properties.systems.vanilla.plain import NAMED_SPECS
from rnnbounds.theory.language.parse import parse_conditional, parse_statement
from rnnbounds.theory.proof.claim import Statement

BIG = make_spec(
    kind="rnn", activation="identity", regime="orthogonal", inputs="gaussian", n=6, d=3, T=21, K=8,
    lam=0.9, bias=0.5, scale=4.0, seed=123456, batch=8, sequences=4, member=5, sequence=2,
)  # fmt: skip
FALSE = "h_norm <= S_0/8"


def shrunk(text: str, spec: SystemSpec, tries: int = TRIES):
    """Shrink a typed statement's violation from a spec."""
    statement = parse_statement(text)
    return shrink("typed", "typed", statement, typed_assumptions(statement), spec, tries)


@pytest.mark.parametrize(
    ("text", "tries"),
    [(FALSE, TRIES), ("h_gap <= S_0*lam**k/8", 1), ("y_gap <= h_gap/8", TRIES),
     ("step_gap <= state_gap/8", 6), ("1 < h_norm/8", TRIES)],
)  # fmt: skip
def test_the_result_still_violates_and_is_not_larger(text: str, tries: int) -> None:
    """The shrunk spec is one pair that violates, in no field larger than the batch it is of."""
    batch = replace(BIG, member=None, sequence=None)
    check = shrunk(text, batch, tries)
    assert check is not None
    statement = parse_statement(text)
    spec = parse_spec(check.replay.split("'")[1])
    again = find_violation(statement, typed_assumptions(statement), spec)
    assert again is not None
    assert again[0] == spec
    assert all(getattr(spec, name) <= getattr(BIG, name) for name in SIZES)
    assert None not in (spec.member, spec.sequence)
    assert check.verdict == "VIOLATED"
    assert check == shrunk(text, batch, tries)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("text", [
    "h_gap <= S_0*lam**k", "h_gap <= S_0*lam**(k+1)/(1-lam)", "h_norm <= 0.9*S_0/(1-lam)",
    "h_norm <= S_0", "h_norm <= B_h/2", "h_gap <= lam**(k+1)*h_start",
    "h_gap <= S_0*lam**k*T/4", "step_gap <= lam*state_gap/2", "h_gap <= S_0*(lam**k - lam**T)",
    "1 < h_norm", "y_gap <= S_0*lam**k",
])  # fmt: skip
def test_a_scalar_system_is_found_where_there_is_one(text: str, seed: int) -> None:
    """From whatever random system a false bound falls by, few tries reach n = 1 and T ≤ 4."""
    budget = replace_budget(PROFILES["quick"], random=8, batch=8, sequences=4)
    check = attack_typed(parse_conditional(text), budget=budget, seed=seed).counterexample
    assert check is not None
    spec = parse_spec(check.replay.split("'")[1])
    assert spec.n == 1
    assert spec.T <= 4


def test_it_reaches_one_state() -> None:
    """A bound that falls everywhere shrinks to one state, one step, a constant input."""
    check = shrunk("h_norm <= S_0/100", BIG)
    assert check is not None
    spec = parse_spec(check.replay.split("'")[1])
    assert (spec.n, spec.d, spec.T, spec.K, spec.bias, spec.scale) == (1, 1, 1, 0, 0, 1)
    assert (spec.regime, spec.inputs) == ("orthogonal", "constant")
    assert spec.seed < 3
    assert "n = 1, T = 1" in check.explanation


def test_windows_below_the_violated_one_are_kept() -> None:
    """K is cut to the window at most."""
    assert min(field_choices(BIG, window=3)["K"]) == 3
    assert list(field_choices(replace(BIG, K=3), window=3)["K"]) == [3]


def test_nothing_to_shrink() -> None:
    """A spec that violates nothing, or that is none, gives nothing."""
    assert shrunk("h_norm <= 100*S_0/(1 - lam)", BIG) is None
    assert shrunk(FALSE, replace(BIG, n=0)) is None


def test_written_out_values_become_shorter_and_rounder() -> None:
    """An explicit spec loses the inputs, windows and digits that the violation does not need."""
    spec = make_spec(
        activation="identity",
        regime="gaussian",
        inputs="gaussian",
        n=1,
        T=6,
        K=4,
        lam=0.7,
        bias=0.4,
    )
    long = explicit_spec(build_batch(spec.select_pair(0, 0)))
    check = shrunk("h_norm <= 0", long)
    assert check is not None
    small = parse_spec(check.replay.split("'")[1])
    assert small.values is not None
    assert (small.T, small.K) == (1, 0)
    values = small.values
    assert values.W == [[0.0]]
    assert values.h == [0.0]
    for rows in (values.U, values.x, [values.b]):
        assert all(v == round(v, 3) for row in rows for v in row)
    assert any(v for row in values.C for v in row)


def test_every_rounding_is_tried() -> None:
    """Rounder numbers are still offered if zeros do not violate."""
    spec = NAMED_SPECS["gelu-slope"]
    assert field_choices(spec)["values.b"][:3] == [[0.0], [1.0], [1.375]]


@pytest.mark.parametrize(
    ("relation", "sign"), [("<=", ">"), ("<", ">="), ("exists", ">"), ("==", "!="), ("!=", "==")]
)
def test_explanations_name_both_sides(relation: str, sign: str) -> None:
    """The sentence holds the system, both sides by name, their numbers and the true relation."""
    parsed = parse_statement("h_gap <= S_0*lam**k")
    statement = Statement(parsed.lhs, relation, parsed.rhs)
    rhs = (2.0, 2.0) if relation == "!=" else (0.5, 1.0)
    text = explain_violation(statement, make_spec(n=2, T=3, K=2), 1, (2.0, 2.0), rhs)
    assert "tanh, n = 2, T = 3, W = [[" in text
    assert "k = 1" in text
    assert f"h_gap = 2 {sign} {rhs[1]:g} = S_0*lam**k" in text
    assert "W =" not in explain_violation(statement, make_spec(n=3), None, (2.0, 2.0), (0.5, 1.0))
    number = explain_violation(
        parse_statement("h_norm <= 1"), make_spec(), None, (2.0, 2.0), (1.0, 1.0)
    )
    assert number.endswith("h_norm = 2 > 1")
    assert "W = " in number
    flipped = explain_violation(
        parse_statement("h_norm >= 1"), make_spec(), None, (1.0, 1.0), (0.5, 0.5)
    )
    assert flipped.endswith("1 > 0.5 = h_norm")


def test_an_explanation_tells_the_sides_apart() -> None:
    """As many digits as that takes; where no float does it, what decided."""
    statement, spec = parse_statement("h_gap <= S_0*lam**k"), make_spec(n=3)
    near = explain_violation(statement, spec, 0, (0.5000000003, 0.5000000003), (0.5, 0.5))
    assert near.endswith("h_gap = 0.5000000003 > 0.5 = S_0*lam**k")
    last = explain_violation(statement, spec, 0, (1.0, 1.0), (1 - 2.0**-53, 1 - 2.0**-53))
    assert last.endswith("h_gap = 1 > 0.9999999999999999 = S_0*lam**k")
    exact = explain_violation(statement, spec, 0, (0.5, 0.5 + 2.0**-53), (0.5, 0.5 + 2.0**-53))
    assert "= S_0*lam**k; closer than float64 tells apart; decided in balls and rationals" in exact
