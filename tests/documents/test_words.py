"""What users read is in the field's words: documentation, help and pages have none of our own."""

import re
from pathlib import Path

import pytest
from jinja2 import Environment
from jinja2.lexer import TOKEN_DATA

from rnnbounds.cli import main
from rnnbounds.program import COMMANDS

ROOT = Path(__file__).parents[2]
OURS = re.compile(
    r"\b(told|hunt\w*|quarry|herd|convict\w*|fallen|rider|ridden|crew|hired|farewell|epitaph|"
    r"referee\w*|sabotaged|undisturbed|foreign)\b",
    re.IGNORECASE,
)
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "SECURITY.md"]
PAGES += sorted(
    path
    for path in (ROOT / "docs").rglob("*.md")
    if path.parent.name not in ("generated", "records")
)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_documents(path: Path) -> None:
    """Prose and programs alike."""
    assert OURS.findall(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)], ids=" ".join)
def test_help(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """Of the program and of each command."""
    assert main([*command, "--help"]) == 0
    assert OURS.findall(capsys.readouterr().out) == []


@pytest.mark.parametrize(
    "path", sorted((ROOT / "reports" / "pages" / "templates").glob("*.j2")), ids=lambda p: p.stem
)
def test_templates_of_pages(path: Path) -> None:
    """The text between what is filled in, tags left out."""
    source = path.read_text(encoding="utf-8")
    data = "".join(text for _, kind, text in Environment().lex(source) if kind == TOKEN_DATA)
    assert OURS.findall(re.sub(r"<[^>]*>", " ", data)) == []
