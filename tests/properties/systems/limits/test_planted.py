"""Planted truth: verdicts that are known from closed forms, and how the judge does on them."""

import json
from pathlib import Path

import msgspec
import pytest

from rnnbounds.properties.attacks.typed import typed_assumptions
from rnnbounds.properties.judging.judge import Verdict, judge
from rnnbounds.properties.systems.batch import build
from rnnbounds.properties.systems.spec import check_spec
from rnnbounds.properties.systems.table import UNION
from rnnbounds.theory.language.parse import parse_statement

CASES = json.loads(Path(__file__).with_name("planted.json").read_text())
# Listed with the reason: none. An UNDECIDED case would have to be named here.
UNDECIDABLE: frozenset[str] = frozenset()


def test_there_are_enough_cases() -> None:
    """At least 300 cases, with all verdicts but UNDECIDED among them, and no two alike."""
    assert len(CASES) >= 300
    assert len({case["name"] for case in CASES}) == len(CASES)
    assert {case["verdict"] for case in CASES} == {"HOLDS", "VIOLATED", "VACUOUS"}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_verdict(case: dict) -> None:
    """The judge reaches the planted verdict."""
    spec = msgspec.convert(case["spec"], UNION)
    check_spec(spec)
    statement = parse_statement(case["statement"])
    seen = judge(statement, typed_assumptions(statement), build(spec))
    k = case["k"] if seen.verdicts.shape[2] > 1 else 0
    found = Verdict(int(seen.verdicts[0, 0, k])).name
    expected = "UNDECIDED" if case["name"] in UNDECIDABLE else case["verdict"]
    assert found == expected, case["why"]


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")], ids=str)
@pytest.mark.parametrize("where", ["W", "U", "b", "C", "x", "h", "h_other"])
@pytest.mark.parametrize(
    "bound", ["h_norm <= 10", "h_gap <= 10", "y_gap <= 10", "step_gap <= 10", "dh_dx <= 10"]
)
def test_not_a_number_is_never_a_pass(bound: str, where: str, bad: float) -> None:
    """NaN or infinity in any array of a system is neither HOLDS nor VIOLATED."""
    case = next(c for c in CASES if c["name"] == "lam 0.5 scale 1 h_norm: equal")
    spec = msgspec.convert(case["spec"], UNION)
    old = getattr(spec.values, where)
    new = [[bad] * len(old[0])] * len(old) if isinstance(old[0], list) else [bad] * len(old)
    spoiled = msgspec.structs.replace(
        spec, values=msgspec.structs.replace(spec.values, **{where: new})
    )
    statement = parse_statement(bound)
    seen = judge(statement, typed_assumptions(statement), build(spoiled))
    assert not {Verdict.HOLDS, Verdict.VIOLATED} & set(seen.verdicts.ravel().tolist())
