"""The page of a run: one self-contained HTML file, whole without JavaScript or network.

Made from the record alone. Every string of a record is escaped, its MathML filtered, and the page's
own policy forbids loads and every script but its own; the same record gives the same bytes.
"""

import csv
import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rnnbounds.reports.files import write_all
from rnnbounds.reports.pages.frame import load_templates
from rnnbounds.reports.records import record
from rnnbounds.reports.records.changes import Changes, escape_markdown, shorten
from rnnbounds.reports.records.codec import encode
from rnnbounds.reports.records.outcome import claim_problems, run_problems
from rnnbounds.reports.text import NOTHING, Number, count, is_finite, plural, ratio_text

FILES, CURVES = ("run.json", "index.html"), "curves.csv"
LIST_LIMIT = 10
"""Checks of one list that a page shows; the record has all, each with its replay command."""
# A browser closes these by itself where the next one begins or what holds them ends.
_ENDS = re.compile(r"</(?:td|th|tr|li|dt|dd)>")
GROUPS = {
    "contraction": "Contraction",
    "memory": "Memory",
    "gradients": "Gradients",
    "training": "Training",
    "unitary": "Unitary networks",
}
OTHER_GROUP = "Other claims"


@dataclass(frozen=True)
class SummaryRow:
    """One claim's row in the table of claims."""

    claim: record.ClaimRecord
    problems: tuple[str, ...]
    attacks: tuple[tuple[str, record.AttackRecord], ...]

    @property
    def convicted(self) -> int:
        """How many of the false variants were refuted."""
        return sum(variant.convicted for variant in self.claim.variants)

    @property
    def best_attack(self) -> str:
        """The first attack that reached the greatest ratio."""
        best = self.claim.best_ratio
        names = (name for name, attack in self.attacks if attack.best_ratio == best)
        return "" if best is None else next(names, "")

    @property
    def longest_survival(self) -> int:
        """How many systems the hardiest of the false variants stood before it was refuted."""
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


def summarise_run(run: record.Run, changes: Changes | None = None) -> Summary:
    """The verdict in words, of the run and of what regressed, and the rows of the table."""
    run_attacks = {name for claim in run.claims for name in claim.attacks}
    attacks = tuple(name for name in run.attacks if name in run_attacks)
    attacks += tuple(sorted(run_attacks.difference(attacks)))
    rows = tuple(
        SummaryRow(
            claim,
            tuple(claim_problems(claim)),
            tuple((name, claim.attacks[name]) for name in attacks if name in claim.attacks),
        )
        for claim in run.claims
    )
    failures = tuple(run_problems(run))
    regressed = () if changes is None else changes.failing
    return Summary(
        _headline(run, bool(failures), bool(regressed)),
        _lead_paragraph(run, bool(failures)),
        failures + tuple(f"{row.kind}: {row.line}" for row in regressed),
        attacks, rows, _judged_counts(run), _proof_lines(run), _trust_lines(run),
        _machine_line(run.environment, run.seed),
    )  # fmt: skip


def _headline(run: record.Run, fails: bool, regressed: bool) -> str:
    """One sentence: the failing claims, else how much is proved and attacked."""
    claims = run.claims
    if fails:
        failing = sum(bool(claim_problems(claim)) for claim in claims)
        failed = f" {count(failing)} of {plural(len(claims), 'claim')} failed." if failing else ""
        return f"This run fails.{failed}"
    forms, assuming = _count_forms(run), sum(len(claim.assuming) for claim in claims)
    which = f"1 claim, {claims[0].id}, " if len(claims) == 1 else ""
    inclusions = f", {count(assuming)} of them from an assumed inclusion" if assuming else ""
    pairs = plural(sum(claim.pairs for claim in claims), "pair")
    sentence = (
        f"{which}{plural(forms, 'form')} proved{inclusions}; attacked on {pairs} of system and "
        f"input, none violated"
    )
    return f"{sentence}, but something regressed." if regressed else f"{sentence}."


