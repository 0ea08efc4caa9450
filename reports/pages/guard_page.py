"""The page of a guard: each model with its verdict, the change since its baseline, the remedy."""

from urllib.parse import quote

from markupsafe import Markup, escape

from rnnbounds.reports.pages.changes import table
from rnnbounds.reports.pages.experiment import (
    Block,
    Cell,
    Page,
    Paragraph,
    Section,
    Table,
    Verdict,
    render_experiment,
)
from rnnbounds.reports.pages.figures.dates import iso_date
from rnnbounds.reports.pages.memory import next_steps
from rnnbounds.reports.pages.text import NOTHING, plural, readable, up
from rnnbounds.reports.pages.trends import of_run
from rnnbounds.reports.records.guarded import Guarded, Outcome
from rnnbounds.reports.redact import redacted

TONES = {"certified": "good", "stated": "good", "refuted": "bad"}


def guard_page(found: Guarded) -> Page:
    """The models that fail first; each that was read has a page of its own in a folder of its
    name."""
    order = sorted(found.outcomes, key=lambda one: one.passes)
    failing = bool(found.problems)
    return Page(
        title="Models of the project",
        kicker=f"guard · {iso_date(found.finished)}",
        verdict=Verdict(found.verdict, "bad" if failing else "good"),
        lead=_lead(order),
        failed=failing,
        sections=(_overview(order), *map(_model, order)),
    )


def render_guard(found: Guarded) -> bytes:
    """One self-contained page, UTF-8."""
    return render_experiment(guard_page(found))


def _lead(order: list[Outcome]) -> str:
    """Which models fail."""
    failing = [one.name for one in order if not one.passes]
    if not failing:
        return f"{plural(len(order), 'model')} keep what pyproject.toml asks."
    return f"These do not keep what pyproject.toml asks: {', '.join(failing)}."


def _overview(order: list[Outcome]) -> Section:
    rows = tuple(
        (one.name, _guarded(one), _verdict(one),
         NOTHING if one.lam is None else up(one.lam, 6), NOTHING if one.k is None else str(one.k),
         NOTHING if one.changes is None else one.changes.summary)
        for one in order
    )  # fmt: skip
    columns = ("model", "guard", "verdict", "λ", "k", "since the baseline")
    return Section("All models", (Table(columns, rows, frozenset((3, 4)), look="cards"),))


def _guarded(one: Outcome) -> Cell:
    return Verdict("not read", "bad") if one.unread else of_run(one.passes)


def _verdict(one: Outcome) -> Cell:
    tone = TONES.get(one.verdict, "open")
    return Verdict(one.verdict, tone) if one.verdict else NOTHING  # type: ignore[arg-type]


def _model(one: Outcome) -> Section:
    """Why it fails, the answer, what changed, what to do."""
    blocks: list[Block] = [Paragraph(f"Fails: {line}.") for line in problems_of(one)]
    blocks.append(Paragraph(redacted(one.line)))
    blocks += [
        block for section in since(one) for block in (Paragraph(section.title), *section.blocks)
    ]
    blocks += [block for section in next_steps({}, one.advice) for block in section.blocks]
    if not one.unread:
        link = f'<a href="{escape(quote(one.name))}/index.html">{escape(readable(one.name))}</a>'
        blocks.append(Paragraph(Markup(f"Its page: {link}")))
    return Section(one.name, tuple(blocks))


def problems_of(one: Outcome) -> tuple[str, ...]:
    """Why a model fails, but for what the table of changes since its baseline says."""
    rows = () if one.changes is None else one.changes.failing
    listed = tuple(f": {row.line}" for row in rows)
    others = tuple(redacted(line) for line in one.problems if not line.endswith(listed))
    return others or (("it is worse than its baseline",) if rows else ())


def since(one: Outcome) -> tuple[Section, ...]:
    """Section with the changes since the baseline; () if there are none."""
    if one.changes is None or not one.changes.rows:
        return ()
    return (Section("Changes since the baseline", (table(one.changes),)),)
