"""Tightness that was lost or won beyond what the luck of the draw explains.

Of what an attack draws one by one, the record counts examples by their greatest lhs/rhs: these are
compared form by form, by sevens, for Hypothesis draws anew only after as many as six changes of
what it drew. An attack that goes where the bound is tight has one ratio a claim, each
under a seed of its own: of these it is counted how many fell. `chance` is shared among all that is
tested (Bonferroni): two runs of one code and profile fail here with no greater probability.

What is no longer measured cannot be less tight, so that it is looked for by itself.
"""

from collections.abc import Iterator, Sequence
from math import inf

from rnnbounds.reports.gate.compare import fewer, lacking, reworded
from rnnbounds.reports.gate.luck import fallen, fewer_tight
from rnnbounds.reports.records.changes import Change, Kind, change
from rnnbounds.reports.records.number import finite
from rnnbounds.reports.records.record import ClaimRecord, FormRecord
from rnnbounds.reports.words import count, plural

ALIKE = 7  # a draw, and what ConjectureRunner.generate_mutations_from makes of it
FEW = 4 * ALIKE  # examples: of a form that four draws meet, four others may meet none
Claims = Sequence[tuple[ClaimRecord, ClaimRecord]]


def measured(claims: Claims, share: float) -> Iterator[Change]:
    """Forms of which that share of the examples is no longer counted, or in other bins."""
    for old, new in claims:
        others = set(old.histogram.edges) ^ set(new.histogram.edges)
        if others and any(form.examples for form in old.forms):
            told = [plural(len(claim.histogram.edges), "edge") for claim in (old, new)]
            after = f"{told[1]}, {count(len(others))} of them in only one record"
            yield change("regressed", new.id, "bins of its examples", told[0], after)
        for known, form in _both(old, new):
            where = f"{new.id} ({form.name})"
            if known.examples:  # older records count none
                yield from lacking(where, "attacks", known.examples, form.examples)
            for attack in (attack for attack in known.examples if attack in form.examples):
                counts = [one.examples[attack] for one in (known, form)]
                totals = [sum(one) for one in counts]
                if max(totals) >= FEW:
                    yield from fewer(f"{where}, {attack}", "examples measured", share, *totals)
                if not others:
                    told = [plural(len(one), "bin") for one in counts]
                    yield from reworded(f"{where}, {attack}", "bins of its examples", *told)


def _both(old: ClaimRecord, new: ClaimRecord) -> Iterator[tuple[FormRecord, FormRecord]]:
    """The forms of both claims, each as it was and as it is."""
    known = {form.name: form for form in old.forms}
    return ((known[form.name], form) for form in new.forms if form.name in known)


def examples(claims: Claims, chance: float) -> Iterator[Change]:
    """Forms of which fewer, or more, examples come as near the bound as they did."""
    found = [
        (f"{new.id} ({form.name}), {attack}", new.histogram.edges, tuple(before), tuple(after))
        for old, new in claims
        if old.histogram.edges == new.histogram.edges
        for known, form in _both(old, new)
        for attack, after in form.examples.items()
        if (before := known.examples.get(attack)) and len(before) == len(after)
    ]
    tests = sum(len(list(fewer_tight(before, after, ALIKE))) for *_, before, after in found)
    for where, edges, before, after in found:
        kinds: tuple[tuple[Kind, tuple[int, ...], tuple[int, ...]], ...] = (
            ("regressed", before, after), ("improved", after, before),
        )  # fmt: skip
        for kind, one, other in kinds:
            bin, odds = min(fewer_tight(one, other, ALIKE), key=_odds, default=(0, inf))
            if 2 * tests * odds < chance:
                told = [
                    f"{count(sum(counts[bin + 1 :]))} of {count(sum(counts))}"
                    for counts in (before, after)
                ]
                what = f"examples with lhs/rhs above {edges[bin]:g}"
                yield change(kind, where, what, told[0], f"{told[1]}, by chance {_rarely(odds)}")


def directed(claims: Claims, share: float, chance: float) -> Iterator[Change]:
    """Attacks of which more of the claims' greatest ratios fell, or rose, by more than that
    share."""
    seeded = {
        attack
        for _, new in claims
        for attack, record in new.attacks.items()
        if record.seeded and not any(attack in form.examples for form in new.forms)
    }
    for attack in sorted(seeded):
        told = [
            tuple(claim.attacks[attack].best_ratio for claim in both if attack in claim.attacks)
            for both in claims
        ]
        pairs = [
            (float(pair[0] or 0), float(pair[1] or 0))
            for pair in told
            if len(pair) == 2 and all(ratio is None or finite(ratio) for ratio in pair)
        ]
        kinds: tuple[tuple[Kind, bool], ...] = (("regressed", False), ("improved", True))
        for kind, back in kinds:
            turned = [(new, old) if back else (old, new) for old, new in pairs]
            moved, fell, odds = fallen(turned, share)
            if 2 * len(seeded) * odds < chance:
                word = "higher" if back else "lower"
                after = f"{word} in {count(fell)} of {plural(moved, 'claim')} that moved"
                where = f"the run, {attack}"
                yield change(
                    kind, where, "tightest lhs/rhs", "", f"{after}, by chance {_rarely(odds)}"
                )


def _odds(test: tuple[int, float]) -> float:
    return test[1]


def _rarely(odds: float) -> str:
    return f"once in {1 / odds:.0e} runs" if odds > 1e-300 else "never"
