"""The page of a model on data: what is certified beside what was seen and stated, never mixed."""

from collections.abc import Mapping
from decimal import ROUND_CEILING, Context, Decimal
from pathlib import Path
from typing import Any

import msgspec

from reports.files import write_all
from reports.pages.certificate import certificate_page
from reports.pages.experiment import Block, Page, Paragraph, Plot, Section, Table, render_experiment
from reports.pages.figures.figure import Series
from reports.pages.text import NOTHING, typed
from reports.redact import redacted

FILES = ("measurement.json", "certificate.json", "index.html")
Document = Mapping[str, Any]


def measurement_page(seen: Document, certificate: Document, title: str) -> Page:
    """The bracket and the curve first, then the statement and the steps, then the certificate."""
    data, below = seen["data"], certificate_page(certificate, title)
    lead = (
        f"{seen['cell']}, {data['windows']} windows of {data['length']} inputs from "
        f"{redacted(str(data['source']))}."
    )
    sections = (
        Section("How long it remembers", (*_bracket(seen, certificate), _curve(seen, certificate))),
        *_near(seen.get("near")),
        Section("Stated of other windows", tuple(_statement(seen))),
        Section("Seen: how steps contract", (_steps(seen),)),
        *below.sections,
    )
    problems = () if certificate["verdict"] == "undecided" else below.problems
    return Page(title, sections, lead, "certified, and on your data", problems)


def write_measurement(seen: Document, certificate: Document, folder: Path, page: Page) -> None:
    """Write both records and the page into the folder, all or none; raises WriteError."""
    files = {"measurement.json": seen, "certificate.json": certificate}
    write_all(folder, {
        **{name: _encoded(document) for name, document in files.items()},
        "index.html": render_experiment(page),
    })  # fmt: skip


def _encoded(document: Document) -> bytes:
    """JSON with the file's name alone wherever it names the model or the data."""
    told = dict(document) | {"model": redacted(str(document["model"]))}
    if "data" in told:
        told["data"] = told["data"] | {"source": redacted(str(told["data"]["source"]))}
    return msgspec.json.format(msgspec.json.encode(told), indent=2) + b"\n"


def _bracket(seen: Document, certificate: Document) -> list[Block]:
    """k by each kind of answer, a row an ε."""
    certified = {row["eps"]: row["k"] for row in certificate["truncation"]}
    found = certificate.get("attacked", {}).get("no_k_below", [])
    attacked = {row["eps"]: row["k"] or None for row in found}
    stated = {line["eps"]: line for line in (seen["statement"] or {"lines": []})["lines"]}
    rows = []
    for row in seen["memory"]:
        eps, line = row["eps"], stated.get(row["eps"], {"k": None, "share": None})
        share = NOTHING if line["share"] is None else f"{_down(line['share'])} of windows"
        ks = (attacked.get(eps), certified.get(eps), row["k"], line["k"])
        rows.append((typed(eps), *map(_k, ks), share))
    among = certificate.get("inputs") or {}
    sought = (
        "Attacked: some of these are proved to be remembered for longer than any smaller k. "
        if found
        else ""
    )
    within = f"x in {among['what']}, " if "what" in among else ""
    return [
        Paragraph(
            f"Certified: every input with {within}‖x‖₂ ≤ {certificate['input_bound']:g}, the worst "
            f"case. "
            f"{sought}"
            f"Seen: the windows of the data, the worst of them. Stated: windows drawn like these."
        ),
        Table(
            ("ε", "k attacked", "k certified", "k seen on your data", "k stated", "at least"),
            tuple(rows), frozenset((1, 2, 3, 4)),
            f"Certified in the {certificate['norm']} norm: {certificate['verdict']}.",
        ),
    ]  # fmt: skip


def _curve(seen: Document, certificate: Document) -> Plot:
    """The gap against k, under what is certified at the k of each ε."""
    curve = seen["forgetting"]["curve"]
    ks = [float(row["k"]) for row in curve]
    lines = [
        Series(label, ks, [row[name] for row in curve])
        for name, label in (("worst", "worst seen"), ("q50", "median seen"))
    ]
    known = [row for row in certificate["truncation"] if row["k"] is not None]
    if known:
        at, bounds = ([float(row[name]) for row in known] for name in ("k", "eps"))
        lines.append(Series("certified", at, bounds, "points" if len(known) < 2 else "dashed"))
    told = "The gap between the run over a whole window and over its last k inputs, after the last."
    return Plot(lines, "window k, steps", "gap of outputs", told, log_y=True)


def _near(told: Document | None) -> tuple[Section, ...]:
    """What is certified near the data, if that was asked for."""
    if told is None:
        return ()
    gaps = {row["k"]: row["gap"] for row in told["gaps"]}
    start = f"states with |s_i| ≤ {typed(told['states'])}" if told["states"] else "the zero state"
    width = "undecided" if told["width"] is None else _above(told["width"])
    rows = tuple(
        (typed(row["eps"]), _k(row["k"]), NOTHING if row["k"] is None else _above(gaps[row["k"]]))
        for row in told["memory"]
    )
    said = Paragraph(
        f"Certified of each of {told['windows']} windows, of all inputs within "
        f"{typed(told['delta'])} of the recorded ones in every number at every step, from {start}, "
        f"in real arithmetic; of no other inputs. How far any state is from the one computed on "
        f"what was recorded, at most: {width}."
    )
    advice = told["advice"] or ""
    table = Table(("ε", "k", "‖h_T − h_T^k‖₂ at most"), rows, frozenset((1, 2)), advice)
    return (Section("Certified near your data", (said, table)),)


def _statement(seen: Document) -> list[Block]:
    stated = seen["statement"]
    if stated is None:
        return [Paragraph(f"Nothing: {seen['unstated']}")]
    count = stated["windows"]
    rows = []
    for line in stated["lines"]:
        share = NOTHING if line["share"] is None else _down(line["share"])
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
            ("distances between states visited grow at most by", f"{pairs['largest_ratio']:.4g}"),
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


def _number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.4g}"


def _above(bound: float) -> str:
    """A bound in six digits, rounded up."""
    return f"{Context(prec=6, rounding=ROUND_CEILING).create_decimal(Decimal(bound)):g}"


def _down(share: float) -> str:
    """A share in four digits, rounded down."""
    return f"{int(share * 10**4) / 10**4:.4f}"
