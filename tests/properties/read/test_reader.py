"""Quantities are read from their definitions, and fast paths read what these say."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch
from flint import arb, ctx, fmpq
from seen import PRECISION, readings

from rnnbounds.properties.attacks.budget import PROFILES
from rnnbounds.properties.attacks.campaign import Pool, attack_pool, claim_pools, pool_for
from rnnbounds.properties.attacks.search import visit_random_specs
from rnnbounds.properties.judging.judge import Judgement, quantity_names
from rnnbounds.properties.measures.measure import FastPath, Opaque
from rnnbounds.properties.measures.table import MEASURES, fast_paths
from rnnbounds.properties.read import quantity
from rnnbounds.properties.read.numbers.norms import blank
from rnnbounds.properties.systems.batch import Batch, build_batch
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.table import KINDS, make_spec
from rnnbounds.theory.claims.table import CLAIMS
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.proof.claim import Statement

SMALL, EXAMPLES = 48, 6  # steps of the longest runs, and batches of each kind in a pool
QUICK = PROFILES["quick"]
# Of all comparisons of a quantity, those with finite enclosures on both sides, at least.
SHARE = 0.75
FEWER = {"w_gap": 0.5, "trained_gap": 0.4}  # balls follow no projection of a matrix
# No term descends: float descents are held against those of one pair in balls, another program.
DESCENTS = ("w_gap", "trained_gap")
# The reader runs no unitary network: these run in whole numbers, and test_unitary_* hold them.
UNREAD = ("unitary_", "similar_gap")
FAST = [
    path for path in fast_paths()
    if not (isinstance(path, Opaque) or path.name.startswith(UNREAD))
    and (path.balls or path.square or path.enclosure not in (None, blank))
]  # fmt: skip
# Their statements name quantities that have fast paths on other systems alone.
WITHOUT = ("cell-24x2", "cell-16x2", "cell-8x1")


@pytest.mark.slow
def test_whoever_reads_first_knows_the_functions_of_all_claims() -> None:
    """Claims are loaded when they are asked for, and bring definitions, as that of `recent`."""
    alone = "from rnnbounds.properties.read.ground_terms import rules; print(*dict(rules()))"
    found = subprocess.run([sys.executable, "-c", alone], capture_output=True, check=True)
    assert b"recent" in found.stdout


def pools() -> dict[Pool, list[Statement]]:
    """The pools of the quick profile that fast paths are read in, with all their statements."""
    found: dict[Pool, list[Statement]] = {}
    for claim in CLAIMS:
        for pool, group in claim_pools(claim, QUICK).items():
            found.setdefault(pool, []).extend(group.statements)
        for variant in claim.false_variants:
            form = replace(claim.form(variant.form), statement=variant.statement)
            pool = pool_for([form], QUICK, claim.sequence_factor)
            found.setdefault(pool, []).append(variant.statement)
    fast = {path.name for path in FAST}
    return {pool: said for pool, said in found.items() if fast & quantity_names(*said)}


POOLS = pools()


def drawn(kind: str) -> Iterator[Batch]:
    """Small batches of a kind, as the quick profile draws them."""
    specs: list[SystemSpec] = []
    visit_random_specs(kind, specs.append, examples=6, batch=2, sequences=2, seed=1)
    return (build_batch(spec) for spec in specs if spec.T <= SMALL)


def test_every_measured_quantity_is_read_or_opaque_for_a_reason() -> None:
    """At most 25 are opaque, each with its reason, and no path is of an unknown name."""
    measured = {name for name, one in VOCABULARY.items() if one.role == "measured"}
    opaque = [path for path in fast_paths() if isinstance(path, Opaque)]
    assert set(MEASURES) == measured
    assert {path.name for path in fast_paths()} <= measured
    assert len({path.name for path in opaque}) <= 25
    assert all(path.reason for path in opaque)


@pytest.mark.parametrize("pool", POOLS, ids=lambda pool: pool.name)
def test_fast_paths_read_what_definitions_say(pool: Pool) -> None:
    """On batches that the quick profile draws for claims and false variants, at one pair of each:
    enclosures and balls meet the reader's, exact squares are its squares, and most are finite."""
    held: dict[str, list[bool]] = {}
    names = quantity_names(*POOLS[pool])

    def compared(batch: Batch) -> list[Judgement]:
        at = sum(map(len, held.values()))
        place = at % batch.cell.batch, at % batch.x.shape[3]
        for path in FAST if batch.spec.T <= SMALL else ():
            if path.name in names and path is MEASURES[path.name].path_for(batch):
                held.setdefault(path.name, []).extend(hold(path, batch, place))
        return []

    with torch.no_grad():
        attack_pool(pool, "random", POOLS[pool], compared, budget=QUICK, seed=0, most=EXAMPLES)
    assert bool(held) != (pool.name in WITHOUT)
    for name, finite in held.items():
        assert sum(finite) >= FEWER.get(name, SHARE) * len(finite), (name, finite)


