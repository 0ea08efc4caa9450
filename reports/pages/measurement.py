"""The page of a model on data: what is certified beside what was seen and stated, never mixed."""

from dataclasses import replace
from pathlib import Path

import msgspec

from reports.files import write_all
from reports.pages.certificate import certificate_page, without_folders
from reports.pages.experiment import Block, Page, Paragraph, Section, Table, render_experiment
from reports.pages.memory import Document, share_of
from reports.pages.text import NOTHING, above, typed
from reports.redact import redacted

FILES = ("measurement.json", "certificate.json", "index.html")


def measurement_page(seen: Document, certificate: Document, title: str) -> Page:
    """The bracket and the curve first, then the statement and the steps, then the certificate."""
    data = seen["data"]
    more = (
        *_near(seen.get("near"), "C h" if "readout" in seen else "h"),
        Section("Stated of other windows", tuple(_statement(seen))),
        Section("Seen: how steps contract", (_steps(seen),)),
    )
    page = certificate_page(certificate, title, seen=seen, more=more)
    windows = f"{data['windows']} windows of {data['length']} inputs"
    return replace(
        page,
        lead=f"{windows} from {redacted(str(data['source']))}. {page.lead}".strip(),
        kicker="certified, and on your data",
        problems=() if certificate["verdict"] == "undecided" else page.problems,
    )


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


def _near(told: Document | None, of: str) -> tuple[Section, ...]:
    """What is certified near the data, if that was asked for, of h or of C h."""
    if told is None:
        return ()
    gaps = {row["k"]: row["gap"] for row in told["gaps"]}
    start = f"states with |s_i| ≤ {typed(told['states'])}" if told["states"] else "the zero state"
    width = "undecided" if told["width"] is None else above(told["width"])
    rows = tuple(
        (typed(row["eps"]), _k(row["k"]), NOTHING if row["k"] is None else above(gaps[row["k"]]))
        for row in told["memory"]
    )
    said = Paragraph(
        f"Certified of each of the first {told['windows']} windows, of all inputs within "
        f"{typed(told['delta'])} of the recorded ones in every number at every step, from {start}, "
        f"in real arithmetic; of no other inputs. How far any state is from the one "
        f"computed here in float64 on what was recorded, at most: {width}."
    )
    advice = told["advice"] or ""
    table = Table(("ε", "k", f"‖{of}_T − {of}_T^k‖₂ at most"), rows, frozenset((1, 2)), advice)
    return (Section("Certified near your data", (said, table)),)


def _statement(seen: Document) -> list[Block]:
    stated = seen["statement"]
    if stated is None:
        return [Paragraph(f"Nothing: {seen['unstated']}")]
    count = stated["windows"]
    rows = []
    for line in stated["lines"]:
        share = share_of(line["share"])
        rows.append((typed(line["eps"]), _k(line["k"]), share, _k(line["beyond"])))
    return [
        Paragraph(
            f"With confidence {typed(stated['confidence'])} in all lines together: of windows "
            f"drawn like these at least that share is within ε at k, in real arithmetic. This "
            f"presupposes that {stated['presupposes']}."
        ),
        Table(
            ("ε", "k", "share of windows", "held out, beyond ε"), tuple(rows), frozenset((1, 2, 3)),
            f"k was chosen on {count['chosen_on']} windows, {count['held_out']} others were held "
            f"out; a share of {typed(stated['share'])} takes {stated['held_out_needed']} of these, "
            f"none beyond ε.",
        ),
    ]  # fmt: skip


def _steps(seen: Document) -> Table:
    steps, pairs = seen["steps"], seen["stability"]
    growth = steps["lyapunov"]
    return Table(
        ("what", "seen"),
        (
            ("distances between states visited grow at most by", _above(pairs["largest_ratio"])),
            ("in so many of the steps seen they grow", f"{pairs['expanding']} of {pairs['pairs']}"),
            ("norm of a step's Jacobian, median", _number(steps["norm"]["median"])),
            ("norm of a step's Jacobian, largest", _number(steps["norm"]["largest"])),
            ("largest Lyapunov exponent, estimated, a step", _number(growth["mean"])),
        ),
        frozenset((1,)),
        f"Jacobians along {steps['windows']} windows.",
    )


def _k(value: int | None) -> str:
    return NOTHING if value is None else str(value)


def _above(value: float | None) -> str:
    return NOTHING if value is None else above(value, 4)


def _number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.4g}"
