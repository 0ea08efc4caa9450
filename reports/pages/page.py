"""The page of a run: one self-contained HTML file, readable without JavaScript or network.

Made from the record alone. Every string of a record is escaped, its MathML filtered, and the
page's own policy forbids scripts and loads; the same record gives the same bytes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment as Templates
from jinja2 import FileSystemLoader, StrictUndefined
from markupsafe import Markup

from reports.files import write_all
from reports.pages import text
from reports.pages.chart import chart
from reports.pages.mathml import mathml
from reports.records.changes import Changes
from reports.records.codec import encode
from reports.records.ledger import Axiom
from reports.records.matrix import Column, Entry
from reports.records.number import Number, finite
from reports.records.outcome import claim_problems, problems
from reports.records.record import AttackRecord, ClaimRecord, Environment, Run

FILES = ("run.json", "index.html")


@dataclass(frozen=True)
class Row:
    """What the table of claims says of one claim."""

    claim: ClaimRecord
    problems: tuple[str, ...]
    attacks: tuple[tuple[str, AttackRecord], ...]
    steps: int
    axioms: int
    convicted: int
    best_attack: str


@dataclass(frozen=True)
class Summary:
    """The first screen: the verdict in words, and a row for each claim."""

    headline: str
    lead: str
    problems: tuple[str, ...]
    attacks: tuple[str, ...]
    rows: tuple[Row, ...]


def render(run: Run, changes: Changes | None = None) -> bytes:
    """The page of the run, UTF-8, with what changed since a baseline."""
    page = templates().get_template("page.html.j2")
    return page.render(
        run=run, summary=summarise(run), changes=changes,
        environment=environment_items(run.environment),
    ).encode()  # fmt: skip


def write_report(
    run: Run, folder: Path, names: Sequence[str] = FILES, changes: Changes | None = None
) -> None:
    """Write run.json and index.html into the folder, each atomically, neither unless both can be.

    Raises RecordError for a run without a JSON form and WriteError for a bad place.
    """
    files = {"run.json": encode(run), "index.html": render(run, changes)}
    write_all(folder, {name: files[name] for name in names})


def summarise(run: Run) -> Summary:
    """The verdict of the run in words, and the rows of the table of claims."""
    ran = {name for claim in run.claims for name in claim.attacks}
    attacks = tuple(name for name in run.attacks if name in ran)
    attacks += tuple(sorted(ran.difference(attacks)))
    rows = tuple(_row(claim, attacks) for claim in run.claims)
    found = tuple(problems(run))
    headline = "This run fails." if found else "Every claim holds."
    return Summary(headline, _lead(rows, run.axioms, bool(found)), found, attacks, rows)


def environment_items(environment: Environment) -> list[tuple[str, str]]:
    """The environment as (name, text), in a fixed order, empty fields left out."""
    items = [
        ("command", environment.command),
        ("started", environment.started),
        ("finished", environment.finished),
        ("seconds", f"{environment.seconds:.1f}" if environment.seconds else ""),
        ("platform", environment.platform),
        ("device", environment.device),
        ("threads", str(environment.threads or "")),
        ("workers", str(environment.workers or "")),
    ]
    items += sorted(environment.versions.items())
    items += sorted(environment.float_settings.items())
    items += [(f"seconds: {name}", f"{s:.1f}") for name, s in sorted(environment.durations.items())]
    return [(name, item) for name, item in items if item]


def templates() -> Templates:
    """The room's templates: everything escaped, every missing name an error."""
    loader = FileSystemLoader(Path(__file__).parent / "templates")
    environment = Templates(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        finalize=visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "anchor": lambda name: "claim-" + quote(name, safe=""),
        "chart": chart,
        "count": text.count,
        "error": text.error,
        "mathml": mathml,
        "plural": lambda number, noun: text.plural(number, noun),
        "ratio": text.ratio,
        "reach": reach,
        "seen": seen,
        "spec_items": text.spec_items,
        "value": text.value,
    }
    return environment


def visible(value: object) -> object:
    """What a template puts in; text that is no markup yet is made readable."""
    if type(value) is str:  # nearly all that a page holds
        return text.readable(value)
    plain = isinstance(value, str) and not isinstance(value, Markup)
    return text.readable(str(value)) if plain else value


def reach(ratio: Number | None) -> int:
    """How many nines the ratio has, as a percentage of nine, for the bar behind it."""
    if ratio is None or not finite(ratio):
        return 0
    gap = min(max(1 - float(ratio), 1e-9), 1.0)
    return round(-100 * math.log10(gap) / 9)


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


def _lead(rows: tuple[Row, ...], theorems: tuple[Axiom, ...], fails: bool) -> str:
    claims = [row.claim for row in rows]
    proved = sum(claim.proved for claim in claims)
    checks = sum(claim.checks for claim in claims)
    pairs = sum(claim.pairs for claim in claims)
    violated = sum(claim.tally.violated for claim in claims)
    undecided = sum(claim.tally.undecided for claim in claims)
    variants = sum(len(claim.variants) for claim in claims)
    convicted = sum(row.convicted for row in rows)
    if fails:
        return (
            f"{text.plural(len(claims), 'claim')}, {text.count(proved)} of them proved. Of"
            f" {text.plural(checks, 'check')} on {text.plural(pairs, 'pair')} of system and input,"
            f" {text.count(violated)} are violated and {text.count(undecided)} undecided;"
            f" {text.count(convicted)} of {text.plural(variants, 'false variant')} convicted."
        )
    steps = sum(row.steps for row in rows)
    used = {name for claim in claims for ledger in claim.ledgers for name in ledger.axioms}
    laws = sum(theorem.laws for theorem in theorems if theorem.name in used)
    proofs = f"proved in {text.plural(steps, 'step')}"
    if proved < len(claims):
        prose = sum(len(claim.human) for claim in claims)
        proofs = (
            f"{text.count(proved)} of them proved and {text.count(len(claims) - proved)} resting on"
            f" {text.plural(prose, 'step')} in prose; {text.plural(steps, 'step')} in all"
        )
    return (
        f"{text.plural(len(claims), 'claim')}, {proofs} from"
        f" {text.plural(laws, 'law')} of {text.plural(len(used), 'textbook theorem')}, stood"
        f" {text.plural(checks, 'check')} on"
        f" {text.plural(pairs, 'pair')} of system and input: none violated, none undecided."
        f" All {text.plural(variants, 'false variant')} were convicted."
    )
