"""The page of an answer: a certificate, a measurement on recorded data, or both, from their JSON
documents alone. The answer comes first, then what to do next, then each part by itself."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any

import msgspec

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
from rnnbounds.reports.pages.model.answer import (
    STRONG_SHARE,
    Document,
    answer_sentence,
    causal_sentence,
    document_verdict,
    inputs_text,
    measurement_sentence,
    measurement_verdict,
    on_data_sentences,
    witness_meaning,
)
from rnnbounds.reports.pages.model.details import detail_sections
from rnnbounds.reports.pages.model.facts import fact_sections, model_section, origin_sections
from rnnbounds.reports.pages.model.memory import memory_section, next_sections
from rnnbounds.reports.text import capitalise, plural

MEASUREMENT, CERTIFICATE, INDEX = "measurement.json", "certificate.json", "index.html"


def certificate_page(
    document: Document,
    title: str,
    check_command: str = "",
    *,
    measurement: Document | None = None,
    next_lines: Sequence[str] = (),
) -> Page:
    """The answer of a certificate, how long the model remembers, what to do next, what was measured
    on data if something was, then where λ comes from and what the certificate says, part by part.

    `check_command` tries it; `next_lines` are further lines of what to do next.
    """
    sections = [memory_section(document, measurement)] if "truncation" in document else []
    sections += next_sections(document, next_lines, measurement is not None)
    sections += [] if measurement is None else detail_sections(measurement)
    if check_command:
        words = Paragraph("A program of its own proves it anew, in ball arithmetic, without torch:")
        sections.append(Section("Check it", (words, Code(check_command))))
    sections += [*origin_sections(document), *fact_sections(document)]
    leads = [_certificate_lead(document, title, measurement is not None)]
    leads += [] if measurement is None else [measurement_sentence(measurement)]
    if document.get("verdict") == "undecided":  # then what holds on the data comes first
        leads.reverse()
    return Page(
        title, tuple(sections), " ".join(leads).strip(), document_verdict(document),
        kicker="certificate", failed=document.get("verdict") == "refuted",
    )  # fmt: skip


def on_data_page(document: Document, title: str, check_command: str) -> Page:
    """The record of a truncated model whose k is known of recorded inputs alone: no certificate."""
    proved = "delta" in document
    words = "It proves k again" if proved else "It compares the weights with those of --source"
    words += ", by the program that wrote it:" if proved else ", and proves nothing:"
    sections = (Section("Check it", (Paragraph(words), Code(check_command))),)
    return Page(
        title, (*sections, model_section(document)), on_data_sentences(document),
        document_verdict(document), kicker="truncated on recorded inputs",
    )  # fmt: skip


def measurement_page(
    measurement: Document,
    certificate: Document | None,
    title: str,
    problems: Sequence[str] = (),
    options: Document | None = None,
    next_lines: Sequence[str] = (),
) -> Page:
    """The answer on the data: a verdict, a sentence, the figure, what to do next, then the rest; of
    a model that was run as it is without a certificate.

    `problems` are the reasons why it is not what was asked for. `options` is how the file was read,
    as `layer`, for the lines of pyproject.toml that the page shows; none are shown without it.
    `next_lines` are further lines of what to do next.
    """
    data, as_is = measurement["data"], certificate is None
    steps = (
        [] if certificate is None else _next_sections(measurement, certificate, options, next_lines)
    )
    lead = causal_sentence(measurement) if as_is else measurement_sentence(measurement)
    return Page(
        title,
        (
            memory_section(certificate, measurement), *steps, *detail_sections(measurement),
            _model_section(measurement, certificate),
        ),
        lead=lead,
        verdict=measurement_verdict(measurement, problems),
        kicker=f"measure{', as it is' * as_is} · {plural(data['windows'], 'window')} of "
        f"{plural(data['length'], 'input')} from {data['source']}",
        problems=tuple(problems),
    )  # fmt: skip


def answer_files(
    page: Page, *, certificate: Document | None = None, measurement: Document | None = None
) -> dict[str, bytes]:
    """The records as JSON and their page, by file name."""
    records = {MEASUREMENT: measurement, CERTIFICATE: certificate}
    files = {
        name: msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n"
        for name, record in records.items()
        if record is not None
    }
    return files | {INDEX: render_page(page)}


def _certificate_lead(document: Document, title: str, measured: bool) -> str:
    """The answer in a sentence, what a witness means, and of which inputs that speaks."""
    answer = answer_sentence(document, title)
    if meaning := witness_meaning(document):
        answer += f". {capitalise(meaning.removesuffix(': measure it') if measured else meaning)}"
    if document.get("verdict") == "undecided":  # other answers begin with the model's name
        answer = capitalise(answer)
    prefix = f"{answer}. " if answer else ""
    if document.get("input_bound") is None and not document.get("inputs"):
        return prefix.rstrip()
    return f"{prefix}This speaks of all inputs with {inputs_text(document)}."


def _next_sections(
    measurement: Document, certificate: Document, options: Document | None,
    call_lines: Sequence[str],
) -> list[Section]:  # fmt: skip
    """How to keep a k that is stated, then what helps a model that is not certified."""
    steps = next_sections(certificate, call_lines, measured=True)
    statement = measurement["statement"]
    stated = (statement or {"lines": ()})["lines"]
    lines = [line for line in stated if line["share"] and line["share"] >= STRONG_SHARE]
    if not lines or options is None:
        return steps
    line, share = lines[0], floor(Fraction(lines[0]["share"]) * 100) / 100
    question = {
        "model": str(measurement["model"]), "cell": measurement["cell"],
        **{name: value for name, value in options.items() if value},
        "data": str(measurement["data"]["source"]),
        "window": measurement["data"]["length"],
        "eps": line["eps"], "share": share, "confidence": statement["confidence"],
        "at-most": line["k"],
    }  # fmt: skip
    entries = "\n".join(f"{name} = {_toml_value(value)}" for name, value in question.items())
    near_data = measurement.get("near")
    kept = "it so" if near_data is None else "the stated k (guard certifies nothing near the data)"
    key = re.sub(r"[^A-Za-z0-9_-]", "-", Path(str(measurement["model"])).stem) or "model"
    blocks = (
        Paragraph(f"Let CI keep {kept}: add this to pyproject.toml,"),
        Code(f"[tool.rnnbounds.models.{key}]\n{entries}"),
        Paragraph("and run:"),
        Code("rnnbounds guard"),
    )
    further = [replace(section, title="Further steps") for section in steps]
    return [Section("What to do next", blocks), *further] if share else steps


def _model_section(measurement: Document, certificate: Document | None) -> Section:
    """Which model was measured on which data, and how."""
    rows = [("model", str(measurement["model"])), ("data", str(measurement["data"]["source"]))]
    if certificate is None:
        run = measurement["run"]
        tried = run["causality"] == "tried"
        causal = (
            "no output changed when later inputs did" if tried else "not tried: one output a window"
        )
        rows += [
            ("run", f"{run['inputs']} inputs on {run['device']}, "
                    f"at most {plural(run['batch'], 'window')} at once"),
            ("outputs", f"{plural(run['outputs'], 'number')}, causality: {causal}"),
        ]  # fmt: skip
    else:
        states, channels = (measurement["shape"][name] for name in "nd")
        sizes = f"{plural(states, 'state')}, {plural(channels, 'channel')}"
        rows += [
            ("cell", f"{measurement['cell']}, {sizes}"),
            ("for every input", certificate["verdict"]),
        ]
    blocks: list[Block] = [Table(("what", "is"), tuple(rows))]
    if certificate is not None:
        if certificate["verdict"] == "refuted":
            blocks.append(Paragraph(_certificate_lead(certificate, "The model", measured=True)))
        blocks.append(Folded("SHA-256 of its weights", (Code(str(measurement["sha256"])),)))
    return Section("The model and the data", tuple(blocks))


def _toml_value(item: Any) -> str:
    """A text, a number, a list or an inline table in TOML."""
    if isinstance(item, Mapping):
        return f"{{ {', '.join(f'{name} = {_toml_value(one)}' for name, one in item.items())} }}"
    return msgspec.json.encode(item).decode()
