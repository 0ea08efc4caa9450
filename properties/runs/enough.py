"""A run until so many systems of each claim are judged: more blocks of what an attack draws.

```
blocks of a pool   0 1 2 | 3 4 5 ……………………………… 39 | 40 ………………… 79 | 80 … 95
                  profile   the first range           the second      the last: one task each
```

How many blocks a claim is given follows from what its systems were so far, in rounds, and so from
the seed alone. Ranges of blocks are folded as they come: what is kept does not grow with the run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from rnnbounds.properties.attacks.budget import Budget
from rnnbounds.properties.attacks.budget import profile as profile_of
from rnnbounds.properties.attacks.campaign import Seen, added, blocks_of
from rnnbounds.properties.attacks.pool import pools_of
from rnnbounds.properties.attacks.table import attacks as every
from rnnbounds.properties.errors import InputError
from rnnbounds.properties.runs.parts import Part, PartResult
from rnnbounds.properties.runs.record import attack_record, evidence_of
from rnnbounds.theory.proof.claim import Claim

RANGE = 40  # blocks of one task, which takes a minute or so
MOST = 10**12

Runs = Callable[[Sequence[Part]], Iterable[PartResult]]


def systems_of(text: str) -> int:
    """A count, as in ``5000`` or ``1e7``.

    Raises:
        InputError: not one, or none that a run comes to.
    """
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not (1 <= found <= MOST and found.is_integer()):
        raise InputError(f"{text!r} is no count of systems; choose one from 1 to 1e12, as in 1e7")
    return int(found)


def drawn(attacks: Sequence[str]) -> list[str]:
    """The attacks that go on and on.

    Raises:
        InputError: none of them does.
    """
    if found := [name for name in attacks if every()[name].drawn]:
        return found
    goes_on = ", ".join(name for name, one in every().items() if one.drawn)
    raise InputError(f"these attacks judge a fixed number of systems; add {goes_on} to --attacks")


def until_enough(
    results: Sequence[PartResult], systems: int, run: Runs,
    *, claims: Sequence[Claim], attacks: Sequence[str], profile: str,
) -> list[PartResult]:  # fmt: skip
    """Run more parts until every claim has judged `systems` systems; return old and new results.

    A claim is dropped when a whole round judged no more systems of it.
    """
    budget = profile_of(profile)
    own = {entry.id: Shown(entry, drawn(attacks), budget) for entry in claims}
    found = list(results)
    while True:
        for shown in own.values():
            shown.plan(systems, attacks, found)
        parts = ranges([shown for shown in own.values() if shown.more], budget)
        if not parts:
            return found
        found += folded(run(parts))


def folded(results: Iterable[PartResult]) -> list[PartResult]:
    """Merge results by attack and claim, in any order; a part's time is shared evenly."""
    seen: dict[tuple[str, str], Seen] = {}
    seconds: defaultdict[tuple[str, str], float] = defaultdict(float)
    for result in results:
        for id, forms in result.evidence.items():
            key = result.part.work, id
            added(seen.setdefault(key, {}), forms)
            seconds[key] += result.seconds / len(result.evidence)
    return [
        PartResult(part=Part(work, (id,)), evidence={id: forms}, seconds=seconds[work, id])
        for (work, id), forms in sorted(seen.items())
    ]


class Shown:
    """A claim, the blocks that it was shown beyond the profile's, and how many more it needs."""

    def __init__(self, claim: Claim, attacks: Sequence[str], budget: Budget) -> None:
        self.claim, self.attacks = claim, attacks
        self.extra = self.more = self.gained = 0
        self.own = max(
            blocks_of(attack, group, budget)
            for attack in attacks for group in pools_of(claim, budget).values()
        )  # fmt: skip

    def plan(self, systems: int, attacks: Sequence[str], results: Iterable[PartResult]) -> None:
        """Say how many more, if the next ones are like those before."""
        self.extra += self.more
        seen = evidence_of(self.claim, attacks, results)
        judged = {name: self._systems(name, forms) for name, forms in seen.items()}
        gained, before = sum(judged[name] for name in self.attacks), self.gained
        missing = systems - sum(judged.values())
        going = gained > before and missing > 0
        self.more = -(-missing * (self.own + self.extra) // gained) if going else 0
        self.gained = gained

    def _systems(self, attack: str, forms: Seen) -> int:
        return attack_record(self.claim, attack, list(forms.values())).systems


def ranges(lacking: Sequence[Shown], budget: Budget) -> list[Part]:
    """The further blocks of these claims; those that need the same range of a pool share it."""
    met: dict[tuple[str, str, int, int], list[str]] = {}
    for one in lacking:
        for pool, group in pools_of(one.claim, budget).items():
            for attack in one.attacks:
                if own := blocks_of(attack, group, budget):
                    first = own + one.extra
                    last = first + one.more
                    for low in range(first - first % RANGE, last, RANGE):
                        start = max(first, low)
                        cut = (attack, pool.name, start, min(last, low + RANGE) - start)
                        met.setdefault(cut, []).append(one.claim.id)
    return [
        Part(attack, tuple(ids), (), pool, start, blocks)
        for (attack, pool, start, blocks), ids in met.items()
    ]
