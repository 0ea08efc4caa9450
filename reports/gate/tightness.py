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

from rnnbounds.reports.gate.compare import compare_counts, compare_names, compare_texts
from rnnbounds.reports.gate.luck import sign_test, tail_tests
from rnnbounds.reports.records.changes import Change, Kind, make_change
from rnnbounds.reports.records.number import is_finite
from rnnbounds.reports.records.record import ClaimRecord, FormRecord
from rnnbounds.reports.words import count, plural

ALIKE = 7  # a draw, and what ConjectureRunner.generate_mutations_from makes of it
FEW = 4 * ALIKE  # examples: of a form that four draws meet, four others may meet none
Claims = Sequence[tuple[ClaimRecord, ClaimRecord]]


def compare_example_counts(claims: Claims, share: float) -> Iterator[Change]:
    """Forms of which that share of the examples is no longer counted, or in other bins."""
    for old, new in claims:
        unshared_edges = set(old.histogram.edges) ^ set(new.histogram.edges)
        if unshared_edges and any(form.examples for form in old.forms):
            edge_counts = [plural(len(claim.histogram.edges), "edge") for claim in (old, new)]
            after = f"{edge_counts[1]}, {count(len(unshared_edges))} of them in only one record"
            yield make_change("regressed", new.id, "bins of its examples", edge_counts[0], after)
        for old_form, form in _form_pairs(old, new):
            subject = f"{new.id} ({form.name})"
            if old_form.examples:  # older records count none
                yield from compare_names(subject, "attacks", old_form.examples, form.examples)
            for attack in (attack for attack in old_form.examples if attack in form.examples):
                counts = [one.examples[attack] for one in (old_form, form)]
                totals = [sum(one) for one in counts]
                if max(totals) >= FEW:
                    yield from compare_counts(
                        f"{subject}, {attack}", "examples measured", share, *totals
                    )
                if not unshared_edges:
                    edge_counts = [plural(len(one), "bin") for one in counts]
                    yield from compare_texts(
                        f"{subject}, {attack}", "bins of its examples", *edge_counts
                    )


def _form_pairs(old: ClaimRecord, new: ClaimRecord) -> Iterator[tuple[FormRecord, FormRecord]]:
    """The forms of both claims, each as it was and as it is."""
    old_forms = {form.name: form for form in old.forms}
    return ((old_forms[form.name], form) for form in new.forms if form.name in old_forms)


def compare_examples(claims: Claims, chance: float) -> Iterator[Change]:
    """Forms of which fewer, or more, examples come as near the bound as they did."""
    samples = [
        (f"{new.id} ({form.name}), {attack}", new.histogram.edges, tuple(before), tuple(after))
        for old, new in claims
        if old.histogram.edges == new.histogram.edges
        for old_form, form in _form_pairs(old, new)
        for attack, after in form.examples.items()
        if (before := old_form.examples.get(attack)) and len(before) == len(after)
    ]
    tests = sum(len(list(tail_tests(before, after, ALIKE))) for *_, before, after in samples)
    for subject, edges, before, after in samples:
        kinds: tuple[tuple[Kind, tuple[int, ...], tuple[int, ...]], ...] = (
            ("regressed", before, after), ("improved", after, before),
        )  # fmt: skip
        for kind, first, second in kinds:
            bin, odds = min(tail_tests(first, second, ALIKE), key=_test_odds, default=(0, inf))
            if 2 * tests * odds < chance:
                tails = [
                    f"{count(sum(counts[bin + 1 :]))} of {count(sum(counts))}"
                    for counts in (before, after)
                ]
                field = f"examples with lhs/rhs above {edges[bin]:g}"
                yield make_change(
                    kind, subject, field, tails[0], f"{tails[1]}, by chance {_odds_text(odds)}"
                )


def compare_directed_attacks(claims: Claims, share: float, chance: float) -> Iterator[Change]:
    """Attacks of which more of the claims' greatest ratios fell, or rose, by more than that
    share."""
    seeded = {
        attack
        for _, new in claims
        for attack, record in new.attacks.items()
        if record.seeded and not any(attack in form.examples for form in new.forms)
    }
    for attack in sorted(seeded):
        ratio_pairs = [
            tuple(
                claim.attacks[attack].best_ratio for claim in claim_pair if attack in claim.attacks
            )
            for claim_pair in claims
        ]
        pairs = [
            (float(ratio_pair[0] or 0), float(ratio_pair[1] or 0))
            for ratio_pair in ratio_pairs
            if len(ratio_pair) == 2
            and all(ratio is None or is_finite(ratio) for ratio in ratio_pair)
        ]
        kinds: tuple[tuple[Kind, bool], ...] = (("regressed", False), ("improved", True))
        for kind, lower_bound in kinds:
            ordered = [(new, old) if lower_bound else (old, new) for old, new in pairs]
            moved, decreased, odds = sign_test(ordered, share)
            if 2 * len(seeded) * odds < chance:
                direction = "higher" if lower_bound else "lower"
                after = f"{direction} in {count(decreased)} of {plural(moved, 'claim')} that moved"
                subject = f"the run, {attack}"
                yield make_change(
                    kind, subject, "tightest lhs/rhs", "", f"{after}, by chance {_odds_text(odds)}"
                )


def _test_odds(test: tuple[int, float]) -> float:
    return test[1]


def _odds_text(odds: float) -> str:
    return f"once in {1 / odds:.0e} runs" if odds > 1e-300 else "never"
