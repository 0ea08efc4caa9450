"""Bounds that a user types: what stands, what falls, what cannot be asked."""

from functools import cache

import pytest

from rnnbounds.properties.attacks.budget import Budget
from rnnbounds.properties.attacks.typed_statement import attack_typed, typed_assumptions
from rnnbounds.properties.errors import InputError
from rnnbounds.properties.runs.replay import replay
from rnnbounds.properties.systems.table import parse_spec
from rnnbounds.properties.systems.vanilla import plain
from rnnbounds.theory.language.parse import parse_conditional, parse_statement

BUDGET = Budget(random=6, targeted=2, gradient=1, ascent=20, batch=8, sequences=2)


def attacked(text: str, **options: object):
    """What becomes of a typed bound under a small budget."""
    return attack_typed(parse_conditional(text), budget=BUDGET, seed=0, **options)


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """The slowest systems are no longer than most need."""
    monkeypatch.setattr(plain, "LONGEST", 3 * 2**8)


@cache
def extremal(text: str):
    """Attack a bound on extremal systems, cached for several tests."""
    return attacked(text, attacks=("extremal",))


@pytest.mark.slow
def test_slow_scalar_systems_refute_what_holds_at_small_lengths() -> None:
    """h⁺ = λh + u with λ near 1 sums T inputs up: no multiple of S_0 λ^k bounds that."""
    result = attacked("h_gap <= 20000*S_0*lam**k", attacks=("extremal",))
    assert (result.stands, result.attack) == (False, "extremal")
    assert result.counterexample is not None
    assert result.counterexample.spec["T"] > 20_000


@pytest.mark.slow
def test_the_scope_of_an_attack(brief: None) -> None:
    """How far the systems went, and where lhs/rhs was largest: the replay of that check agrees."""
    text = "h_gap <= 2*S_0*lam**k/(1-lam)"
    scope = attacked(text, attacks=("extremal",)).scope
    assert (scope.n, scope.T) == (48, 3 * 2**8)
    assert scope.lam is not None
    assert 0.999 < scope.lam < 1
    assert set(scope.cells) > {"linear", "rnn-tanh"}
    assert scope.tightest is not None
    assert scope.ratio is not None
    assert 0.49 < scope.ratio <= 0.5
    statement = parse_statement(text)
    spec = parse_spec(scope.tightest.replay.split("'")[1])
    again = replay(spec, statement, typed_assumptions(statement)).checks[scope.tightest.k or 0]
    assert (again.lhs, again.rhs) == (scope.tightest.lhs, scope.tightest.rhs)
    assert scope.ratio == pytest.approx(float(again.lhs) / float(again.rhs))


def test_the_scope_counts_only_what_was_judged() -> None:
    """Systems on which every check is vacuous widen nothing."""
    scope = attacked("h_gap <= log(lam - 2)", attacks=("random",)).scope
    assert (scope.n, scope.T, scope.k, scope.lam, scope.cells) == (0, 0, 0, None, [])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "condition", "stands"),
    [
        ("h_gap <= 5*S_0*lam**k", "T < 6, k >= 1", True),
        ("h_gap <= 1.5*S_0*lam**k", "T < 6, k >= 1", False),
    ],
)
def test_side_conditions(text: str, condition: str, stands: bool, brief: None) -> None:
    """Each turns a false statement into a true one, and a weaker one lets it fall still."""
    assert not extremal(text).stands
    result = extremal(f"{text}, {condition}")
    assert result.stands is stands
    if stands:
        free = extremal("h_gap <= 2*B_h*lam**k")
        assert result.holds < free.holds
        assert (result.systems < free.systems) == ("lam" in condition or "T <" in condition)
    else:
        assert result.counterexample is not None


def test_a_statement_that_measures_nothing() -> None:
    """Constants alone are no bound on anything."""
    for text in ("lam <= 1", "1 <= 2", "S_0*lam**k <= B_h"):
        with pytest.raises(InputError, match="measures nothing"):
            attacked(text)


def test_progress_is_reported() -> None:
    """An attack on systems of a kind after the other is counted, of those that there are."""
    reports: list[tuple[int, int]] = []
    attacks = ("random", "extremal")
    attacked("h_norm <= 0", attacks=attacks, progress=lambda *report: reports.append(report))
    assert reports == [(done, 4) for done in range(4)]
