"""Comparison of two runs: one row for each result that is better, worse, new or missing."""

from collections.abc import Iterator

from msgspec.structs import replace

from rnnbounds.reports.gate.compare import burden, fewer, lacking, looser, ranked, reworded
from rnnbounds.reports.gate.thresholds import Thresholds
from rnnbounds.reports.gate.tightness import directed, examples, measured
from rnnbounds.reports.records.changes import Change, Changes, change, cut, listed
from rnnbounds.reports.records.matrix import WORDS, Matrix, coverage
from rnnbounds.reports.records.outcome import claim_problems
from rnnbounds.reports.records.record import ClaimRecord, FormRecord, Run, VariantRecord
from rnnbounds.reports.records.tally import Tally
from rnnbounds.reports.words import plural

VERDICTS = ("holds", "never tested", "undecided", "violated")
PROOFS = ("proved", "argued in prose", "not proved")
BASES = ("derived", "inclusion assumed", "restates")
CONVICTIONS = ("refuted", "survives")
STANDINGS = tuple(
    WORDS[name]
    for name in (
        "HOLDS", "ARGUED", "NOT PROVED", "NOT TESTED", "NOT YET PROVED", "NOT ATTACKED",
        "NOT APPLICABLE", "UNDECIDED", "VIOLATED",
    )
)  # fmt: skip


def compare_runs(old: Run, new: Run, allowed: Thresholds) -> Changes:
    """All changes from one run to another, whatever their seeds and profiles."""
    before = {claim.id: claim for claim in old.claims}
    after = {claim.id: claim for claim in new.claims}
    rows = [*lacking("the run", "claims", before, after)]
    for name, claim in after.items():
        if name in before:
            rows += _claims(before[name], claim, allowed)
        elif found := list(claim_problems(claim)):
            rows.append(change("regressed", name, "new, and fails", after=listed(found)))
    both = [(before[name], claim) for name, claim in after.items() if name in before]
    if (old.profile, old.systems) == (new.profile, new.systems):  # others draw other batches
        rows += measured(both, allowed.pairs)
        rows += examples(both, allowed.chance)
        rows += directed(both, allowed.tightness, allowed.chance)
    rows += burden("the run", "parts that never reported", old.missing_parts, new.missing_parts)
    shared = [name for name in after if name in before]
    apart = {name: abs(before[name].pairs - after[name].pairs) for name in shared}
    most = max(shared, key=lambda name: apart[name], default="")  # one claim's may be luck
    others = [name for name in shared if name != most]
    counts = [sum(claims[name].pairs for name in others) for claims in (before, after)]
    rows += fewer("the run", "pairs", allowed.all_pairs, *counts)
    counts = [coverage(run.matrix, shared) for run in (old, new)]
    rows += fewer("the matrix", "cells judged, of all claims", allowed.cells, *counts)
    rows += _laws(old, new)
    rows += _matrices(old.matrix, new.matrix, set(shared))
    same = set(shared) - {row.subject.split(" ")[0].rstrip(",") for row in rows}
    return Changes(
        old=title(old), new=title(new), rows=tuple(rows), fails=allowed.fails,
        unchanged=f"{len(same)} of {plural(len(shared), 'claim')} unchanged",
    )  # fmt: skip


def narrowed(run: Run, ids: tuple[str, ...]) -> Run:
    """Restrict a run to the claims of these ids: claims, matrix entries and missing parts."""
    found = run.matrix
    if found is not None:
        entries = tuple(entry for entry in found.entries if entry.claim in ids)
        found = replace(found, entries=entries)
    return replace(
        run, claims=tuple(claim for claim in run.claims if claim.id in ids), matrix=found,
        missing_parts=tuple(p for p in run.missing_parts if p.partition("/")[0] in ids),
    )  # fmt: skip


def title(run: Run) -> str:
    """A run in a few words: "quick, seed 0, 2026-11-21T10:00:00Z, commit 0123abc"."""
    told = run.environment
    words = (f"{run.profile}, seed {run.seed}", told.started, f"commit {told.commit[:12]}")
    return cut(", ".join(words[: 3 if told.commit else 2]).rstrip(", "))


