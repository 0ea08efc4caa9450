"""A run until so many systems of each claim are judged: more blocks of what an attack draws.

```
blocks of a pool   0 1 2 | 3 4 5 ……………………………… 39 | 40 ………………… 79 | 80 … 95
                  profile   the first range           the second      the last: one task each
```

How many blocks a claim is given follows from what its systems were so far, in rounds, and so from
the seed alone. Ranges of blocks are folded as they come: what is kept does not grow with the run.

On a GPU the blocks beyond the profile are wide: an example of networks has 16 times as many systems
of the same description, since kernels take as long for a few. Each has a seed and a place in its
batch, from which a replay builds it on the CPU.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

import torch

from rnnbounds.properties.attacks.budget import Budget
from rnnbounds.properties.attacks.budget import profile as profile_of
from rnnbounds.properties.attacks.campaign import FormEvidence, attack_block_count, merge_evidence
from rnnbounds.properties.attacks.pool import claim_pools
from rnnbounds.properties.attacks.table import attacks as every
from rnnbounds.properties.errors import InputError
from rnnbounds.properties.runs.parts import Part, PartResult
from rnnbounds.properties.runs.record import attack_record, claim_evidence
from rnnbounds.theory.proof.claim import Claim

RANGE_BLOCKS = 40  # blocks of one task, which takes a minute or so
MAX_SYSTEMS = 10**12
DEVICE_WIDTH = 16
WORKER_BYTES = 10 * 2**30  # of a device's memory, for the largest examples so many times as wide

PartRunner = Callable[[Sequence[Part]], Iterable[PartResult]]


def parse_system_count(text: str) -> int:
    """A count, as in ``5000`` or ``1e7``.

    Raises:
        InputError: not one, or none that a run comes to.
    """
    try:
        count = float(text) if text.isascii() else 0.0
    except ValueError:
        count = 0.0
    if not (1 <= count <= MAX_SYSTEMS and count.is_integer()):
        raise InputError(f"{text!r} is no count of systems; choose one from 1 to 1e12, as in 1e7")
    return int(count)


def workers_that_fit(workers: int, device: str) -> int:
    """So many processes, or as many as the free memory of a CUDA device holds, at least one."""
    if device == "cpu":
        return workers
    free, _ = torch.cuda.mem_get_info(device)
    return min(workers, max(1, free // WORKER_BYTES))


def endless_attacks(attacks: Sequence[str]) -> list[str]:
    """The attacks that go on and on.

    Raises:
        InputError: none of them does.
    """
    if endless := [name for name in attacks if every()[name].is_random]:
        return endless
    choices = ", ".join(name for name, attack in every().items() if attack.is_random)
    raise InputError(f"these attacks judge a fixed number of systems; add {choices} to --attacks")


def run_until_judged(
    results: Sequence[PartResult], systems: int, run: PartRunner,
    *, claims: Sequence[Claim], attacks: Sequence[str], profile: str, wide: int = 1,
) -> list[PartResult]:  # fmt: skip
    """Run more parts until every claim has judged `systems` systems; return old and new results.

    A claim is dropped when a whole round judged no more systems of it. wide: how many times as many
    systems an example of networks has.
    """
    budget = profile_of(profile)
    progress_by_claim = {
        claim.id: ClaimProgress(claim, endless_attacks(attacks), budget, wide) for claim in claims
    }
    all_results = list(results)
    while True:
        for progress in progress_by_claim.values():
            progress.plan_blocks(systems, attacks, all_results)
        parts = block_ranges(
            [progress for progress in progress_by_claim.values() if progress.next_blocks], budget
        )
        if not parts:
            return all_results
        all_results += fold_results(run(parts))


def fold_results(results: Iterable[PartResult]) -> list[PartResult]:
    """Merge results by attack and claim, in any order; a part's time is shared evenly."""
    evidence: dict[tuple[str, str], FormEvidence] = {}
    seconds: defaultdict[tuple[str, str], float] = defaultdict(float)
    for result in results:
        for id, forms in result.evidence.items():
            key = result.part.work, id
            merge_evidence(evidence.setdefault(key, {}), forms)
            seconds[key] += result.seconds / len(result.evidence)
    return [
        PartResult(part=Part(work, (id,)), evidence={id: forms}, seconds=seconds[work, id])
        for (work, id), forms in sorted(evidence.items())
    ]


class ClaimProgress:
    """A claim, the blocks that it was shown beyond the profile's, and how many more it needs.

    width: how many blocks of the profile a wide one is.
    """

    def __init__(self, claim: Claim, attacks: Sequence[str], budget: Budget, wide: int = 1) -> None:
        self.claim, self.attacks, self.wide = claim, attacks, wide
        self.width = max(wide if pool.widens(budget) else 1 for pool in claim_pools(claim, budget))
        self.extra_blocks = self.next_blocks = self.judged_systems = 0
        self.profile_blocks = max(
            attack_block_count(attack, group, budget)
            for attack in attacks for group in claim_pools(claim, budget).values()
        )  # fmt: skip

    def plan_blocks(
        self, systems: int, attacks: Sequence[str], results: Iterable[PartResult]
    ) -> None:
        """Say how many more, if the next ones are like those before."""
        self.extra_blocks += self.next_blocks
        evidence = claim_evidence(self.claim, attacks, results)
        judged = {name: self._systems(name, forms) for name, forms in evidence.items()}
        total, previous = sum(judged[name] for name in self.attacks), self.judged_systems
        missing = systems - sum(judged.values())
        continues = total > previous and missing > 0
        shown_blocks = self.profile_blocks + self.width * self.extra_blocks
        self.next_blocks = -(-missing * shown_blocks // (total * self.width)) if continues else 0
        self.judged_systems = total

    def _systems(self, attack: str, forms: FormEvidence) -> int:
        return attack_record(self.claim, attack, list(forms.values())).systems


def block_ranges(incomplete: Sequence[ClaimProgress], budget: Budget) -> list[Part]:
    """The further blocks of these claims; those that need the same range of a pool share it."""
    claims_by_range: dict[tuple[str, str, int, int, int], list[str]] = {}
    for progress in incomplete:
        for pool, group in claim_pools(progress.claim, budget).items():
            for attack in progress.attacks:
                if profile_blocks := attack_block_count(attack, group, budget):
                    first = profile_blocks + progress.extra_blocks
                    last = first + progress.next_blocks
                    for low in range(first - first % RANGE_BLOCKS, last, RANGE_BLOCKS):
                        start = max(first, low)
                        block_range = (
                            attack,
                            pool.name,
                            start,
                            min(last, low + RANGE_BLOCKS) - start,
                            progress.wide,
                        )
                        claims_by_range.setdefault(block_range, []).append(progress.claim.id)
    return [
        Part(attack, tuple(ids), (), pool, *block_range)
        for (attack, pool, *block_range), ids in claims_by_range.items()
    ]
