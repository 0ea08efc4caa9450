"""Pages of certificates, made from their JSON documents alone."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from rnnbounds.reports.files import write_all
from rnnbounds.reports.pages.answer import sentence, verdict_of
from rnnbounds.reports.pages.constants import constant, lower
from rnnbounds.reports.pages.experiment import (
    Block,
    Code,
    Folded,
    Page,
    Paragraph,
    Section,
    Table,
    render_experiment,
)
from rnnbounds.reports.pages.memory import Document, next_steps, remembers, within
from rnnbounds.reports.pages.origin import origin, tried
from rnnbounds.reports.pages.text import NOTHING, above, up
from rnnbounds.reports.redact import redacted, redacted_call

FILES = ("certificate.json", "index.html")
TITLES = {
    "lambda": "λ", "sha256": "SHA-256", "eps": "ε", "tensors": "read from", "unread": "not read",
    "rounds_to_one": "decays that may round to 1",
}  # fmt: skip
STATED = (
    "lambda", "norm", "input_bound", "inputs", "readout", "states", "rounding",
    "rounds_to_one", "gain", "skipped",
)  # fmt: skip
MODEL = ("model", "cell", "shape", "dtype", "tensors", "ignored", "unread", "sha256", "schema")
ELSEWHERE = (
    "truncation", "next", "attacked", "stable", "constants", "norms_tried", "verdict", "reason",
)  # fmt: skip
_NAMING: Mapping[str, Callable[[str], str]] = {"model": redacted, "measure": redacted_call}
_LONG = 8  # numbers that a page shows one after another


def certificate_page(
    document: Document,
    title: str,
    check: str = "",
    *,
    seen: Document | None = None,
    more: Sequence[Section] = (),
    next: Sequence[str] = (),
) -> Page:
    """The answer, how long the model remembers and what to do next, `more` sections, where λ comes
    from, then what the certificate says, part by part.

    `check` is the command to try it with, `seen` what was measured, `next` further lines of what to
    do next.
    """
    known = {name: item for name, item in document.items() if item not in (None, "", [], {})}
    sections = [remembers(document, seen)] if "truncation" in document else []
    sections += [*next_steps(document, next), *more]
    if check:
        words = Paragraph("A program of its own proves it anew, in ball arithmetic, without torch:")
        sections.append(Section("Check it", (words, Code(check))))
    sections += origin(document)
    plain = [n for n, item in known.items() if not isinstance(item, (dict, list, tuple))]
    stated = [n for n in (*STATED, *plain) if n in known and n not in (*MODEL, *ELSEWHERE)]
    blocks: list[Block] = [_facts(document, dict.fromkeys(stated))]
    if "constants" in known:
        blocks.append(Folded("All constants, with their definitions", (_constants(document),)))
    sections.append(Section("The certificate", tuple(blocks)))
    if "norms_tried" in known:
        sections.append(Section("Norms that were tried", (tried(document),)))
    sections.append(Section("The model", (_facts(document, [n for n in MODEL if n in known]),)))
    rest = [name for name in known if name not in (*stated, *MODEL, *ELSEWHERE)]
    folded = tuple(Folded(_heading(name), tuple(_blocks(known[name]))) for name in rest)
    if folded:
        sections.append(Section("The rest of the record", folded))
    verdict = verdict_of(document)
    return Page(
        title, tuple(sections), _lead(document, title), verdict, kicker="certificate",
        failed=document.get("verdict") == "refuted",
    )  # fmt: skip


def _lead(document: Document, title: str) -> str:
    """The answer in a sentence, and of which inputs it speaks."""
    told = sentence(document, title)
    answered = f"{told}. " if told else ""
    if document.get("input_bound") is None and not document.get("inputs"):
        return answered.rstrip()
    return f"{answered}This speaks of all inputs with {within(document)}."


def _constants(document: Document) -> Table:
    cell = str(document.get("cell"))
    rows = []
    for name, value in document["constants"].items():
        told = constant(name, cell)
        shown = "not bounded" if value is None else repr(value) if lower(name) else above(value)
        rows.append((told.symbol, name, shown, told.meaning))
    return Table(
        ("constant", "name in the record", "value", "definition"), tuple(rows), frozenset((2,)),
        "Upper bounds, rounded up; the record has all digits.",
    )  # fmt: skip


def write_certificate(document: Mapping[str, Any], folder: Path, page: Page) -> None:
    """Write certificate.json and index.html into the folder, both or neither; raises WriteError."""
    write_all(folder, certificate_files(document, page))


def certificate_files(document: Mapping[str, Any], page: Page) -> dict[str, bytes]:
    """Both, by their names."""
    data = msgspec.json.format(msgspec.json.encode(without_folders(document)), indent=2) + b"\n"
    return {"certificate.json": data, "index.html": render_experiment(page)}


def without_folders(item: Any) -> Any:
    """The document with the file's name alone wherever it names the model, or a command does."""
    if isinstance(item, Mapping):
        return {
            name: _NAMING[name](value)
            if name in _NAMING and isinstance(value, str)
            else without_folders(value)
            for name, value in item.items()
        }
    return [without_folders(each) for each in item] if isinstance(item, list) else item


def _blocks(item: Any) -> list[Block]:
    if isinstance(item, dict):
        return [_facts(item, item)]
    rows = [row for row in item if isinstance(row, dict)]
    if len(rows) < len(item):
        return [Paragraph(_told(item))]
    columns = tuple(dict.fromkeys(key for row in rows for key in row))
    cells = tuple(tuple(_named(key, row.get(key)) for key in columns) for row in rows)
    numbers = [
        index
        for index, key in enumerate(columns)
        if all(isinstance(row.get(key), (int, float, type(None))) for row in rows)
    ]
    return [Table(tuple(map(_title, columns)), cells, frozenset(numbers))]


def _facts(told: Document, names: Iterable[str]) -> Table:
    rows = tuple((_title(name), _named(name, told[name])) for name in names)
    return Table(("what", "is"), rows)


def _named(name: str, item: Any) -> str:
    """A value as text, in words of its own where it has some."""
    if name == "lambda" and isinstance(item, float):
        return up(item) if item < 1 else f"{up(item)}, an upper bound that proves nothing"
    if name == "inputs" and isinstance(item, dict) and "what" in item:
        return str(item["what"])
    if name == "tensors" and isinstance(item, dict):
        return ", ".join(sorted(map(str, item.values())))
    if name == "rounding" and isinstance(item, dict) and "dtype" in item:
        state = item.get("state")
        why = f": {item['reason']}" if item.get("reason") else ""
        told = f"not bounded{why}" if state is None else f"at most {above(state, 3)}"
        return f"of {item['dtype']}, {told}"
    if name == "rounds_to_one" and isinstance(item, dict):
        return ", ".join(f"{count} in {dtype}" for dtype, count in item.items())
    if name == "skipped" and isinstance(item, list):
        return "; ".join(f"{one['what']}: {one['reason']}" for one in item)
    return _told(item)


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
        if len(item) > _LONG and all(isinstance(one, (float, list)) for one in item):
            return f"{len(item)} numbers or rows of numbers, in the record beside this page"
        return ", ".join(map(_told, item)) or NOTHING
    return redacted(str(item))