def hold(path: FastPath, batch: Batch, at: tuple[int, int] = (0, 0)) -> Iterator[bool]:
    """Hold one fast path against the reader, or a descent in floats against that in balls, at a few
    windows of a pair of a batch; true where both enclosures are finite."""
    pair, name = batch.pair(*at), path.name
    ends = None if path.enclosure is None else path.enclosure(batch).ends
    for k in sorted({0, min(1, batch.K), batch.K}) if VOCABULARY[name].windowed else (0,):
        with ctx.workprec(PRECISION):
            fast = MEASURES[name].ball(pair, k, PRECISION)
            read = fast if name in DESCENTS else quantity.ball_size(name, pair, k, PRECISION).ball
        finite = bool(read.is_finite())
        assert not finite or read.overlaps(fast), (name, k, batch.spec.text)
        if finite and ends is not None:
            low, high = (float(end[(*at, min(k, end.shape[2] - 1))]) for end in ends)
            finite = math.isfinite(low) and math.isfinite(high)
            assert not arb(low) > read, (name, k, batch.spec.text)
            assert not arb(high) < read, (name, k, batch.spec.text)
        square = None if path.square is None or name in DESCENTS else path.square(pair, k)
        assert square in (None, quantity.exact_square(name, pair, k, PRECISION)), (name, k)
        yield finite


@pytest.mark.parametrize("kind", KINDS)
def test_readings_of_a_quantity_agree(kind: str) -> None:
    """Of each kind: the enclosure meets the ball, and the ball the root of the exact square."""
    own = {"rnn", "gradient", "smooth", "linear"}
    for batch in drawn(kind):
        names = [
            name for name, one in VOCABULARY.items()
            if one.role == "measured" and (kind in one.about or (not one.about and kind in own))
        ]  # fmt: skip
        for seen in readings(batch, names, [(0, 0)], squares=True):
            known = not (math.isnan(seen.low) or math.isnan(seen.high) or seen.ball.is_nan())
            assert not known or seen.held, (seen, batch.spec.text)


@pytest.mark.parametrize("precision", [64, 128])
def test_another_definition_is_measured_without_another_edit(
    monkeypatch: pytest.MonkeyPatch, precision: int
) -> None:
    """A gap defined in theory as twice the difference is read as twice the gap, in each carrier;
    the fast paths of the old one are refused by the test that holds them against the reader."""
    batch = build_batch(make_spec(activation="relu", n=2, T=4, K=4, bias=0.5))
    (before,) = (quantity.exact_square("h_gap", batch, 1, precision),)
    assert before is not None
    old, two = VOCABULARY["h_gap"], 2
    monkeypatch.setitem(VOCABULARY, "h_gap", replace(old, definition=two * old.definition))
    assert quantity.exact_square("h_gap", batch, 1, precision) == 4 * before
    with ctx.workprec(precision):
        assert quantity.ball_size("h_gap", batch, 1, precision).ball.overlaps(
            arb(4 * before).sqrt()
        )
    found, root = quantity.enclose_batch("h_gap", batch), math.sqrt(float(4 * before))
    assert found.lo[0, 0, 1] <= root * (1 + 1e-15)
    assert found.hi[0, 0, 1] >= root * (1 - 1e-15)
    (fast,) = (path for path in FAST if path.name == "h_gap" and path.applies(batch))
    with pytest.raises(AssertionError):
        list(hold(fast, batch))


def test_a_gap_that_vanishes_is_seen_to_vanish() -> None:
    """A nilpotent recurrent matrix makes the difference of two tanh runs exactly 0."""
    pair = build_batch(make_spec(regime="nilpotent", n=2, T=4, K=4)).pair(0, 0)
    for name in ("h_gap", "y_gap", "forward_gap"):
        assert quantity.ball_size(name, pair, 3, 64).ball.is_zero(), name
    assert quantity.exact_square("h_gap", pair, 4, 64) == fmpq(0)
