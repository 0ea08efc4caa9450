"""The page of a run: one self-contained HTML file, whole without JavaScript or network.

Made from the record alone. Every string of a record is escaped, its MathML filtered, and the page's
own policy forbids loads and every script but its own; the same record gives the same bytes.
"""

import csv
import io
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rnnbounds.reports.files import write_all
from rnnbounds.reports.pages.frame import load_templates
from rnnbounds.reports.records import record
from rnnbounds.reports.records.changes import Changes, escape_markdown, shorten
from rnnbounds.reports.records.checks import Tally
from rnnbounds.reports.records.codec import encode
from rnnbounds.reports.records.outcome import claim_problems, run_problems
from rnnbounds.reports.text import (
    NOTHING,
    Number,
    count,
    is_finite,
    plural,
    ratio_text,
    rounded_count,
)

FILES, CURVES = ("run.json", "index.html"), "curves.csv"
LIST_LIMIT = 10
"""Checks of one list that a page shows; the record has all, each with its replay command."""
# A browser closes these by itself where the next one begins or what holds them ends.
_ENDS = re.compile(r"</(?:td|th|tr|li|dt|dd)>")
MAIN_CLAIM = "truncation"  # Lemma 1 of Miller & Hardt, whose gap against k leads the page


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
    """The first screen: the verdict in a line, four numbers (number, what of, meaning), the claim
    whose curve is shown, and a row for each claim."""

    headline: str
    problems: tuple[str, ...]
    numbers: tuple[tuple[str, str, str], ...]
    attacks: tuple[str, ...]
    rows: tuple[SummaryRow, ...]
    machine: str

    @property
    def papers(self) -> dict[str, list[SummaryRow]]:
        """The rows by the first work that a claim cites, both in the order of the record."""
        papers: dict[str, list[SummaryRow]] = {}
        for row in self.rows:
            works = row.claim.works
            papers.setdefault(works[0].title if works else "Other claims", []).append(row)
        return papers

    @property
    def main(self) -> record.ClaimRecord | None:
        """The claim of the main theorem, if it was attacked at two windows or more."""
        claims = (row.claim for row in self.rows if row.claim.id == MAIN_CLAIM)
        return next((claim for claim in claims if claim.forms and claim.forms[0].curve), None)


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
    regressed = () if changes is None else changes.failing
    problems = (*run_problems(run), *(f"{row.kind}: {row.line}" for row in regressed))
    return Summary(
        _headline(run, problems), problems, tuple(_numbers(run)), attacks, rows,
        _machine_line(run.environment, run.seed),
    )  # fmt: skip


def _headline(run: record.Run, problems: Sequence[str]) -> str:
    """The verdict in a line; of a run that fails the first reason."""
    if problems:
        others = f", and {count(len(problems) - 1)} more" if problems[1:] else ""
        return f"This run fails: {problems[0]}{others}."
    claims = run.claims
    subject = f"All {plural(len(claims), 'bound')} hold"
    if not claims:
        subject = f"All {plural(len(run.guarantees), 'guarantee')} hold"
    elif len(claims) == 1:
        subject = f"{claims[0].title}: this bound holds"
    tallies = [part.tally for part in claims or run.guarantees]
    checks = rounded_count(sum(tally.total - tally.vacuous for tally in tallies))
    mistakes = any(claim.variants for claim in claims)
    found = ", every planted mistake was found" if mistakes else ""
    return f"{subject}: {checks} checks, none violated{found}."


def _numbers(run: record.Run) -> Iterator[tuple[str, str, str]]:
    """Four numbers of a run, each with what it counts and what that means."""
    claims = run.claims
    forms = [form for claim in claims for form in claim.forms]
    ledgers = [ledger for claim in claims for ledger in claim.ledgers]
    variants = [variant for claim in claims for variant in claim.variants]
    works = {work.title for claim in claims for work in claim.works[:1]}
    yield (
        count(len(claims)), "claim" if len(claims) == 1 else "claims",
        f"stated with explicit constants in {plural(len(forms), 'form')}, from "
        f"{plural(len(works), 'paper')}",
    )  # fmt: skip
    assuming = sum(bool(ledger.presupposed) for ledger in ledgers)
    assume = "assumes" if assuming == 1 else "assume"
    assumed = f"; {count(assuming)} {assume} an inclusion, named beside the claim" * bool(assuming)
    yield (
        f"{count(sum(ledger.proved for ledger in ledgers))} of {count(len(forms))}", "forms proved",
        f"by machine in {plural(sum(len(ledger.steps) for ledger in ledgers), 'step')}, from "
        f"{plural(len(used_theorems(run)), 'textbook theorem')}{assumed}",
    )  # fmt: skip
    tally = Tally()
    for claim in claims:
        tally = tally.merge(claim.tally)
    vacuous = f"; {count(tally.vacuous)} more say nothing and are not counted" * bool(tally.vacuous)
    yield (
        count(tally.total - tally.vacuous), "checks",
        f"of {plural(sum(claim.pairs for claim in claims), 'pair')} of system and input: "
        f"{count(tally.violated)} violated, {count(tally.undecided)} undecided, "
        f"{count(sum(claim.escalated for claim in claims))} decided beyond float64{vacuous}",
    )  # fmt: skip
    found = sum(variant.convicted and variant.ledger_fails for variant in variants)
    yield (
        f"{count(found)} of {count(len(variants))}", "planted mistakes found",
        "false variants of the claims that the same attacks refute and that no ledger proves",
    )  # fmt: skip


def _machine_line(environment: record.Environment, seed: int) -> str:
    """Seed, device, workers, time and versions of a run in one line."""
    versions = environment.versions
    packages = (f"{name} {versions[name]}" for name in ("rnnbounds", "torch", "python")
                if name in versions)  # fmt: skip
    workers = plural(environment.workers, "worker") if environment.workers else ""
    seconds = f"{environment.seconds:,.0f} seconds" if environment.seconds else ""
    parts = (f"seed {seed}", environment.device, workers, seconds, *packages)
    return " · ".join(filter(None, parts))


def used_theorems(run: record.Run) -> tuple[record.Axiom, ...]:
    """The textbook theorems that the ledgers of a run use."""
    names = {name for claim in run.claims for ledger in claim.ledgers for name in ledger.axioms}
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
    rows = []
    for name, number in sorted(claim.vacuous_by_assumption.items()):
        symbol = name.removeprefix("finite ")
        unbounded = "" if symbol == name else f"the constant {symbol} has no finite bound there"
        if number:
            rows.append((name, number, _assumption_texts(claim).get(name, ("", unbounded))))
    return rows


def assumed_inclusions(claim: record.ClaimRecord) -> list[tuple[str, str]]:
    """The inclusions that forms of the claim assume, each once: text typeset and plain."""
    names = dict.fromkeys(name for ledger in claim.ledgers for name in ledger.presupposed)
    texts = _assumption_texts(claim)
    return [texts.get(name, ("", name)) for name in names]


def _assumption_texts(claim: record.ClaimRecord) -> dict[str, tuple[str, str]]:
    """The text of each assumption, typeset and plain, as its first form has it."""
    return {
        id: (typeset, plain)
        for form in reversed(claim.forms)
        for id, typeset, plain in form.assumption_texts
    }


def render_run(run: record.Run, changes: Changes | None = None) -> bytes:
    """The page of the run, UTF-8, with what changed since a baseline."""
    templates = load_templates()
    templates.filters |= {
        "reach": nines_share, "unmet": unmet_assumptions, "assumed": assumed_inclusions,
    }  # fmt: skip
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
