"""The page of a model on recorded data: the answer first, then each kind of answer by itself."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any

import msgspec

from rnnbounds.reports.files import write_all
from rnnbounds.reports.pages.experiment import (
    Code,
    Page,
    Paragraph,
    Section,
    Table,
    render_page,
)
from rnnbounds.reports.pages.model.certificate import certificate_page
from rnnbounds.reports.pages.model.measured import (
    answers_section,
    measurement_sentence,
    measurement_verdict,
)
from rnnbounds.reports.pages.model.memory import Document, next_sections
from rnnbounds.reports.pages.model.observed import detail_sections
from rnnbounds.reports.pages.text import plural

FILES = ("measurement.json", "certificate.json", "index.html")


def measurement_page(
    measurement: Document,
    certificate: Document,
    title: str,
    problems: Sequence[str] = (),
    options: Document | None = None,
) -> Page:
    """The answer on the data: a verdict, a sentence, the figure, what to do next, then the rest.

    `problems` are the reasons why it is not what was asked for. `read` is how the file was read, as
    `layer`, for the lines of pyproject.toml that the page shows; none are shown without it.
    """
    data = measurement["data"]
    return Page(
        title,
        (
            answers_section(measurement, certificate),
            *_next_sections(measurement, certificate, options),
            *detail_sections(measurement),
            _model_section(measurement, certificate),
        ),
        lead=measurement_sentence(measurement),
        verdict=measurement_verdict(measurement, tuple(problems)),
        kicker=f"measure · {plural(data['windows'], 'window')} of {plural(data['length'], 'input')}"
        f" from {data['source']}",
        problems=tuple(problems),
    )


def certified_and_measured_page(
    measurement: Document, certificate: Document, title: str, next_lines: Sequence[str] = ()
) -> Page:
    """The page of a certificate that was asked for, with what was measured on data."""
    page = certificate_page(
        _without_measuring(certificate), title, measurement=measurement, next_lines=next_lines,
        extra_sections=detail_sections(measurement),
    )  # fmt: skip
    leads = [page.lead, measurement_sentence(measurement)]
    if certificate["verdict"] != "certified":  # then what holds on the data comes first
        leads.reverse()
    return replace(page, lead=" ".join(leads).strip())


def _next_sections(
    measurement: Document, certificate: Document, options: Document | None
) -> list[Section]:
    """How to keep a k that is stated, then what helps a model that is not certified."""
    steps = next_sections(_without_measuring(certificate))
    statement = measurement["statement"]
    lines = [line for line in (statement or {"lines": ()})["lines"] if line["share"]]
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
    blocks = (
        Paragraph(f"Let CI keep {kept}: add this to pyproject.toml,"),
        Code(
            f"[tool.rnnbounds.models.{_toml_key(Path(str(measurement['model'])).stem)}]\n{entries}"
        ),
        Paragraph("and run:"),
        Code("rnnbounds guard"),
    )
    retitled = [replace(section, title="To certify it for every input") for section in steps]
    return [Section("What to do next", blocks), *retitled] if share else steps


def _without_measuring(certificate: Document) -> Document:
    """The certificate without the advice to measure the model, which was done."""
    advice = dict(certificate.get("next") or {})
    advice.pop("measure", None)
    return {**certificate, "next": advice}


def _model_section(measurement: Document, certificate: Document) -> Section:
    """Which model was measured on which data."""
    shape, data = measurement["shape"], measurement["data"]
    rows = [
        ("model", str(measurement["model"])),
        (
            "cell",
            f"{measurement['cell']}, {plural(shape['n'], 'state')}, "
            f"{plural(shape['d'], 'channel')}",
        ),
        ("SHA-256 of its weights", str(measurement["sha256"])),
        ("data", str(data["source"])),
        ("for every input", f"{certificate['verdict']}: certificate.json beside this page"),
    ]
    return Section("The model and the data", (Table(("what", "is"), tuple(rows)),))


def write_measurement(
    measurement: Document, certificate: Document, folder: Path, page: Page
) -> None:
    """Write both records and the page into the folder, all or none; raises WriteError."""
    files = {"measurement.json": measurement, "certificate.json": certificate}
    write_all(folder, {
        **{name: encode_document(document) for name, document in files.items()},
        "index.html": render_page(page),
    })  # fmt: skip


def encode_document(document: Document) -> bytes:
    """The document as JSON."""
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def _toml_key(name: str) -> str:
    """A name as a key of TOML, without quotes."""
    return re.sub(r"[^A-Za-z0-9_-]", "-", name) or "model"


def _toml_value(item: Any) -> str:
    """A text, a number, a list or an inline table in TOML."""
    if isinstance(item, Mapping):
        return f"{{ {', '.join(f'{name} = {_toml_value(one)}' for name, one in item.items())} }}"
    return msgspec.json.encode(item).decode()
