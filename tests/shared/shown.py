"""What a reader sees of a page, as text; and golden files, which `pytest --renew-golden` writes."""

from html.parser import HTMLParser
from pathlib import Path

import pytest

OWN_LINE = "h1 h2 h3 p li tr dt pre summary figcaption".split()
SILENT = ("style", "script", "title", "svg")


class Shown(HTMLParser):
    """The text of a page, a line for each piece or row; a figure is its description."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.lines = [""]
        self.inside: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in SILENT:
            self.inside.append(tag)
        if tag == "svg":
            self.lines.append(f"figure: {dict(attrs)['aria-label']}")
        elif tag in ("td", "th", "dd"):
            self.lines[-1] += "| "
        elif tag in OWN_LINE:
            self.lines.append("")

    def handle_endtag(self, tag: str) -> None:
        if self.inside and tag == self.inside[-1]:
            self.inside.pop()

    def handle_data(self, data: str) -> None:
        if not self.inside and data.strip():
            self.lines[-1] += f"{' '.join(data.split())} "

    def __str__(self) -> str:
        return "\n".join(line.strip() for line in self.lines)


def kept(path: Path, now: str, request: pytest.FixtureRequest) -> str:
    """What is kept of an output; with --renew-golden it is what it is now."""
    if request.config.getoption("--renew-golden"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(now, encoding="utf-8")
    return path.read_text(encoding="utf-8")
