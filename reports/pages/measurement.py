"""The page of a model on recorded data: the answer first, then each kind of answer by itself."""

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any

import msgspec

from rnnbounds.reports.files import write_all
from rnnbounds.reports.pages.certificate import certificate_page, without_folders
from rnnbounds.reports.pages.experiment import (
    Code,
    Page,
    Paragraph,
    Section,
    Table,
    render_experiment,
)
from rnnbounds.reports.pages.measured import answers, sentence, verdict
from rnnbounds.reports.pages.memory import Document, next_steps
from rnnbounds.reports.pages.observed import details
from rnnbounds.reports.pages.text import plural
from rnnbounds.reports.redact import redacted

FILES = ("measurement.json", "certificate.json", "index.html")


def measurement_page(
    seen: Document,
    certificate: Document,
    title: str,
    problems: Sequence[str] = (),
    read: Document | None = None,
) -> Page:
    """The answer on the data: a verdict, a sentence, the figure, what to do next, then the rest.

    `problems` are the reasons why it is not what was asked for. `read` is how the file was read, as
    `layer`, for the lines of pyproject.toml that the page shows; none are shown without it.
    """
    data = seen["data"]
    return Page(
        title,
        (
            answers(seen, certificate),
            *_next(seen, certificate, read),
            *details(seen),
            _about(seen, certificate),
        ),
        lead=sentence(seen),
        verdict=verdict(seen, tuple(problems)),
        kicker=f"measure · {plural(data['windows'], 'window')} of {plural(data['length'], 'input')}"
        f" from {redacted(str(data['source']))}",
        problems=tuple(problems),
    )


def certified_and_measured_page(seen: Document, certificate: Document, title: str) -> Page:
    """The page of a certificate that was asked for, with what was measured on data."""
    page = certificate_page(certificate, title, seen=seen, more=details(seen))
    return replace(page, lead=f"{page.lead} {sentence(seen)}".strip())


def _next(seen: Document, certificate: Document, read: Document | None) -> list[Section]:
    """How to keep a k that is stated, then what helps a model that is not certified."""
    told = dict(certificate.get("next") or {})
    told.pop("measure", None)  # it was done
    helps = next_steps({**certificate, "next": told})
    stated = seen["statement"]
    lines = [line for line in (stated or {"lines": ()})["lines"] if line["share"]]
    if not lines or read is None:
        return helps
    line, share = lines[0], floor(Fraction(lines[0]["share"]) * 100) / 100
    asked = {
        "model": redacted(str(seen["model"])), "cell": seen["cell"],
        **{name: value for name, value in read.items() if value},
        "data": redacted(str(seen["data"]["source"])), "window": seen["data"]["length"],
        "eps": line["eps"], "share": share, "confidence": stated["confidence"],
        "at-most": line["k"],
    }  # fmt: skip
    kept = "\n".join(f"{name} = {_value(value)}" for name, value in asked.items())
    keep = (
        Paragraph("Let CI keep it so: add this to pyproject.toml,"),
        Code(f"[tool.rnnbounds.models.{_key(Path(str(seen['model'])).stem)}]\n{kept}"),
        Paragraph("and run:"),
        Code("rnnbounds guard"),
    )
    more = [replace(one, title="To certify it for every input") for one in helps]
    return [Section("What to do next", keep), *more] if share else helps


def _about(seen: Document, certificate: Document) -> Section:
    """Which model was measured on which data."""
    shape, data = seen["shape"], seen["data"]
    rows = [
        ("model", redacted(str(seen["model"]))),
        ("cell", f"{seen['cell']}, {plural(shape['n'], 'state')}, {plural(shape['d'], 'channel')}"),
        ("SHA-256 of its weights", str(seen["sha256"])),
        ("data", redacted(str(data["source"]))),
        ("for every input", f"{certificate['verdict']}: certificate.json beside this page"),
    ]
    return Section("The model and the data", (Table(("what", "is"), tuple(rows)),))


def write_measurement(seen: Document, certificate: Document, folder: Path, page: Page) -> None:
    """Write both records and the page into the folder, all or none; raises WriteError."""
    files = {"measurement.json": seen, "certificate.json": certificate}
    write_all(folder, {
        **{name: _encoded(document) for name, document in files.items()},
        "index.html": render_experiment(page),
    })  # fmt: skip


def _encoded(document: Document) -> bytes:
    """JSON with the file's name alone wherever it names the model or the data."""
    told = without_folders(document)
    if "data" in told:
        told["data"] = told["data"] | {"source": redacted(str(told["data"]["source"]))}
    return msgspec.json.format(msgspec.json.encode(told), indent=2) + b"\n"


def _key(name: str) -> str:
    """A name as a key of TOML, without quotes."""
    return re.sub(r"[^A-Za-z0-9_-]", "-", name) or "model"


def _value(item: Any) -> str:
    """A text or a number in TOML."""
    return msgspec.json.encode(item).decode()
