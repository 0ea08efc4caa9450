"""The judge: its truth table, its escalation, and that it is not fooled."""

import numpy as np
import pytest
import torch
from msgspec.structs import replace

from rnnbounds.impl.gradients.constants import Constants
from rnnbounds.properties.attacks.typed_statement import typed_assumptions
from rnnbounds.properties.judging.exact_decision import Outcome
from rnnbounds.properties.judging.judge import (
    Judgement,
    Verdict,
    broadcast_side,
    compare_sides,
    judge,
    unmet_assumptions,
)
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.table import make_spec
from rnnbounds.theory import claim
from rnnbounds.theory.language.parse import parse_statement
from rnnbounds.theory.numbers.interval import Interval
from rnnbounds.theory.proof.claim import Assumption

INF, NAN = float("inf"), float("nan")
H, V, U = Verdict.HOLDS, Verdict.VIOLATED, Verdict.UNDECIDED
POINT, BELOW, ABOVE, AROUND = (1.0, 1.0), (0.25, 0.5), (2.0, 3.0), (0.5, 2.0)
TABLE = [
    # relation, lhs, rhs, verdict
    ("<=", BELOW, POINT, H), ("<=", POINT, POINT, H), ("<=", ABOVE, POINT, V),
    ("<=", AROUND, POINT, U),
    ("<", BELOW, POINT, H), ("<", POINT, POINT, V), ("<", ABOVE, POINT, V), ("<", AROUND, POINT, U),
    ("exists", BELOW, POINT, H), ("exists", POINT, POINT, H), ("exists", ABOVE, POINT, V),
    ("exists", AROUND, POINT, U),
    ("==", POINT, POINT, H), ("==", BELOW, POINT, V), ("==", ABOVE, POINT, V),
    ("==", AROUND, POINT, H),
    ("!=", POINT, POINT, V), ("!=", BELOW, POINT, H), ("!=", ABOVE, POINT, H),
    ("!=", AROUND, POINT, U),
    ("<=", (0.5, 1.0), POINT, H), ("<", (0.5, 1.0), POINT, U), ("<", (1.0, 2.0), POINT, V),
    ("<=", (1.0, 2.0), POINT, U), ("<=", AROUND, AROUND, U),
    ("!=", AROUND, AROUND, U), ("!=", POINT, AROUND, U), ("!=", (1.0, 2.0), (2.0, 3.0), U),
    ("!=", (2.0, 3.0), (1.0, 2.0), U), ("!=", (0.5, 1.5), (1.0, 3.0), U),
    ("!=", (1.0, 3.0), (0.5, 1.5), U), ("==", (1.0, 2.0), (2.0, 3.0), H),
    ("==", (2.0, 3.0), (1.0, 2.0), H), ("==", (0.5, 1.5), (1.0, 3.0), H),
]  # fmt: skip
ENDS = [(NAN, NAN), (0.0, INF), (-INF, 0.0), (INF, INF), (-INF, -INF), (-INF, INF)]


@pytest.mark.parametrize(("relation", "lhs", "rhs", "verdict"), TABLE)
def test_truth_table(
    relation: str, lhs: tuple[float, float], rhs: tuple[float, float], verdict: Verdict
) -> None:
    """Each relation holds, fails or stays open as its enclosures say."""
    sides = (Interval(*(np.array([end]) for end in side)) for side in (lhs, rhs))
    assert compare_sides(relation, *sides).tolist() == [verdict]


@pytest.mark.parametrize("relation", ["<=", "<", "==", "!=", "exists"])
@pytest.mark.parametrize("bad", ENDS, ids=str)
def test_what_is_not_finite_decides_nothing(relation: str, bad: tuple[float, float]) -> None:
    """NaN or infinity on either side is UNDECIDED in every relation."""
    spoiled, plain = Interval(*bad), Interval(1.0, 1.0)
    for sides in ((spoiled, plain), (plain, spoiled), (spoiled, spoiled)):
        assert int(compare_sides(relation, *sides)) == U


