"""``--systems``: as many blocks as bring each claim to so many systems, in one record."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

import pytest

from rnnbounds.properties.attacks.budget import PROFILES, Budget, profile
from rnnbounds.properties.attacks.pool import claim_pools
from rnnbounds.properties.errors import InputError
from rnnbounds.properties.runs import until_judged as module
from rnnbounds.properties.runs.parts import Part, PartResult, chosen_claims, plan_parts, run_part
from rnnbounds.properties.runs.record import merge_record
from rnnbounds.properties.runs.until_judged import (
    endless_attacks,
    parse_system_count,
    run_until_judged,
    workers_that_fit,
)
from rnnbounds.reports.records.outcome import run_problems, without_environment
from rnnbounds.reports.records.record import Run

CLAIMS = chosen_claims(("contraction-linear", "projection"))
ATTACKS = ("random", "extremal")
TINY = Budget(random=2, targeted=1, gradient=1, ascent=4, batch=4, sequences=2)


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of two examples, in ranges of three blocks."""
    monkeypatch.setitem(PROFILES, "quick", TINY)
    monkeypatch.setattr(module, "RANGE_BLOCKS", 3)


def run(
    systems: int,
    claims: Sequence = CLAIMS,
    done: list[Part] | None = None,
    turn: int = 1,
    wide: int = 1,
) -> Run:
    """The record of a run until so many systems; each round's parts in this or the other order."""
    one = partial(run_part, profile_name="quick", seed=5)

    def share(parts: Sequence[Part]) -> Iterable[PartResult]:
        (done if done is not None else []).extend(parts)
        return map(one, parts[::turn])

    own = [part for part in plan_parts(claims, ATTACKS, profile("quick")) if part.claims]
    asked = {"claims": claims, "attacks": ATTACKS, "profile": "quick"}
    results = run_until_judged(list(map(one, own)), systems, share, **asked, wide=wide)
    return without_environment(merge_record(results, seed=5, systems=systems, **asked))


@pytest.mark.slow
def test_as_many_as_asked() -> None:
    """Of each claim; in ranges, each of which is in one part; whatever their order."""
    goal = 2 * max(claim.systems for claim in run(0).claims)
    found = run(goal, done=(done := []))
    assert all(claim.systems >= goal for claim in found.claims)
    assert found.systems == goal
    assert {part.work for part in done} == {"random"}
    shown = [
        (id, part.pool, block)
        for part in done for id in part.claims
        for block in range(part.block, part.block + part.blocks)
    ]  # fmt: skip
    assert len(shown) == len(set(shown)) > len(done)
    assert all(part.block > 0 and part.block % 3 + part.blocks <= 3 for part in done)
    assert run(goal, turn=-1) == found


@pytest.mark.slow
def test_a_claim_has_the_record_that_it_has_alone() -> None:
    """A claim's blocks do not depend on the needs of other claims."""
    goal = max(claim.systems for claim in run(0).claims) + 1
    together = run(goal)
    for entry, record in zip(CLAIMS, together.claims, strict=True):
        assert run(goal, claims=[entry]).claims == (record,)


@pytest.mark.slow
def test_enough_is_enough() -> None:
    """A claim with enough systems in the profile gets no more blocks."""
    done: list[Part] = []
    assert run(1, done=done).claims == run(0, done=done).claims
    assert done == []


@pytest.mark.slow
def test_wide_blocks() -> None:
    """Of networks they have as many more systems each, so that fewer blocks are as many systems;
    of cells, which a device does not draw, they are as before."""
    (truncation,), budget = chosen_claims(("truncation",)), profile("quick")
    widens = {pool.kind_name: pool.widens(budget) for pool in claim_pools(truncation, budget)}
    assert widens == {"rnn": True, "cell": False}
    entries = chosen_claims(("contraction-linear",))
    goal = 6 * run(0, claims=entries).claims[0].systems
    blocks = []
    for wide in (1, 4):
        found = run(goal, claims=entries, done=(done := []), wide=wide)
        assert found.claims[0].systems >= goal
        assert (found.claims[0].tally.violated, found.claims[0].tally.undecided) == (0, 0)
        assert {part.wide for part in done} == {wide}
        blocks.append(sum(part.blocks for part in done))
    assert blocks[1] < blocks[0]


def test_what_judges_no_more_is_left(monkeypatch) -> None:
    """And the run says so, and fails."""
    own = [part for part in plan_parts(CLAIMS, ATTACKS, profile("quick")) if part.claims]
    results = [run_part(part, profile_name="quick", seed=5) for part in own]
    rounds: list[Sequence[Part]] = []

    def nothing(parts: Sequence[Part]) -> list[PartResult]:
        rounds.append(parts)
        return []

    asked = {"claims": CLAIMS, "attacks": ATTACKS, "profile": "quick"}
    found = run_until_judged(results, 10**6, nothing, **asked)
    assert found == results
    assert len(rounds) == 1
    told = merge_record(found, seed=5, systems=10**6, **asked)
    assert f"projection: {told.claims[1].systems} of 1000000 systems judged" in run_problems(told)


def test_workers_of_a_device(monkeypatch) -> None:
    """As many as its memory holds, at least one; of a CPU as many as are asked for."""
    monkeypatch.setattr("torch.cuda.mem_get_info", lambda device: (75 * 2**30, 80 * 2**30))
    assert [workers_that_fit(16, device) for device in ("cpu", "cuda")] == [16, 7]
    assert workers_that_fit(0, "cuda") == 0
    monkeypatch.setattr("torch.cuda.mem_get_info", lambda device: (2**30, 2**33))
    assert workers_that_fit(16, "cuda") == 1


def test_counts_of_systems() -> None:
    """Whole numbers, as people write large ones."""
    assert [parse_system_count(text) for text in ("1", "5000", "1e7", "1_000")] == [
        1,
        5000,
        10**7,
        1000,
    ]
    for text in ("", "0", "-1", "1.5", "nan", "inf", "1e13", "many"):
        with pytest.raises(InputError, match="choose one from 1 to 1e12"):
            parse_system_count(text)


def test_an_attack_must_go_on() -> None:
    """The others come to an end."""
    assert endless_attacks(("extremal", "random")) == ["random"]
    with pytest.raises(InputError, match="add random to --attacks"):
        endless_attacks(("extremal", "gradient"))
