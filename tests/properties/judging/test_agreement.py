"""A violation rests on readings that agree, or it is refused with the quantity's name."""

from contextlib import nullcontext
from dataclasses import replace

import pytest

from rnnbounds.properties.attacks import campaign
from rnnbounds.properties.attacks.budget import Budget
from rnnbounds.properties.attacks.campaign import attack_claim
from rnnbounds.properties.attacks.shrink import cached_system, find_violation, shrink
from rnnbounds.properties.errors import DisagreementError
from rnnbounds.properties.judging.agreement import require_agreement
from rnnbounds.properties.judging.judge import judge
from rnnbounds.properties.measures.measure import FastPath, Measure
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.table import make_spec
from rnnbounds.theory import claim
from rnnbounds.theory.language.parse import parse_statement

SPEC = make_spec(n=2, T=4, K=3, lam=0.5, sequences=2, batch=2)
FALSE = parse_statement("h_norm <= 0")


@pytest.fixture
def doubled(monkeypatch):
    """‖h_T‖ as float64 reads it is twice what balls read, of no batch that was measured before."""
    honest = MEASURES["h_norm"]

    def enclosure(batch):
        found = honest.enclose(batch)
        return replace(found, lo=2 * found.lo, hi=2 * found.hi)

    path = FastPath("h_norm", enclosure=enclosure)
    monkeypatch.setitem(MEASURES.cache, "h_norm", Measure("h_norm", (path,)))
    for kept in (campaign._cached_batch, cached_system):
        kept.cache_clear()
    yield
    for kept in (campaign._cached_batch, cached_system):
        kept.cache_clear()


def test_honest_readings_agree():
    """On every pair of what is violated; what holds asks nothing."""
    batch = build_batch(SPEC)
    require_agreement(FALSE, batch, judge(FALSE, (), batch))
    assert shrink("typed", "typed", FALSE, (), SPEC) is not None


def test_what_is_shrunk_agrees_where_it_is_recorded(monkeypatch):
    """Of a batch that no move makes smaller, the pair that is written down, not the first."""
    cached_system.cache_clear()
    found = find_violation(FALSE, (), SPEC)
    assert found is not None
    batch, k = found.batch, found.position[2]
    seen = batch.cache["enclosure of h_norm"]
    doubled = replace(seen, lo=seen.lo.copy(), hi=seen.hi.copy())
    doubled.lo[1] *= 2
    doubled.hi[1] *= 2
    monkeypatch.setitem(batch.cache, "enclosure of h_norm", doubled)
    require_agreement(FALSE, batch, found.judgement)
    last = found._replace(spec=SPEC.select_pair(1, 1), position=(1, 1, k))
    monkeypatch.setattr(
        "rnnbounds.properties.attacks.shrink.find_violation",
        lambda statement, assumptions, spec, window=None: last if spec == SPEC else None,
    )
    with pytest.raises(DisagreementError):
        shrink("typed", "typed", FALSE, (), SPEC)


@pytest.mark.parametrize("factor", [0.5, 2.0])
@pytest.mark.parametrize("k", range(3))
def test_each_window_agrees_with_its_own(k, factor, monkeypatch):
    """The reading of another window is another number; what is wrong at one is told there."""
    statement, batch = parse_statement("h_gap <= 0"), build_batch(SPEC)
    seen = judge(statement, (), batch)
    require_agreement(statement, batch, seen, (1, 1, k))
    honest = batch.cache["enclosure of h_gap"]
    wrong = replace(honest, lo=honest.lo.copy(), hi=honest.hi.copy())
    wrong.lo[..., k] *= factor
    wrong.hi[..., k] *= factor
    monkeypatch.setitem(batch.cache, "enclosure of h_gap", wrong)
    for window in range(3):
        with pytest.raises(DisagreementError) if window == k else nullcontext():
            require_agreement(statement, batch, seen, (1, 1, window))


@pytest.mark.slow
def test_readings_that_disagree_are_no_violation(doubled):
    """Of a statement that is typed, as of a claim that is attacked: the measure is named."""
    told = "the readings of h_norm disagree: float64 has .*, balls .*; correct its measure"
    with pytest.raises(DisagreementError, match=told):
        shrink("typed", "typed", FALSE, (), SPEC)
    budget = Budget(random=2, targeted=1, gradient=1, ascent=1, batch=2, sequences=2)
    with pytest.raises(DisagreementError, match=told):
        attack_claim(claim("state-bound"), "extremal", budget=budget, seed=0)