@pytest.mark.parametrize("ends", [(NAN, 1.0), (1.0, NAN), (NAN, NAN), (1.0, 1.0)], ids=str)
def test_an_exact_outcome_is_written_into_any_sides(ends: tuple[float, float]) -> None:
    """What was enclosed stays as it was, whichever side had no value; the judgement has its own."""
    enclosed = [Interval(np.full((1, 1, 1), end), np.full((1, 1, 1), end)) for end in ends]
    shape = (1, 1, 2)
    found = Judgement(np.full(shape, U), *(broadcast_side(side, shape) for side in enclosed))
    found.write_outcome((0, 0, 1), Outcome("HOLDS", (2.0, 3.0), (4.0, 5.0)))
    assert found.entry((0, 0, 1)) == (H, (2.0, 3.0), (4.0, 5.0))
    for side, own, end in zip(enclosed, found.sides, ends, strict=True):
        assert np.array_equal([*side.ends, own.lo[:, :, :1]], np.full((3, 1, 1, 1), end), True)


def verdict_of(text: str, spec: SystemSpec, k: int = 0) -> Verdict:
    """The judge's verdict on the first pair of a spec."""
    statement = parse_statement(text)
    seen = judge(statement, typed_assumptions(statement), build_batch(spec))
    return Verdict(int(seen.verdicts[0, 0, k if seen.verdicts.shape[2] > 1 else 0]))


SCALAR = make_spec(kind="linear", regime="diagonal", T=3, K=3, lam=0.5)


def test_equality_is_decided_by_escalation() -> None:
    """The scalar system meets Lemma 1 with equality: HOLDS, by exact arithmetic, and is counted."""
    form = claim("truncation").form("finite")
    seen = judge(form.statement, form.assumptions, build_batch(SCALAR))
    assert (seen.verdicts == H).all()
    assert 0 < seen.escalated <= 4
    assert (seen.lhs.hi >= seen.lhs.lo).all()
    # 0/0 at k = T says nothing.
    assert np.isnan(seen.ratio[0, 0, 3])
    assert seen.ratio[0, 0, 0] == 1.0


@pytest.mark.parametrize("text", ["h_gap < S_0*(lam**k - lam**T)/(1 - lam)", "h_gap <= S_0*lam**T"])
def test_up_to_the_first_violation_the_verdicts_are_the_same(text: str) -> None:
    """A violation is found at the same pair if exact arithmetic is asked of none beyond it,
    whether float64 sees it or exact arithmetic."""
    statement = parse_statement(text)
    spec = replace(SCALAR, batch=4, sequences=3)
    every, first = (
        judge(statement, typed_assumptions(statement), build_batch(spec), until_violated=so)
        for so in (False, True)
    )
    assert every.escalated == first.escalated
    found = np.argwhere((every.verdicts == V).any(axis=2))[0]
    assert (np.argwhere((first.verdicts == V).any(axis=2))[0] == found).all()
    assert (first.verdicts == U).any() == (every.escalated > 4)
    decided = first.verdicts != U
    assert (first.verdicts[decided] == every.verdicts[decided]).all()


@pytest.mark.slow
@pytest.mark.parametrize("k", [20, 170])
@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("h_gap <= S_0*lam**k/(1 - lam)", H),
        ("h_gap <= 999/1000*S_0*lam**k/(1 - lam)", V),
        ("h_gap <= S_0*(lam**k - lam**T)/(1 - lam)", H),
        ("h_gap < S_0*(lam**k - lam**T)/(1 - lam)", V),
    ],
)
def test_a_tiny_gap_is_judged_by_escalation(text: str, verdict: int, k: int) -> None:
    """λᵏ down to 1e-51, far below the rounding of a state, is judged to its last bit."""
    assert verdict_of(text, replace(SCALAR, T=200, K=180), k) == verdict


class Liar(Constants):
    """Constants whose λ is off by a factor."""

    factor = 1.0

    def __getitem__(self, name: str) -> torch.Tensor:
        value = super().__getitem__(name)
        return value * self.factor if name == "lam" else value


def lying(monkeypatch: pytest.MonkeyPatch, factor: float) -> None:
    """Let every batch take its constants from a liar."""
    monkeypatch.setattr(Liar, "factor", factor)
    monkeypatch.setattr("rnnbounds.properties.systems.batch.Constants", Liar)


