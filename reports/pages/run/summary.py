"""Summary at the top of a page: the verdict, the counts, what is not proved, a row per claim."""

import math
from dataclasses import dataclass

from rnnbounds.reports.pages import text
from rnnbounds.reports.pages.run.headline import (
    count_laws,
    count_standings,
    headline,
    lead_paragraph,
    used_theorems,
)
from rnnbounds.reports.records.basis import Standing, basis_phrase, count_derived
from rnnbounds.reports.records.changes import Changes
from rnnbounds.reports.records.matrix import Column, Entry, Matrix
from rnnbounds.reports.records.number import Number, is_finite
from rnnbounds.reports.records.outcome import claim_problems, run_problems
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
OTHER_GROUP = "Other claims"


@dataclass(frozen=True)
class SummaryRow:
    """One claim's row in the table of claims."""

    claim: ClaimRecord
    problems: tuple[str, ...]
    attacks: tuple[tuple[str, AttackRecord], ...]
    steps: int
    axioms: int
    convicted: int
    best_attack: str

    @property
    def longest_survival(self) -> int:
        """How many systems the hardiest of the false variants stood before it was convicted."""
        return max((variant.systems for variant in self.claim.variants), default=0)


@dataclass(frozen=True)
class Summary:
    """The first screen: the verdict in words, and a row for each claim."""

    headline: str
    lead: str
    problems: tuple[str, ...]
    attacks: tuple[str, ...]
    rows: tuple[SummaryRow, ...]
    judged: tuple[str, ...]
    proved: tuple[str, ...]
    unproved: tuple[str, ...]
    machine: str

    @property
    def groups(self) -> dict[str, list[SummaryRow]]:
        """The rows by their place in the theory, in its order."""
        has_groups = any(row.claim.group in GROUPS for row in self.rows)
        groups: dict[str, list[SummaryRow]] = {title: [] for title in GROUPS.values()}
        for row in self.rows:
            title = GROUPS.get(row.claim.group, OTHER_GROUP if has_groups else "Claims")
            groups.setdefault(title, []).append(row)
        return {title: rows for title, rows in groups.items() if rows}


def summarise_run(run: Run, changes: Changes | None = None) -> Summary:
    """The verdict in words, of the run and of what regressed, and the rows of the table."""
    run_attacks = {name for claim in run.claims for name in claim.attacks}
    attacks = tuple(name for name in run.attacks if name in run_attacks)
    attacks += tuple(sorted(run_attacks.difference(attacks)))
    rows = tuple(_summary_row(claim, attacks) for claim in run.claims)
    failures = tuple(run_problems(run))
    regressed = () if changes is None else changes.failing
    headline_text = headline(run, bool(failures), bool(regressed))
    lead_text = lead_paragraph(run, bool(failures))
    failures += tuple(f"{row.kind}: {row.line}" for row in regressed)
    texts = _judged_counts(run), _proof_lines(rows), _trust_lines(run, rows), _machine_line(run)
    return Summary(headline_text, lead_text, failures, attacks, rows, *texts)


def _machine_line(run: Run) -> str:
    """Seed, device, workers and versions of a run in one line."""
    environment = run.environment
    versions = environment.versions
    packages = ("rnnbounds", "torch", "python")
    package_versions = [f"{name} {versions[name]}" for name in packages if name in versions]
    workers = text.plural(environment.workers, "worker") if environment.workers else ""
    parts = [f"seed {run.seed}", environment.device, workers, *package_versions]
    return " · ".join(item for item in parts if item)


def _judged_counts(run: Run) -> tuple[str, ...]:
    claims = run.claims
    counts = (
        f"{text.plural(len(claims), 'claim')} in {text.plural(_count_forms(claims), 'form')}",
        text.plural(sum(claim.systems for claim in claims), "system"),
        text.plural(sum(claim.tally.total - claim.tally.vacuous for claim in claims), "check"),
        f"{text.count(sum(claim.escalated for claim in claims))} decided beyond float64",
    )
    seconds = run.environment.seconds
    return (*counts, f"{seconds:,.0f} seconds") if seconds else counts