def _lead_paragraph(run: record.Run, fails: bool) -> str:
    """The counts behind the headline."""
    claims, variants = run.claims, sum(len(claim.variants) for claim in run.claims)
    checks = plural(sum(claim.tally.total - claim.tally.vacuous for claim in claims), "check")
    if fails:
        violated = sum(claim.tally.violated for claim in claims)
        undecided = sum(claim.tally.undecided for claim in claims)
        refuted = sum(variant.convicted for claim in claims for variant in claim.variants)
        return (
            f"Of {checks}, {count(violated)} are violated and {count(undecided)} undecided; "
            f"{count(refuted)} of {plural(variants, 'false variant')} refuted."
        )
    vacuous = sum(claim.tally.vacuous for claim in claims)
    skipped = f" {count(vacuous)} more are vacuous, which is no evidence." if vacuous else ""
    refuted_all = (
        f" All {plural(variants, 'deliberately false variant')} of the claims were refuted."
        if variants
        else ""
    )
    return f"Attack: {checks}; none is violated, none undecided.{skipped}{refuted_all}"


def _machine_line(environment: record.Environment, seed: int) -> str:
    """Seed, device, workers and versions of a run in one line."""
    versions = environment.versions
    packages = (f"{name} {versions[name]}" for name in ("rnnbounds", "torch", "python")
                if name in versions)  # fmt: skip
    workers = plural(environment.workers, "worker") if environment.workers else ""
    return " · ".join(filter(None, (f"seed {seed}", environment.device, workers, *packages)))


def _judged_counts(run: record.Run) -> tuple[str, ...]:
    claims = run.claims
    counts = (
        f"{plural(len(claims), 'claim')} in {plural(_count_forms(run), 'form')}",
        plural(sum(claim.systems for claim in claims), "system"),
        plural(sum(claim.tally.total - claim.tally.vacuous for claim in claims), "check"),
        f"{count(sum(claim.escalated for claim in claims))} decided beyond float64",
    )
    seconds = run.environment.seconds
    return (*counts, f"{seconds:,.0f} seconds") if seconds else counts


def _count_forms(run: record.Run) -> int:
    return sum(len(claim.forms) for claim in run.claims)


def _ledgers(run: record.Run) -> list[record.LedgerRecord]:
    return [ledger for claim in run.claims for ledger in claim.ledgers]


def _proof_lines(run: record.Run) -> tuple[str, ...]:
    variants = [variant for claim in run.claims for variant in claim.variants]
    proved = sum(ledger.proved for ledger in _ledgers(run))
    return (
        f"{count(proved)} of {plural(_count_forms(run), 'form')}, step by step",
        plural(sum(len(ledger.steps) for ledger in _ledgers(run)), "step"),
        f"{count(sum(variant.convicted for variant in variants))} of"
        f" {plural(len(variants), 'false variant')} refuted",
    )


def _trust_lines(run: record.Run) -> tuple[str, ...]:
    """List what a run takes on trust: open claims, assumed inclusions, axioms."""
    open_claims = [claim.id for claim in run.claims if not claim.proved]
    lines = [f"not proved: {', '.join(open_claims)}"] if open_claims else []
    if named := [f"{c.id} ({len(c.assuming)})" for c in run.claims if c.assuming]:
        forms = plural(sum(len(claim.assuming) for claim in run.claims), "form")
        lines.append(f"{forms} derived from an assumed inclusion: {', '.join(named)}")
    if unmet := sum(not ledger.met for ledger in _ledgers(run)):
        lines.append(f"{plural(unmet, 'form')} whose assumptions no test shows to hold together")
    theorems = plural(len(used_theorems(run)), "textbook theorem")
    return (*lines, f"{theorems}, taken without proof")


def used_theorems(run: record.Run) -> tuple[record.Axiom, ...]:
    """The textbook theorems that the ledgers of a run use."""
    names = {name for ledger in _ledgers(run) for name in ledger.axioms}
    return tuple(theorem for theorem in run.axioms if theorem.name in names)


def environment_items(environment: record.Environment) -> list[tuple[str, str]]:
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


