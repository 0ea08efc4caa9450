"""The page of a guard: each model with its verdict, the change since its baseline, the remedy."""

from urllib.parse import quote

from markupsafe import Markup, escape

from rnnbounds.reports.pages.changes import changes_table
from rnnbounds.reports.pages.experiment import (
    Block,
    Cell,
    Page,
    Paragraph,
    Section,
    Table,
    Verdict,
    render_page,
)
from rnnbounds.reports.pages.figures.dates import iso_date
from rnnbounds.reports.pages.model.memory import length_text, next_sections
from rnnbounds.reports.pages.text import NOTHING, escape_unprintable, plural, round_up
from rnnbounds.reports.pages.trends import pass_verdict
from rnnbounds.reports.records.guarded import GuardResults, ModelOutcome
from rnnbounds.reports.redact import redact

TONES = {"certified": "good", "stated": "good", "refuted": "bad"}


def guard_page(results: GuardResults) -> Page:
    """The models that fail first; each that was read has a page of its own in a folder of its
    name."""
    outcomes = sorted(results.outcomes, key=lambda model: model.passes)
    failing = bool(results.problems)
    return Page(
        title="Models of the project",
        kicker=f"guard · {iso_date(results.finished)}",
        verdict=Verdict(results.verdict, "bad" if failing else "good"),
        lead=_lead(outcomes),
        failed=failing,
        sections=(_overview(outcomes), *map(_model_section, outcomes)),
    )


def render_guard_page(results: GuardResults) -> bytes:
    """One self-contained page, UTF-8."""
    return render_page(guard_page(results))


def _lead(outcomes: list[ModelOutcome]) -> str:
    """Which models fail."""
    failing = [model.name for model in outcomes if not model.passes]
    if not failing:
        return f"{plural(len(outcomes), 'model')} keep what pyproject.toml asks."
    return f"These do not keep what pyproject.toml asks: {', '.join(failing)}."


def _overview(outcomes: list[ModelOutcome]) -> Section:
    rows = tuple(
        (model.name, _pass_cell(model), _verdict_cell(model),
         NOTHING if model.lam is None else round_up(model.lam, 6), length_text(model.k),
         NOTHING if model.changes is None else model.changes.summary)
        for model in outcomes
    )  # fmt: skip
    columns = ("model", "guard", "verdict", "λ", "k", "since the baseline")
    return Section("All models", (Table(columns, rows, frozenset((3, 4)), look="cards"),))


def _pass_cell(model: ModelOutcome) -> Cell:
    return Verdict("not read", "bad") if model.unread else pass_verdict(model.passes)


def _verdict_cell(model: ModelOutcome) -> Cell:
    tone = TONES.get(model.verdict, "open")
    return Verdict(model.verdict, tone) if model.verdict else NOTHING  # type: ignore[arg-type]


def _model_section(model: ModelOutcome) -> Section:
    """Why it fails, the answer, what changed, what to do."""
    blocks: list[Block] = [Paragraph(f"Fails: {line}.") for line in unlisted_problems(model)]
    blocks.append(Paragraph(redact(model.line)))
    blocks += [
        block
        for section in changes_sections(model)
        for block in (Paragraph(section.title), *section.blocks)
    ]
    blocks += [block for section in next_sections({}, model.advice) for block in section.blocks]
    if not model.unread:
        name = escape(escape_unprintable(model.name))
        link = f'<a href="{escape(quote(model.name))}/index.html">{name}</a>'
        blocks.append(Paragraph(Markup(f"Its page: {link}")))
    return Section(model.name, tuple(blocks))


def unlisted_problems(model: ModelOutcome) -> tuple[str, ...]:
    """Why a model fails, but for what the table of changes since its baseline says."""
    rows = () if model.changes is None else model.changes.failing
    endings = tuple(f": {row.line}" for row in rows)
    remaining = tuple(redact(line) for line in model.problems if not line.endswith(endings))
    return remaining or (("it is worse than its baseline",) if rows else ())


def changes_sections(model: ModelOutcome) -> tuple[Section, ...]:
    """Section with the changes since the baseline; () if there are none."""
    if model.changes is None or not model.changes.rows:
        return ()
    return (Section("Changes since the baseline", (changes_table(model.changes),)),)