def _claims(old: ClaimRecord, new: ClaimRecord, allowed: Thresholds) -> Iterator[Change]:
    id = new.id
    yield from ranked(id, "verdict", VERDICTS, verdict(old.tally), verdict(new.tally))
    yield from ranked(id, "proof", PROOFS, proof(old), proof(new))
    for what, found in (
        ("textbook theorems", axioms),
        ("definitions", definitions),
        ("steps in prose", lambda claim: list(dict.fromkeys(claim.human))),
    ):
        yield from burden(id, what, found(old), found(new))
    best = "tightest lhs/rhs"
    yield from looser(id, best, allowed.luck, old.best_ratio, new.best_ratio)
    still = unseeded(old, new)
    for name in still:
        ratios = (old.attacks[name].best_ratio, new.attacks[name].best_ratio)
        yield from looser(f"{id}, {name}", best, allowed.tightness, *ratios)
    yield from fewer(id, "pairs", allowed.pairs, old.pairs, new.pairs)
    yield from fewer(id, "judged checks", allowed.pairs, judged(old.tally), judged(new.tally))
    attacks = [[a for a, seen in claim.attacks.items() if seen.checks] for claim in (old, new)]
    yield from lacking(id, "attacks", *attacks)
    before, after = ({form.name: form for form in claim.forms} for claim in (old, new))
    yield from _forms(id, before, after, still, allowed)
    yield from _proofs(old, new)
    yield from _variants(id, *({one.id: one for one in claim.variants} for claim in (old, new)))


def _forms(
    id: str, old: dict[str, FormRecord], new: dict[str, FormRecord],
    still: list[str], allowed: Thresholds,
) -> Iterator[Change]:  # fmt: skip
    yield from lacking(id, "forms", old, new)
    for name in (name for name in new if name in old):
        before, after = old[name], new[name]
        where = f"{id} ({name})"
        yield from reworded(where, "statement", before.text, after.text)
        yield from burden(where, "assumptions", before.assumptions, after.assumptions)
        if len(old) > 1:
            words = (verdict(before.tally), verdict(after.tally))
            yield from ranked(where, "verdict", VERDICTS, *words)
            best = "tightest lhs/rhs"
            tight = any(one.best_ratio is not None
                        and float(one.best_ratio) >= 1 - allowed.tightness
                        for one in (before, after))  # fmt: skip
            share = allowed.luck if tight else 1  # else one lucky draw may carry it
            yield from looser(where, best, share, before.best_ratio, after.best_ratio)
            for attack in still:
                ratios = (before.reached.get(attack), after.reached.get(attack))
                yield from looser(f"{where}, {attack}", best, allowed.tightness, *ratios)
            counts = (judged(before.tally), judged(after.tally))
            yield from fewer(where, "judged checks", allowed.pairs, *counts)


def _proofs(old: ClaimRecord, new: ClaimRecord) -> Iterator[Change]:
    """Definitions that say something else; forms that rest on more; steps that are gone though
    nothing more is taken."""
    texts = [_defined(claim) for claim in (old, new)]
    for name in (name for name in texts[1] if name in texts[0]):
        yield from reworded(new.id, f"definition of {name}", *(told[name] for told in texts))
    before = {ledger.form: ledger for ledger in old.ledgers}
    for ledger in (ledger for ledger in new.ledgers if ledger.form in before):
        known = before[ledger.form]
        where = f"{new.id} ({ledger.form})"
        if known.basis and ledger.basis:
            yield from ranked(where, "basis", BASES, known.basis, ledger.basis)
        same = (known.axioms, known.definitions) == (ledger.axioms, ledger.definitions)
        if same:
            counts = (len(known.steps), len(ledger.steps))
            yield from fewer(where, "steps of its proof", 0, *counts)