def unmet_assumptions(claim: record.ClaimRecord) -> list[tuple[str, int, tuple[str, str]]]:
    """The assumptions that made checks vacuous: name, number of checks, text typeset and plain.

    The name `finite X` stands for a constant X without a finite bound.
    """
    texts = {
        id: (typeset, plain)
        for form in reversed(claim.forms)
        for id, typeset, plain in form.assumption_texts
    }
    rows = []
    for name, number in sorted(claim.vacuous_by_assumption.items()):
        symbol = name.removeprefix("finite ")
        unbounded = "" if symbol == name else f"the constant {symbol} has no finite bound there"
        if number:
            rows.append((name, number, texts.get(name, ("", unbounded))))
    return rows


def render_run(run: record.Run, changes: Changes | None = None) -> bytes:
    """The page of the run, UTF-8, with what changed since a baseline."""
    templates = load_templates()
    templates.filters |= {"reach": nines_share, "unmet": unmet_assumptions}
    page = templates.get_template("page.html.j2").render(
        run=run, summary=summarise_run(run, changes), changes=changes, shown=LIST_LIMIT,
        environment=environment_items(run.environment), theorems=used_theorems(run),
        symbols={symbol.name: symbol for symbol in run.symbols},
    )  # fmt: skip
    return _ENDS.sub("", page).encode()


def write_report(
    run: record.Run, folder: Path, names: Sequence[str] = FILES, changes: Changes | None = None
) -> None:
    """Write the named files into the folder, each atomically, none unless all can be: run.json,
    index.html, and curves.csv where it is named.

    Raises RecordError for a run without a JSON form and WriteError for a bad place.
    """
    makers = {
        "run.json": lambda: encode(run),
        "index.html": lambda: render_run(run, changes),
        CURVES: lambda: curves_csv(run),
    }
    write_all(folder, {name: makers[name]() for name in names})


SHOWN = 20  # problems; the record has all
HEADS = ("claim", "proof", "holds", "violated", "undecided", "tightest lhs/rhs", "refuted")


def markdown(run: record.Run, changes: Changes | None = None) -> str:
    """The verdict, what changed since a baseline, what fails, and a row for each claim."""
    failures = run_problems(run)
    verdict = "all bounds hold" if not failures else plural(len(failures), "problem")
    if changes is not None and changes.failing:
        verdict += (
            f"{', but' if not failures else ','} {plural(len(changes.failing), 'regression')}"
        )
    checks = plural(sum(claim.checks for claim in run.claims), "check")
    conditions = f"profile {run.profile}, seed {run.seed}"
    lines = [
        f"## rnnbounds: {verdict}",
        "",
        f"{plural(len(run.claims), 'claim')}, {checks}, {escape_markdown(conditions)}.",
        "",
    ]
    if changes is not None:
        lines += ["### What changed", "", changes.markdown]
    if failures:
        lines += [
            "### What fails",
            "",
            *(f"- {escape_markdown(shorten(line))}" for line in failures[:SHOWN]),
        ]
        lines += [f"- and {len(failures) - SHOWN} more"] if len(failures) > SHOWN else []
        lines.append("")
    lines += [f"| {' | '.join(HEADS)} |", "|" + "---|" * len(HEADS)]
    lines += [f"| {' | '.join(map(escape_markdown, _claim_row(claim)))} |" for claim in run.claims]
    return "\n".join((*lines, ""))


def _claim_row(claim: record.ClaimRecord) -> tuple[str, ...]:
    tally, best = claim.tally, claim.best_ratio
    refuted = sum(variant.convicted for variant in claim.variants)
    return (
        shorten(claim.id),
        claim.standing,
        *map(count, (tally.holds, tally.violated, tally.undecided)),
        NOTHING if best is None else ratio_text(best),
        f"{refuted} of {len(claim.variants)}",
    )


COLUMNS = ("claim", "form", "against", "at", "largest_seen", "bound")


def curves_csv(run: record.Run) -> bytes:
    """UTF-8 in the order of the page; numbers are the record's, to the last digit.

    Columns: claim, form; `against` is k, N or T and `at` its value; the largest left side that was
    seen there, and the bound of that very check.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for claim in run.claims:
        for form in claim.forms:
            if form.curve is not None:
                row_head = (claim.id, form.name, form.curve.against)
                writer.writerows((*row_head, p.at, p.lhs, p.rhs) for p in form.curve.points)
    return text.getvalue().encode()
