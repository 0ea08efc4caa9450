"""Comparison of two runs: one row for each result that is better, worse, new or missing."""

from collections.abc import Iterator

from msgspec.structs import replace

from rnnbounds.reports.gate.settings import Thresholds
from rnnbounds.reports.records import changes
from rnnbounds.reports.records.checks import Tally
from rnnbounds.reports.records.outcome import claim_problems
from rnnbounds.reports.records.record import ClaimRecord, FormRecord, Run, VariantRecord

VERDICTS = ("holds", "never tested", "undecided", "violated")


def compare_runs(old: Run, new: Run, allowed: Thresholds) -> changes.Changes:
    """All changes from one run to another, whatever their seeds and profiles."""
    before = {claim.id: claim for claim in old.claims}
    after = {claim.id: claim for claim in new.claims}
    rows = [*changes.compare_names("the run", "claims", before, after)]
    for name, claim in after.items():
        if name in before:
            rows += _claim_changes(before[name], claim, allowed)
        elif failures := list(claim_problems(claim)):
            rows.append(
                changes.make_change(
                    "regressed", name, "new, and fails", after=changes.list_names(failures)
                )
            )
    rows += changes.compare_burdens(
        "the run", "parts that never reported", old.missing_parts, new.missing_parts
    )
    return changes.Changes(
        old=run_title(old), new=run_title(new), rows=tuple(rows), fails=allowed.fails
    )


def restrict_run(run: Run, ids: tuple[str, ...]) -> Run:
    """Restrict a run to the claims of these ids, and to their missing parts."""
    return replace(
        run, claims=tuple(claim for claim in run.claims if claim.id in ids),
        missing_parts=tuple(p for p in run.missing_parts if p.partition("/")[0] in ids),
    )  # fmt: skip


def run_title(run: Run) -> str:
    """A run in a few words: "quick, seed 0, 2026-11-21T10:00:00Z, commit 0123abc"."""
    environment = run.environment
    words = (
        f"{run.profile}, seed {run.seed}",
        environment.started,
        f"commit {environment.commit[:12]}",
    )
    return changes.shorten(", ".join(words[: 3 if environment.commit else 2]).rstrip(", "))


def _claim_changes(
    old: ClaimRecord, new: ClaimRecord, allowed: Thresholds
) -> Iterator[changes.Change]:
    id = new.id
    yield from changes.compare_ranks(
        id, "verdict", VERDICTS, tally_verdict(old.tally), tally_verdict(new.tally)
    )
    proofs = ["proved" if claim.proved else "not proved" for claim in (old, new)]
    yield from changes.compare_ranks(id, "proof", ("proved", "not proved"), *proofs)
    yield from changes.compare_burdens(id, "textbook theorems", used_axioms(old), used_axioms(new))
    yield from changes.compare_burdens(
        id, "forms that assume an inclusion", old.assuming, new.assuming
    )
    attacks = [[a for a, record in claim.attacks.items() if record.checks] for claim in (old, new)]
    yield from changes.compare_names(id, "attacks", *attacks)
    before, after = ({form.name: form for form in claim.forms} for claim in (old, new))
    yield from _form_changes(id, before, after, allowed)
    yield from _definition_changes(id, *map(_definitions, (old, new)))
    yield from _variant_changes(
        id, *({variant.id: variant for variant in claim.variants} for claim in (old, new))
    )


def _form_changes(
    id: str, old: dict[str, FormRecord], new: dict[str, FormRecord], allowed: Thresholds
) -> Iterator[changes.Change]:
    yield from changes.compare_names(id, "forms", old, new)
    for name in (name for name in new if name in old):
        before, after = old[name], new[name]
        subject = f"{id} ({name})"
        yield from changes.compare_texts(subject, "statement", before.text, after.text)
        yield from changes.compare_burdens(
            subject, "assumptions", before.assumptions, after.assumptions
        )
        if len(old) > 1:
            words = (tally_verdict(before.tally), tally_verdict(after.tally))
            yield from changes.compare_ranks(subject, "verdict", VERDICTS, *words)
        ratios = (before.best_ratio, after.best_ratio)
        yield from changes.compare_ratios(subject, "tightest lhs/rhs", allowed.tightness, *ratios)


def _definition_changes(
    id: str, old: dict[str, str], new: dict[str, str]
) -> Iterator[changes.Change]:
    """Functions that ledgers define anew, or otherwise."""
    yield from changes.compare_burdens(id, "definitions", old, new)
    for name in (name for name in new if name in old):
        yield from changes.compare_texts(id, f"definition of {name}", old[name], new[name])


def _definitions(claim: ClaimRecord) -> dict[str, str]:
    """The texts of each function that is defined, in all ledgers, each text once."""
    texts: dict[str, dict[str, None]] = {}
    for definition in (d for ledger in claim.ledgers for d in ledger.definitions):
        texts.setdefault(definition.name, {})[definition.text] = None
    return {name: "; ".join(some) for name, some in texts.items()}


def _variant_changes(
    id: str, old: dict[str, VariantRecord], new: dict[str, VariantRecord]
) -> Iterator[changes.Change]:
    yield from changes.compare_names(id, "false variants", old, new)
    for name, after in new.items():
        subject, before = f"{id}, false variant {name}", old.get(name)
        words = [
            "survives" if variant and not variant.convicted else "refuted"
            for variant in (before, after)
        ]
        yield from changes.compare_ranks(subject, "attacks", ("refuted", "survives"), *words)
        if before is not None:
            yield from changes.compare_texts(
                subject, "statement", before.statement, after.statement
            )
        words = [
            "proves it" if variant and not variant.ledger_fails else "fails"
            for variant in (before, after)
        ]
        yield from changes.compare_ranks(subject, "ledger", ("fails", "proves it"), *words)


def tally_verdict(tally: Tally) -> str:
    """Overall verdict of a tally, the worst first: violated, undecided, holds, never tested."""
    if tally.violated:
        return "violated"
    return "undecided" if tally.undecided else "holds" if tally.holds else "never tested"


def used_axioms(claim: ClaimRecord) -> list[str]:
    """The textbook theorems that its ledgers take without proof."""
    return list(dict.fromkeys(name for ledger in claim.ledgers for name in ledger.axioms))
