"""Calls go to who has done their like, and nobody waits for that."""

from __future__ import annotations

from rnnbounds.properties.attacks.budget import profile
from rnnbounds.properties.runs.parts import chosen_claims, parts_of
from rnnbounds.properties.runs.queue import Queue
from rnnbounds.properties.runs.run import heaviest_first, kin

CALLS = [("a", 1), ("b", 1), ("a", 2), ("c", 1), ("a", 3)]


def test_like_calls_stay_together_in_their_order() -> None:
    """One's own kin first, then what no other is at, then what others are at."""
    queue = Queue(CALLS, lambda call: call[0])
    assert queue.take(None, ()) == ("a", ("a", 1))
    assert queue.take(None, ("a",)) == ("b", ("b", 1))
    assert queue.take("a", ("b",)) == ("a", ("a", 2))
    assert queue.take("b", ("a",)) == ("c", ("c", 1))
    assert queue.take("b", ("a", "c")) == ("a", ("a", 3))
    assert queue.take("b", ("a",)) is None


def test_without_kin_calls_keep_their_order() -> None:
    """What is said of no kin is taken as it comes."""
    queue = Queue(CALLS)
    own, taken = None, []
    while found := queue.take(own, (None,)):
        own, call = found
        taken.append(call)
    assert taken == CALLS


def test_one_seed_is_done_before_the_next_is_begun() -> None:
    """So that each is told of when it ends; like parts of one seed stay together."""
    parts = heaviest_first(parts_of(chosen_claims(["truncation"]), ["random"], profile("quick")))
    queue = Queue([(part, "quick", seed, "cpu") for seed in (3, 1) for part in parts], kin)
    own, seeds = None, []
    while found := queue.take(own, ()):
        own, (_, _, seed, _) = found
        seeds.append(seed)
    assert seeds == [3] * len(parts) + [1] * len(parts)
