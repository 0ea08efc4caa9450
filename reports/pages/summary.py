"""Summary at the top of a page: the verdict, the counts, what is not proved, a row per claim."""

import math
from dataclasses import dataclass

from rnnbounds.reports.pages import text
from rnnbounds.reports.pages.headline import headline, laws, lead, standings, theorems
from rnnbounds.reports.records.basis import Standing, derived, phrase
from rnnbounds.reports.records.changes import Changes
from rnnbounds.reports.records.matrix import Column, Entry, Matrix
from rnnbounds.reports.records.number import Number, finite
from rnnbounds.reports.records.outcome import claim_problems, problems
from rnnbounds.reports.records.record import AttackRecord, ClaimRecord, Environment, Run

GROUPS = {
    "contraction": "Contraction",
    "memory": "Memory",
    "gradients": "Gradients",
    "training": "Training",
    "unitary": "Unitary networks",
    "certificate": "The trust base",
    "rounding": "The trust base",
}
OTHERS = "Other claims"


@dataclass(frozen=True)
class Row:
    """One claim's row in the table of claims."""

    claim: ClaimRecord
    problems: tuple[str, ...]
    attacks: tuple[tuple[str, AttackRecord], ...]
    steps: int
    axioms: int
    convicted: int
    best_attack: str

    @property
    def last(self) -> int:
        """How many systems the hardiest of the false variants stood before it was convicted."""
        return max((variant.systems for variant in self.claim.variants), default=0)


@dataclass(frozen=True)
class Summary:
    """The first screen: the verdict in words, and a row for each claim."""

    headline: str
    lead: str
    problems: tuple[str, ...]
    attacks: tuple[str, ...]
    rows: tuple[Row, ...]
    judged: tuple[str, ...]
    proved: tuple[str, ...]
    unproved: tuple[str, ...]
    machine: str

    @property
    def groups(self) -> dict[str, list[Row]]:
        """The rows by their place in the theory, in its order."""
        known = any(row.claim.group in GROUPS for row in self.rows)
        groups: dict[str, list[Row]] = {title: [] for title in GROUPS.values()}
        for row in self.rows:
            title = GROUPS.get(row.claim.group, OTHERS if known else "Claims")
            groups.setdefault(title, []).append(row)
        return {title: rows for title, rows in groups.items() if rows}


def summarise(run: Run, changes: Changes | None = None) -> Summary:
    """The verdict in words, of the run and of what regressed, and the rows of the table."""
    ran = {name for claim in run.claims for name in claim.attacks}
    attacks = tuple(name for name in run.attacks if name in ran)
    attacks += tuple(sorted(ran.difference(attacks)))
    rows = tuple(_row(claim, attacks) for claim in run.claims)
    found = tuple(problems(run))
    regressed = () if changes is None else changes.failing
    first = headline(run, bool(found), bool(regressed))
    said = lead(run, bool(found))
    found += tuple(f"{row.kind}: {row.line}" for row in regressed)
    told = _judged(run), _proved(rows), _unproved(run, rows), _machine(run)
    return Summary(first, said, found, attacks, rows, *told)


def _machine(run: Run) -> str:
    """Seed, device, workers and versions of a run in one line."""
    environment = run.environment
    versions = environment.versions
    packages = ("rnnbounds", "torch", "python")
    named = [f"{name} {versions[name]}" for name in packages if name in versions]
    workers = text.plural(environment.workers, "worker") if environment.workers else ""
    told = [f"seed {run.seed}", environment.device, workers, *named]
    return " · ".join(item for item in told if item)


def _judged(run: Run) -> tuple[str, ...]:
    claims = run.claims
    told = (
        f"{text.plural(len(claims), 'claim')} in {text.plural(_forms(claims), 'form')}",
        text.plural(sum(claim.systems for claim in claims), "system"),
        text.plural(sum(claim.tally.total - claim.tally.vacuous for claim in claims), "check"),
        f"{text.count(sum(claim.escalated for claim in claims))} decided beyond float64",
    )
    seconds = run.environment.seconds
    return (*told, f"{seconds:,.0f} seconds") if seconds else told


def _forms(claims: tuple[ClaimRecord, ...]) -> int:
    return sum(len(claim.forms) for claim in claims)


def _proved(rows: tuple[Row, ...]) -> tuple[str, ...]:
    variants = sum(len(row.claim.variants) for row in rows)
    counts = standings(row.claim for row in rows)
    return (
        f"{text.count(derived(counts))} of"
        f" {text.plural(sum(counts.values()), 'form')}, step by step",
        f"{text.plural(sum(row.steps for row in rows), 'step')} by machine",
        f"{text.count(sum(row.convicted for row in rows))} of"
        f" {text.plural(variants, 'false variant')} refuted",
    )