def test_a_liar_by_one_rounding_is_violated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even λ one unit in the last place too small is convicted, by exact arithmetic; an honest and
    a cautious model are not."""
    form = claim("state-bound").form("finite")
    for factor, verdict in ((1 - 2.0**-53, V), (1.0, H), (1 + 2.0**-52, H)):
        lying(monkeypatch, factor)
        seen = judge(form.statement, form.assumptions, build_batch(SCALAR))
        assert (seen.verdicts == verdict).all()
        assert seen.escalated == 1


def test_vacuous_by_assumption() -> None:
    """A system with λ ≥ 1 is VACUOUS, counted under the assumption that it misses."""
    form = claim("truncation").form("uniform")
    seen = judge(form.statement, form.assumptions, build_batch(replace(SCALAR, lam=1.0, batch=2)))
    assert (seen.verdicts == Verdict.VACUOUS).all()
    assert seen.vacuous == {"contractive": 8}
    assert np.isnan(seen.ratio).all()


def test_a_constant_that_is_not_finite_is_vacuous() -> None:
    """A bound that the model cannot supply is no evidence, and the reason is named."""
    statement = parse_statement("h_norm <= M_rho")
    seen = judge(statement, (), build_batch(SCALAR))
    assert (seen.verdicts == Verdict.VACUOUS).all()
    assert seen.vacuous == {"finite M_rho": 1}


def test_a_check_is_vacuous_once() -> None:
    """A check with two failed assumptions is counted under the first one alone."""
    statement = parse_statement("h_gap <= 9")
    assumptions = tuple(
        Assumption(name, name, parse_statement(text))
        for name, text in (("first", "k <= 1"), ("second", "k <= 0"))
    )
    seen = judge(statement, assumptions, build_batch(SCALAR))
    assert seen.vacuous == {"first": 2, "second": 1}
    assert seen.verdicts[0, 0].tolist() == [H, *[Verdict.VACUOUS] * 3]


def test_an_assumption_that_is_not_certain_is_not_met() -> None:
    """A condition on an enclosure that is too wide, or NaN, is not met."""
    condition = Assumption("small", "h is small", parse_statement("h_norm <= 1"))
    for ends, missed in (((0.5, 2.0), True), ((NAN, NAN), True), ((0.5, 1.0), False)):
        assert bool(unmet_assumptions((condition,), {"h_norm": Interval(*ends)})["small"]) is missed
    assert unmet_assumptions((Assumption("prose", "no condition", None),), {}) == {}


def test_a_spoiled_system_does_not_spoil_its_neighbours() -> None:
    """NaN in one member leaves the verdicts of the others."""
    spec = make_spec(activation="tanh", n=2, T=3, K=2, batch=3, sequences=2, inputs="gaussian")
    batch = build_batch(spec)
    batch.cell.W[1, 0, 0] = NAN
    seen = judge(parse_statement("h_norm <= 100"), (), batch)
    assert (seen.verdicts[1] == U).all()
    assert (seen.verdicts[[0, 2]] == H).all()
    assert seen.escalated == 0


def test_a_spoiled_system_is_undecided_though_nothing_read_of_it_is() -> None:
    """Even a statement true of all numbers is undecided there; vacuous checks stay so."""
    spec = make_spec(activation="tanh", n=2, T=3, K=2, batch=2, inputs="gaussian")
    batch = build_batch(spec)
    batch.cell.b[1, 0] = NAN
    seen = judge(parse_statement("T <= 100"), (), batch)
    assert seen.verdicts.ravel().tolist() == [H, U]
    never = Assumption("never", "T is small", parse_statement("T <= 1"))
    seen = judge(parse_statement("T <= 100"), (never,), batch)
    assert seen.verdicts.ravel().tolist() == [Verdict.VACUOUS] * 2


def test_windows_only_where_k_occurs() -> None:
    """A statement without k is judged once a pair, one with k at every window."""
    batch = build_batch(replace(SCALAR, batch=2, sequences=3))
    assert judge(parse_statement("h_norm <= 9"), (), batch).verdicts.shape == (2, 3, 1)
    assert judge(parse_statement("h_gap <= 9"), (), batch).verdicts.shape == (2, 3, 4)
    assert judge(parse_statement("h_norm <= 9 + k"), (), batch).verdicts.shape == (2, 3, 4)
