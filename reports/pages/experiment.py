"""Pages of experiments: sections of paragraphs, tables and figures.

A page is a value: `render_experiment` makes HTML of it, and its tables can be told as text.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from rnnbounds.reports.pages.figures import Series, draw_plot
from rnnbounds.reports.records.changes import Changes

Tone = Literal["good", "bad", "open"]


@dataclass(frozen=True)
class Paragraph:
    """Plain text; a Markup (as `mathml` returns it) stands as it is."""

    text: str


@dataclass(frozen=True)
class Code:
    """A command or a program, kept as typed."""

    text: str


@dataclass(frozen=True)
class Verdict:
    """An answer in a word, in colour: good, bad, or open, where nothing is decided.

    It begins the lead of a page, or is a cell of a table.
    """

    word: str
    tone: Tone

    def __str__(self) -> str:
        return self.word


Cell = str | Verdict


@dataclass(frozen=True)
class Table:
    """A table; cells are texts or verdicts, a cell of a numeric column is set to the right.

    look: on a narrow screen each row of "cards" is a list, with the head of its column before each
    cell.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    numeric: frozenset[int] = frozenset()
    caption: str = ""
    look: Literal["", "cards"] = ""


@dataclass(frozen=True)
class Plot:
    """At most six lines with a caption; they are drawn when the page is rendered."""

    lines: Sequence[Series]
    x_label: str
    y_label: str
    caption: str
    log_y: bool = False

    @property
    def svg(self) -> Markup:
        """The figure; raises FigureError."""
        labels = {"x_label": self.x_label, "y_label": self.y_label}
        return draw_plot(self.lines, **labels, log_y=self.log_y)


@dataclass(frozen=True)
class Drawing:
    """A figure that is drawn already, its legend (class in the style sheet, label), a caption."""

    svg: Markup
    legend: Sequence[tuple[str, str]]
    caption: str


@dataclass(frozen=True)
class Folded:
    """Blocks behind a line that unfolds them."""

    title: str
    blocks: "tuple[Block, ...]"


Block = Paragraph | Code | Table | Plot | Drawing | Folded | Changes


@dataclass(frozen=True)
class Section:
    """A titled run of blocks."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Page:
    """Sections under a title; with `problems`, or if it `failed` for reasons that its sections
    list, the page says unmistakably that it fails."""

    title: str
    sections: tuple[Section, ...]
    lead: str = ""
    verdict: Verdict | None = None
    kicker: str = ""
    problems: tuple[str, ...] = ()
    failed: bool = False
    environment: Sequence[tuple[str, str]] = ()

    @property
    def fails(self) -> bool:
        """True if the page says that something fails."""
        return self.failed or bool(self.problems)

    @property
    def tables(self) -> tuple[Table, ...]:
        """All tables in order, folded ones too."""
        blocks = (block for section in self.sections for block in _unfold_blocks(section.blocks))
        return tuple(block for block in blocks if isinstance(block, Table))


def render_page(page: Page) -> bytes:
    """One self-contained page, UTF-8."""
    from rnnbounds.reports.pages.frame import load_templates  # slow to import, with its templates

    template = load_templates().get_template("experiment.html.j2")
    return template.render(page=page, kind=lambda block: type(block).__name__.lower()).encode()


def _unfold_blocks(blocks: Iterable[Block]) -> Iterator[Block]:
    for block in blocks:
        yield from _unfold_blocks(block.blocks) if isinstance(block, Folded) else (block,)


def render_changes_page(changes: Changes) -> bytes:
    """One self-contained page, UTF-8."""
    page = Page(
        title=f"{changes.summary[:1].upper()}{changes.summary[1:]}",
        kicker="compare",
        lead=f"From {changes.old} to {changes.new}.",
        verdict=Verdict("fails", "bad") if changes.failing else Verdict("passes", "good"),
        failed=bool(changes.failing),
        sections=(Section("What changed", (changes,)),) if changes.rows else (),
    )
    return render_page(page)