def _unproved(run: Run, rows: tuple[Row, ...]) -> tuple[str, ...]:
    """List what a run takes on trust: open claims, assumptions, axioms, pairs not attacked."""
    open_claims = [row.claim.id for row in rows if not row.claim.proved]
    told = [f"not proved: {', '.join(open_claims)}"] if open_claims else []
    kinds: tuple[Standing, ...] = ("inclusion assumed", "restates")
    for kind in kinds:
        found = [list(row.claim.standings.values()).count(kind) for row in rows]
        if some := [f"{row.claim.id} ({n})" for n, row in zip(found, rows, strict=True) if n]:
            said = phrase(kind, sum(found))
            told.append(f"{text.plural(sum(found), 'form')} {said}: {', '.join(some)}")
    if unmet := sum(not ledger.met for row in rows for ledger in row.claim.ledgers):
        told.append(
            f"{text.plural(unmet, 'form')} whose assumptions no test shows to hold together"
        )
    told.append(
        f"{text.plural(laws(run), 'law')} of"
        f" {text.plural(len(theorems(run)), 'textbook theorem')}, taken without proof"
    )
    if run.matrix is not None:
        standing = [entry.standing for entry in run.matrix.entries]
        for entry, words in (
            ("NOT YET PROVED", "not yet proved"),
            ("NOT ATTACKED", "not attacked"),
        ):
            if number := standing.count(entry):  # type: ignore[arg-type]
                told.append(f"{text.plural(number, 'pair')} of claim and cell {words}")
    return tuple(told)


def environment_items(environment: Environment) -> list[tuple[str, str]]:
    """The environment as (name, text), in a fixed order, empty fields left out."""
    items = [
        ("command", environment.command),
        ("started", environment.started),
        ("finished", environment.finished),
        ("seconds", f"{environment.seconds:.1f}" if environment.seconds else ""),
        ("commit", environment.commit),
        ("platform", environment.platform),
        ("device", environment.device),
        ("threads", str(environment.threads or "")),
        ("workers", str(environment.workers or "")),
    ]
    items += sorted(environment.versions.items())
    items += sorted(environment.float_settings.items())
    items += [(f"seconds: {name}", f"{s:.1f}") for name, s in sorted(environment.durations.items())]
    return [(name, item) for name, item in items if item]


def reach(ratio: Number | None) -> int:
    """How many nines the ratio has, as a percentage of nine, for the bar behind it."""
    if ratio is None or not finite(ratio):
        return 0
    gap = min(max(1 - float(ratio), 1e-9), 1.0)
    return round(-100 * math.log10(gap) / 9)


def applying(matrix: Matrix) -> list[Column]:
    """The columns that apply to some claim; all of them where none does."""
    used = {entry.column for entry in matrix.entries if entry.standing != "NOT APPLICABLE"}
    return [column for column in matrix.columns if column.name in used] or list(matrix.columns)


def seen(entry: Entry, column: Column) -> str:
    """An entry in full: why, or its counts cell by cell, and the cells without a judged check."""
    if entry.reason:
        return f"{entry.words}: {entry.reason}"
    judged = {cell: tally for cell, tally in entry.tallies.items() if tally.total > tally.vacuous}
    counts = [
        f"{cell} {text.count(tally.holds)} of {text.count(tally.total - tally.vacuous)}"
        for cell, tally in judged.items()
    ]
    if not counts:
        return entry.words
    others = {
        "only vacuous": [cell for cell in entry.tallies if cell not in judged],
        "not drawn": [cell for cell in column.cells if cell not in entry.tallies],
    }
    rest = [f"; {why}: {', '.join(cells)}" for why, cells in others.items() if cells]
    return f"{entry.words}, checks that hold: {', '.join(counts)}{''.join(rest)}"


def _row(claim: ClaimRecord, order: tuple[str, ...]) -> Row:
    attacks = tuple((name, claim.attacks[name]) for name in order if name in claim.attacks)
    best = claim.best_ratio
    first = [name for name, attack in attacks if best is not None and attack.best_ratio == best]
    return Row(
        claim=claim,
        problems=tuple(claim_problems(claim)),
        attacks=attacks,
        steps=sum(len(ledger.steps) for ledger in claim.ledgers),
        axioms=len({name for ledger in claim.ledgers for name in ledger.axioms}),
        convicted=sum(variant.convicted for variant in claim.variants),
        best_attack=first[0] if first else "",
    )
