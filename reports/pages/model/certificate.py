"""Pages of certificates, made from their JSON documents alone."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from rnnbounds.reports.files import write_all
from rnnbounds.reports.pages.experiment import (
    Block,
    Code,
    Folded,
    Page,
    Paragraph,
    Section,
    Table,
    render_page,
)
from rnnbounds.reports.pages.model.answer import answer_sentence, document_verdict
from rnnbounds.reports.pages.model.constants import find_constant, is_lower_bound
from rnnbounds.reports.pages.model.memory import (
    Document,
    inputs_text,
    memory_section,
    next_sections,
)
from rnnbounds.reports.pages.model.origin import norms_table, origin_sections
from rnnbounds.reports.pages.text import NOTHING, bound_text, round_up
from rnnbounds.reports.words import capitalise

FILES = ("certificate.json", "index.html")
TITLES = {
    "lambda": "λ", "sha256": "SHA-256", "eps": "ε", "tensors": "read from", "unread": "not read",
    "rounds_to_one": "decays that may round to 1",
}  # fmt: skip
STATED_FIELDS = (
    "lambda", "norm", "input_bound", "inputs", "readout", "states", "rounding",
    "rounds_to_one", "gain", "skipped",
)  # fmt: skip
MODEL_FIELDS = (
    "model",
    "cell",
    "shape",
    "dtype",
    "tensors",
    "ignored",
    "unread",
    "sha256",
    "schema",
)
OTHER_FIELDS = (
    "truncation", "next", "attacked", "stable", "constants", "norms_tried", "verdict", "reason",
)  # fmt: skip
_MOST = 8  # numbers that a page shows one after another


def certificate_page(
    document: Document,
    title: str,
    check_command: str = "",
    *,
    measurement: Document | None = None,
    extra_sections: Sequence[Section] = (),
    next_lines: Sequence[str] = (),
) -> Page:
    """The answer, how long the model remembers and what to do next, `more` sections, where λ comes
    from, then what the certificate says, part by part.

    `check` is the command to try it with, `seen` what was measured, `next` further lines of what to
    do next.
    """
    fields = {name: value for name, value in document.items() if value not in (None, "", [], {})}
    sections = [memory_section(document, measurement)] if "truncation" in document else []
    sections += [*next_sections(document, next_lines), *extra_sections]
    if check_command:
        words = Paragraph("A program of its own proves it anew, in ball arithmetic, without torch:")
        sections.append(Section("Check it", (words, Code(check_command))))
    sections += origin_sections(document)
    scalars = [n for n, value in fields.items() if not isinstance(value, (dict, list, tuple))]
    shown = [
        n
        for n in (*STATED_FIELDS, *scalars)
        if n in fields and n not in (*MODEL_FIELDS, *OTHER_FIELDS)
    ]
    blocks: list[Block] = [_facts_table(document, dict.fromkeys(shown))]
    if "constants" in fields:
        blocks.append(
            Folded("All constants, with their definitions", (_constants_table(document),))
        )
    sections.append(Section("The certificate", tuple(blocks)))
    if "norms_tried" in fields:
        sections.append(Section("Norms that were tried", (norms_table(document),)))
    sections.append(
        Section("The model", (_facts_table(document, [n for n in MODEL_FIELDS if n in fields]),))
    )
    remaining = [name for name in fields if name not in (*shown, *MODEL_FIELDS, *OTHER_FIELDS)]
    folded = tuple(Folded(_heading(name), tuple(_value_blocks(fields[name]))) for name in remaining)
    if folded:
        sections.append(Section("The rest of the record", folded))
    verdict = document_verdict(document)
    return Page(
        title, tuple(sections), _lead(document, title), verdict, kicker="certificate",
        failed=document.get("verdict") == "refuted",
    )  # fmt: skip


def _lead(document: Document, title: str) -> str:
    """The answer in a sentence, and of which inputs it speaks."""
    answer = answer_sentence(document, title)
    if document.get("verdict") == "undecided":  # other answers begin with the model's name
        answer = capitalise(answer)
    prefix = f"{answer}. " if answer else ""
    if document.get("input_bound") is None and not document.get("inputs"):
        return prefix.rstrip()
    return f"{prefix}This speaks of all inputs with {inputs_text(document)}."


def _constants_table(document: Document) -> Table:
    cell = str(document.get("cell"))
    rows = []
    for name, value in document["constants"].items():
        definition = find_constant(name, cell)
        text = (
            "not bounded"
            if value is None
            else repr(value)
            if is_lower_bound(name)
            else bound_text(value)
        )
        rows.append((definition.symbol, name, text, definition.meaning))
    return Table(
        ("constant", "name in the record", "value", "definition"), tuple(rows), frozenset((2,)),
        "Upper bounds, rounded up; the record has all digits.",
    )  # fmt: skip


def write_certificate(document: Mapping[str, Any], folder: Path, page: Page) -> None:
    """Write certificate.json and index.html into the folder, both or neither; raises WriteError."""
    write_all(folder, certificate_files(document, page))


def certificate_files(document: Mapping[str, Any], page: Page) -> dict[str, bytes]:
    """Both, by their names."""
    data = msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"
    return {"certificate.json": data, "index.html": render_page(page)}


def _value_blocks(item: Any) -> list[Block]:
    if isinstance(item, dict):
        return [_facts_table(item, item)]
    rows = [row for row in item if isinstance(row, dict)]
    if len(rows) < len(item):
        return [Paragraph(_plain_text(item))]
    columns = tuple(dict.fromkeys(key for row in rows for key in row))
    cells = tuple(tuple(_field_text(key, row.get(key)) for key in columns) for row in rows)
    numbers = [
        index
        for index, key in enumerate(columns)
        if all(isinstance(row.get(key), (int, float, type(None))) for row in rows)
    ]
    return [Table(tuple(map(_field_title, columns)), cells, frozenset(numbers))]


def _facts_table(values: Document, names: Iterable[str]) -> Table:
    rows = tuple((_field_title(name), _field_text(name, values[name])) for name in names)
    return Table(("what", "is"), rows)


def _field_text(name: str, value: Any) -> str:
    """A value as text, in words of its own where it has some."""
    if name == "lambda" and isinstance(value, float):
        return (
            round_up(value)
            if value < 1
            else f"{round_up(value)}, an upper bound that proves nothing"
        )
    if name == "inputs" and isinstance(value, dict) and "what" in value:
        return str(value["what"])
    if name == "tensors" and isinstance(value, dict):
        return ", ".join(sorted(map(str, value.values())))
    if name == "rounding" and isinstance(value, dict) and "dtype" in value:
        state = value.get("state")
        reason = f": {value['reason']}" if value.get("reason") else ""
        rounding = f"not bounded{reason}" if state is None else f"at most {bound_text(state, 3)}"
        return f"of {value['dtype']}, {rounding}"
    if name == "rounds_to_one" and isinstance(value, dict):
        return ", ".join(f"{count} in {dtype}" for dtype, count in value.items())
    if name == "skipped" and isinstance(value, list):
        return "; ".join(f"{entry['what']}: {entry['reason']}" for entry in value)
    return _plain_text(value)


def _field_title(name: str) -> str:
    return TITLES.get(name, name.replace("_", " "))


def _heading(name: str) -> str:
    return capitalise(_field_title(name))


def _plain_text(item: object) -> str:
    """A value as text; of a model's path its file alone."""
    if item is None or item == "":
        return NOTHING
    if isinstance(item, bool):
        return "yes" if item else "no"
    if isinstance(item, float):
        return repr(item)
    if isinstance(item, dict):
        return ", ".join(
            f"{_field_title(str(name))} {_plain_text(value)}" for name, value in item.items()
        )
    if isinstance(item, (list, tuple)):
        if len(item) > _MOST and all(isinstance(element, (float, list)) for element in item):
            return f"{len(item)} numbers or rows of numbers, in the record beside this page"
        return ", ".join(map(_plain_text, item)) or NOTHING
    return str(item)
