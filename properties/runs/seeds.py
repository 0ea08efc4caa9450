"""A run under many seeds: whether a verdict is one of the claims, or one of a draw's luck."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime

from rnnbounds.properties.attacks.budget import profile as profile_of
from rnnbounds.properties.attacks.table import attacks
from rnnbounds.properties.errors import SeedsError
from rnnbounds.properties.runs.executors.executor import Executor
from rnnbounds.properties.runs.parts import PROOF, Part, PartResult, parts_of
from rnnbounds.properties.runs.record import merge
from rnnbounds.properties.runs.run import IN_PROCESS, environment, heaviest_first, run_calls
from rnnbounds.reports.records.record import Run
from rnnbounds.theory.proof.claim import Claim

MOST = 100_000


def seeds_of(text: str) -> tuple[int, ...]:
    """Seeds and ranges of them, as in ``1-30,41``: each once, in order.

    Raises:
        SeedsError: not such a list, or too long a one.
    """
    found: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        ends = (first, last if dash else first)
        if not all(end.isascii() and end.isdigit() and len(end) < 19 for end in ends):
            raise SeedsError(text)
        low, high = map(int, ends)
        if low > high or high - low >= MOST:
            raise SeedsError(text)
        found |= set(range(low, high + 1))
    return tuple(sorted(found))


def fixed(part: Part) -> bool:
    """True if a part gives one result for every seed: a proof, or an attack without draws."""
    attack = attacks().get(part.work)
    return part.work == PROOF or (attack is not None and not attack.seeded)


def sweep(
    claims: Sequence[Claim], seeds: Sequence[int], attacks: Sequence[str],
    *, profile: str, device: str = "cpu", workers: int = 1, executor: Executor = IN_PROCESS,
) -> Iterator[Run]:  # fmt: skip
    """The record of one seed after the other, each that of a run of its own.

    What does not depend on the seed is run once, with the first. The processes go on from seed to
    seed, so that none waits for the last part of another.
    """
    parts = heaviest_first(parts_of(claims, attacks, profile_of(profile)))
    drawn = [part for part in parts if not fixed(part)]
    calls = [(part, seed) for seed in seeds for part in (parts if seed == seeds[0] else drawn)]
    expected = Counter(seed for _, seed in calls)
    found: dict[int, list[PartResult]] = {seed: [] for seed in seeds}
    shared: list[PartResult] = []
    started, left = datetime.now(UTC), list(seeds)
    with closing(run_calls(calls, profile=profile, device=device, executor=executor)) as answers:
        for seed, result in answers:
            found[seed].append(result)
            while left and len(found[left[0]]) == expected[left[0]]:
                first = left.pop(0)
                own = found.pop(first)
                yield merge(
                    [*shared, *own], claims=claims, attacks=attacks, profile=profile, seed=first,
                    environment=environment(device, workers, started, own),
                )  # fmt: skip
                shared = shared or [result for result in own if fixed(result.part)]
                started = datetime.now(UTC)
