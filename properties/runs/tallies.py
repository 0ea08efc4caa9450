"""Summary of a part's result in a few numbers, for test reports."""

from __future__ import annotations

from rnnbounds.properties.runs.parts import PartResult
from rnnbounds.reports.records.checks import Tally


def summarize_result(result: PartResult) -> list[tuple[str, object]]:
    """(name, number): checks by verdict and pairs of an attack, steps of a proof, variants."""
    numbers: list[tuple[str, object]] = [("seconds", round(result.seconds, 3))]
    evidence = [one for seen in result.evidence.values() for one in seen.values()]
    if evidence:
        together = Tally()
        for one in evidence:
            together = together.merge(one.tally)
        names = ("holds", "violated", "undecided", "vacuous")
        numbers += [(name, getattr(together, name)) for name in names]
        numbers.append(("pairs", sum(one.pairs for one in evidence)))
    if result.ledgers:
        steps = [step for ledger in result.ledgers for step in ledger.steps]
        numbers += [
            ("steps", len(steps)),
            ("failed steps", sum(s.verdict == "failed" for s in steps)),
        ]
    if variants := [variant for records in result.variants.values() for variant in records]:
        convicted = sum(variant.convicted for variant in variants)
        numbers += [("false variants", len(variants)), ("convicted", convicted)]
    return numbers
