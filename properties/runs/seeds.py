"""A run under many seeds: whether a verdict is one of the claims, or one of a draw's luck."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime

from properties.errors import SeedsError
from properties.runs.parts import PartResult, parts_of
from properties.runs.run import environment, merge, run_parts
from reports.records.record import Run
from theory.proof.claim import Claim

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


def sweep(
    claims: Sequence[Claim], seeds: Sequence[int], attacks: Sequence[str],
    *, profile: str, device: str = "cpu", workers: int = 1,
    progress: Callable[[PartResult], None] = lambda result: None,
) -> Iterator[Run]:  # fmt: skip
    """The record of one seed after the other, each that of a run of its own.

    Proofs do not depend on the seed: they are run once, with the first.
    """
    parts = parts_of(claims, attacks)
    proofs: list[PartResult] = []
    for seed in seeds:
        started, known = datetime.now(UTC), {result.part for result in proofs}
        found = run_parts(
            [part for part in parts if part not in known], profile=profile, seed=seed,
            device=device, workers=workers, progress=progress,
        )  # fmt: skip
        results = [*proofs, *found]
        proofs = [result for result in results if result.part.work == "proof"]
        yield merge(
            results, claims=claims, attacks=attacks, profile=profile, seed=seed,
            environment=environment(device, workers, started, found),
        )  # fmt: skip