def _defined(claim: ClaimRecord) -> dict[str, str]:
    """The texts of each function that is defined, in all ledgers, each text once."""
    all_of = [d for ledger in claim.ledgers for d in ledger.definitions]
    return {
        name: "; ".join(dict.fromkeys(d.text for d in all_of if d.name == name))
        for name in definitions(claim)
    }


def _variants(
    id: str, old: dict[str, VariantRecord], new: dict[str, VariantRecord]
) -> Iterator[Change]:
    yield from lacking(id, "false variants", old, new)
    for name, after in new.items():
        where = f"{id}, false variant {name}"
        before = old.get(name)
        both = (before, after)
        words = ["survives" if one and not one.convicted else "refuted" for one in both]
        yield from ranked(where, "attacks", CONVICTIONS, *words)
        if before is not None:
            yield from reworded(where, "statement", before.statement, after.statement)
        words = ["proves it" if one and not one.ledger_fails else "fails" for one in both]
        yield from ranked(where, "ledger", ("fails", "proves it"), *words)


def _laws(old: Run, new: Run) -> Iterator[Change]:
    """Textbook theorems of which more laws, or more clauses of them, are taken without proof."""
    before = {axiom.name: axiom for axiom in old.axioms}
    for axiom in new.axioms:
        known = before.get(axiom.name)
        if known is not None:
            yield from reworded(axiom.name, "textbook theorem", known.text, axiom.text)
        if known is not None and (known.laws, known.clauses) != (axiom.laws, axiom.clauses):
            both = (known, axiom)
            told = [f"{plural(a.laws, 'law')}, {plural(a.clauses, 'clause')}" for a in both]
            more = axiom.laws > known.laws or axiom.clauses > known.clauses
            yield change(
                "regressed" if more else "improved", axiom.name, "laws taken without proof", *told
            )


def _matrices(old: Matrix | None, new: Matrix | None, ids: set[str]) -> Iterator[Change]:
    if old is None or new is None:
        names = [() if matrix is None else ("matrix",) for matrix in (old, new)]
        yield from lacking("the run", "claims by cells", *names)
        return
    columns = [{column.name: column.title for column in matrix.columns} for matrix in (old, new)]
    yield from lacking("the matrix", "columns", *columns)
    cells = [{column.name: column.cells for column in matrix.columns} for matrix in (old, new)]
    for name in (name for name in cells[1] if name in cells[0]):
        both = (cells[0][name], cells[1][name])
        yield from lacking("the matrix", f"cells of {columns[1][name]}", *both)
    told = [
        {f"{entry.claim} on {entry.column}": entry.words for entry in matrix.entries
         if entry.claim in ids and entry.column in columns[0] and entry.column in columns[1]}
        for matrix in (old, new)
    ]  # fmt: skip
    yield from lacking("the matrix", "entries", *told)
    for where in (where for where in told[0] if where in told[1]):
        words = [entries[where] for entries in told]
        yield from ranked(where, "entry of the matrix", STANDINGS, *words)


def verdict(tally: Tally) -> str:
    """Overall verdict of a tally, the worst first: violated, undecided, holds, never tested."""
    if tally.violated:
        return "violated"
    return "undecided" if tally.undecided else "holds" if tally.holds else "never tested"


def proof(claim: ClaimRecord) -> str:
    """How a claim is proved."""
    return "proved" if claim.proved else "argued in prose" if claim.argued else "not proved"


def axioms(claim: ClaimRecord) -> list[str]:
    """The textbook theorems that its ledgers take without proof."""
    return list(dict.fromkeys(name for ledger in claim.ledgers for name in ledger.axioms))


def definitions(claim: ClaimRecord) -> list[str]:
    """The functions that its ledgers define."""
    return list(dict.fromkeys(d.name for ledger in claim.ledgers for d in ledger.definitions))


def judged(tally: Tally) -> int:
    """The checks that are no vacuous ones."""
    return tally.total - tally.vacuous


def unseeded(old: ClaimRecord, new: ClaimRecord) -> list[str]:
    """Attacks of both that draw nothing now; the schema before said of all that they draw."""
    return [name for name, one in new.attacks.items() if name in old.attacks and not one.seeded]
