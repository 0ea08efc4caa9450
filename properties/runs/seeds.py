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
from rnnbounds.properties.runs.parts import PROOF, Part, PartResult, plan_parts
from rnnbounds.properties.runs.record import merge_record
from rnnbounds.properties.runs.run import IN_PROCESS, heaviest_first, run_calls, run_environment
from rnnbounds.reports.records.record import Run
from rnnbounds.theory.proof.claim import Claim

MAX_RANGE = 100_000


def parse_seeds(text: str) -> tuple[int, ...]:
    """Seeds and ranges of them, as in ``1-30,41``: each once, in order.

    Raises:
        SeedsError: not such a list, or too long a one.
    """
    seeds: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        ends = (first, last if dash else first)
        if not all(end.isascii() and end.isdigit() and len(end) < 19 for end in ends):
            raise SeedsError(text)
        low, high = map(int, ends)
        if low > high or high - low >= MAX_RANGE:
            raise SeedsError(text)
        seeds |= set(range(low, high + 1))
    return tuple(sorted(seeds))


def is_seed_independent(part: Part) -> bool:
    """True if a part gives one result for every seed: a proof, or an attack without draws."""
    attack = attacks().get(part.work)
    return part.work == PROOF or (attack is not None and not attack.seeded)


def run_seeds(
    claims: Sequence[Claim], seeds: Sequence[int], attacks: Sequence[str],
    *, profile: str, device: str = "cpu", workers: int = 1, executor: Executor = IN_PROCESS,
) -> Iterator[Run]:  # fmt: skip
    """The record of one seed after the other, each that of a run of its own.

    What does not depend on the seed is run once, with the first. The processes go on from seed to
    seed, so that none waits for the last part of another.
    """
    parts = heaviest_first(plan_parts(claims, attacks, profile_of(profile)))
    seeded_parts = [part for part in parts if not is_seed_independent(part)]
    calls = [
        (part, seed) for seed in seeds for part in (parts if seed == seeds[0] else seeded_parts)
    ]
    expected = Counter(seed for _, seed in calls)
    results_by_seed: dict[int, list[PartResult]] = {seed: [] for seed in seeds}
    fixed_results: list[PartResult] = []
    started, remaining = datetime.now(UTC), list(seeds)
    with closing(run_calls(calls, profile=profile, device=device, executor=executor)) as answers:
        for seed, result in answers:
            results_by_seed[seed].append(result)
            while remaining and len(results_by_seed[remaining[0]]) == expected[remaining[0]]:
                finished = remaining.pop(0)
                own_results = results_by_seed.pop(finished)
                yield merge_record(
                    [*fixed_results, *own_results], claims=claims, attacks=attacks,
                    profile=profile, seed=finished,
                    environment=run_environment(device, workers, started, own_results),
                )  # fmt: skip
                fixed_results = fixed_results or [
                    result for result in own_results if is_seed_independent(result.part)
                ]
                started = datetime.now(UTC)
