"""Pages of certificates, made from their JSON documents alone."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from reports.files import write_all
from reports.pages.experiment import (
    Block,
    Code,
    Page,
    Paragraph,
    Plot,
    Section,
    Table,
    render_experiment,
)
from reports.pages.figures.figure import Series
from reports.pages.text import NOTHING
from reports.redact import redacted

FIRST = ("verdict", "reason", "lambda", "norm", "input_bound", "states", "cell")
FILES = ("certificate.json", "index.html")
TITLES = {
    "lambda": "λ",
    "next": "what to do next",
    "sha256": "SHA-256",
    "eps": "ε",
    "truncation": "how long it remembers",
}


def certificate_page(document: Mapping[str, Any], title: str, check: str = "") -> Page:
    """What the certificate says, each part of it a table; `check` is the command to try it with."""
    parts = {name: item for name, item in document.items() if isinstance(item, (dict, list, tuple))}
    facts = {name: item for name, item in document.items() if name not in parts}
    facts = {name: facts[name] for name in (*FIRST, *facts) if facts.get(name) not in (None, "")}
    sections = [Section("What is certified", (_facts(facts),))]
    sections += [Section(_heading(n), tuple(_blocks(n, item))) for n, item in parts.items() if item]
    if check:
        words = Paragraph("A program of its own proves it anew, in ball arithmetic, without torch:")
        sections.append(Section("Check it", (words, Code(check))))
    failing = document.get("verdict") not in (None, "certified")
    problems = (f"{document['verdict']}: {_told(document.get('reason'))}",) if failing else ()
    return Page(
        title, tuple(sections), lead=_lead(document), kicker="certificate", problems=problems
    )


def _lead(document: Mapping[str, Any]) -> str:
    """What it comes to in a line: how fast the model forgets, and how much of the past it needs."""
    if document.get("verdict") != "certified" or not isinstance(document.get("lambda"), float):
        return ""
    told = f"Certified: λ = {document['lambda']!r}"
    told += f" in the {document['norm']} norm" if document.get("norm") else ""
    told += f", for all inputs with ‖x_t‖₂ ≤ {_told(document.get('input_bound'))}."
    windows = [row for row in document.get("truncation") or () if row.get("k") is not None]
    if windows:
        ends = ", ".join(f"{row['k']} to within {_told(row['eps'])}" for row in windows)
        told += f" Of the last inputs so many fix the output: {ends}."
    return told


def write_certificate(document: Mapping[str, Any], folder: Path, page: Page) -> None:
    """Write certificate.json and index.html into the folder, both or neither; raises WriteError."""
    data = msgspec.json.format(msgspec.json.encode(_without_folders(document)), indent=2) + b"\n"
    write_all(folder, {"certificate.json": data, "index.html": render_experiment(page)})


def _without_folders(item: Any) -> Any:
    """The document with the file's name alone wherever it names the model."""
    if isinstance(item, Mapping):
        return {
            name: redacted(value)
            if name == "model" and isinstance(value, str)
            else _without_folders(value)
            for name, value in item.items()
        }
    return [_without_folders(each) for each in item] if isinstance(item, list) else item


def _blocks(name: str, item: Any) -> list[Block]:
    if isinstance(item, dict):
        return [_facts(item)]
    rows = [row for row in item if isinstance(row, dict)]
    if len(rows) < len(item):
        return [Paragraph(", ".join(map(_told, item)))]
    columns = tuple(dict.fromkeys(key for row in rows for key in row))
    cells = tuple(tuple(_told(row.get(key)) for key in columns) for row in rows)
    numbers = [
        index
        for index, key in enumerate(columns)
        if all(isinstance(row.get(key), (int, float)) for row in rows)
    ]
    table = Table(tuple(map(_title, columns)), cells, frozenset(numbers))
    return [*_memory(rows), table] if name == "truncation" else [table]


def _memory(rows: Sequence[Mapping[str, Any]]) -> list[Block]:
    """k against ε, where there are two to draw."""
    known = [row for row in rows if row.get("k") is not None and row.get("eps")]
    if len(known) < 2:
        return []
    ks, bounds = ([float(row[name]) for row in known] for name in ("k", "eps"))
    line = Series("outputs agree within ε", ks, bounds)
    told = "Two inputs that agree on their last k entries: outputs are within ε."
    return [Plot((line,), "window k, steps", "ε", told, log_y=True)]


def _facts(facts: Mapping[str, Any]) -> Table:
    return Table(("what", "is"), tuple((_title(name), _told(item)) for name, item in facts.items()))


def _title(name: str) -> str:
    return TITLES.get(name, name.replace("_", " "))


def _heading(name: str) -> str:
    title = _title(name)
    return title[:1].upper() + title[1:]


def _told(item: object) -> str:
    """A value as text; of a model's path its file alone."""
    if item is None or item == "":
        return NOTHING
    if isinstance(item, bool):
        return "yes" if item else "no"
    if isinstance(item, float):
        return repr(item)
    if isinstance(item, dict):
        return ", ".join(f"{_title(str(name))} {_told(value)}" for name, value in item.items())
    if isinstance(item, (list, tuple)):
        return ", ".join(map(_told, item)) or NOTHING
    return redacted(str(item))
