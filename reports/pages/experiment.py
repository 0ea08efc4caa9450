"""Pages of experiments: sections of paragraphs, tables and figures on the page of a run."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from reports.pages.page import templates


@dataclass(frozen=True)
class Paragraph:
    """Plain text; a Markup (as `mathml` returns it) stands as it is."""

    text: str


@dataclass(frozen=True)
class Code:
    """A command or a program, kept as typed."""

    text: str


@dataclass(frozen=True)
class Table:
    """A table; cells are texts, a cell of a numeric column is set to the right."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[int] = frozenset()
    caption: str = ""


@dataclass(frozen=True)
class Plot:
    """A figure drawn by `reports.pages.plot.plot`, with its caption."""

    svg: Markup
    caption: str


Block = Paragraph | Code | Table | Plot


@dataclass(frozen=True)
class Section:
    """A titled run of blocks."""

    title: str
    blocks: tuple[Block, ...]


def render_experiment(
    title: str,
    sections: Sequence[Section],
    *,
    lead: str = "",
    kicker: str = "",
    problems: Sequence[str] = (),
    environment: Sequence[tuple[str, str]] = (),
) -> bytes:
    """One self-contained page, UTF-8; with `problems` it says unmistakably that it fails."""
    page = templates().get_template("experiment.html.j2")
    return page.render(
        title=title,
        sections=[(section.title, [(_kind(b), b) for b in section.blocks]) for section in sections],
        lead=lead,
        kicker=kicker,
        problems=problems,
        environment=environment,
    ).encode()


def _kind(block: Block) -> str:
    return type(block).__name__.lower()