def _count_forms(claims: tuple[ClaimRecord, ...]) -> int:
    return sum(len(claim.forms) for claim in claims)


def _proof_lines(rows: tuple[SummaryRow, ...]) -> tuple[str, ...]:
    variants = sum(len(row.claim.variants) for row in rows)
    counts = count_standings(row.claim for row in rows)
    return (
        f"{text.count(count_derived(counts))} of"
        f" {text.plural(sum(counts.values()), 'form')}, step by step",
        f"{text.plural(sum(row.steps for row in rows), 'step')} by machine",
        f"{text.count(sum(row.convicted for row in rows))} of"
        f" {text.plural(variants, 'false variant')} refuted",
    )


def _trust_lines(run: Run, rows: tuple[SummaryRow, ...]) -> tuple[str, ...]:
    """List what a run takes on trust: open claims, assumptions, axioms, pairs not attacked."""
    open_claims = [row.claim.id for row in rows if not row.claim.proved]
    lines = [f"not proved: {', '.join(open_claims)}"] if open_claims else []
    kinds: tuple[Standing, ...] = ("inclusion assumed", "restates")
    for kind in kinds:
        counts = [list(row.claim.standings.values()).count(kind) for row in rows]
        if counted := [f"{row.claim.id} ({n})" for n, row in zip(counts, rows, strict=True) if n]:
            phrase_text = basis_phrase(kind, sum(counts))
            lines.append(f"{text.plural(sum(counts), 'form')} {phrase_text}: {', '.join(counted)}")
    if unmet := sum(not ledger.met for row in rows for ledger in row.claim.ledgers):
        lines.append(
            f"{text.plural(unmet, 'form')} whose assumptions no test shows to hold together"
        )
    lines.append(
        f"{text.plural(count_laws(run), 'law')} of"
        f" {text.plural(len(used_theorems(run)), 'textbook theorem')}, taken without proof"
    )
    if run.matrix is not None:
        standing = [entry.standing for entry in run.matrix.entries]
        for entry, words in (
            ("NOT YET PROVED", "not yet proved"),
            ("NOT ATTACKED", "not attacked"),
        ):
            if number := standing.count(entry):  # type: ignore[arg-type]
                lines.append(f"{text.plural(number, 'pair')} of claim and cell {words}")
    return tuple(lines)


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


def nines_share(ratio: Number | None) -> int:
    """How many nines the ratio has, as a percentage of nine, for the bar behind it."""
    if ratio is None or not is_finite(ratio):
        return 0
    distance = min(max(1 - float(ratio), 1e-9), 1.0)
    return round(-100 * math.log10(distance) / 9)


def applicable_columns(matrix: Matrix) -> list[Column]:
    """The columns that apply to some claim; all of them where none does."""
    names = {entry.column for entry in matrix.entries if entry.standing != "NOT APPLICABLE"}
    return [column for column in matrix.columns if column.name in names] or list(matrix.columns)


def entry_text(entry: Entry, column: Column) -> str:
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
    unjudged = {
        "only vacuous": [cell for cell in entry.tallies if cell not in judged],
        "not drawn": [cell for cell in column.cells if cell not in entry.tallies],
    }
    remarks = [f"; {reason}: {', '.join(cells)}" for reason, cells in unjudged.items() if cells]
    return f"{entry.words}, checks that hold: {', '.join(counts)}{''.join(remarks)}"


def _summary_row(claim: ClaimRecord, order: tuple[str, ...]) -> SummaryRow:
    attacks = tuple((name, claim.attacks[name]) for name in order if name in claim.attacks)
    best = claim.best_ratio
    first = [name for name, attack in attacks if best is not None and attack.best_ratio == best]
    return SummaryRow(
        claim=claim,
        problems=tuple(claim_problems(claim)),
        attacks=attacks,
        steps=sum(len(ledger.steps) for ledger in claim.ledgers),
        axioms=len({name for ledger in claim.ledgers for name in ledger.axioms}),
        convicted=sum(variant.convicted for variant in claim.variants),
        best_attack=first[0] if first else "",
    )
