"""Details of a measurement: near the data, of windows drawn alike, and how steps contract."""

from rnnbounds.reports.pages.experiment import Block, Paragraph, Section, Table
from rnnbounds.reports.pages.model.answer import Document, near_start_text, vector_symbol
from rnnbounds.reports.pages.model.memory import length_text, share_text
from rnnbounds.reports.pages.text import NOTHING, bound_text, plain_number, plural
from rnnbounds.reports.words import capitalise

AS_RUN = "in the run as it was computed; nothing is said of real arithmetic"


def detail_sections(record: Document) -> tuple[Section, ...]:
    """A section for each kind of answer, with what it presupposes."""
    drawn = "Windows drawn like these"
    if "gap" in record:  # of a model that was run as it is
        return (Section(drawn, tuple(_statement_blocks(record, AS_RUN))),)
    return (
        *_near_sections(record.get("near"), vector_symbol(record), record["data"]["windows"]),
        Section(drawn, tuple(_statement_blocks(record, "in real arithmetic"))),
        Section("How steps contract on these windows", (_steps_table(record),)),
    )


def _near_sections(near_data: Document | None, vector: str, windows: int) -> tuple[Section, ...]:
    """Section on the bounds certified near the data, of h or a map of it; () if not requested."""
    if near_data is None:
        return ()
    gaps = {row["k"]: row["gap"] for row in near_data["gaps"]}
    width = "undecided" if near_data["width"] is None else bound_text(near_data["width"])
    gap, of_zero = (
        (f"‖{vector}_t − {vector}_t^0‖₂ at t ≥ k, at most", " of the run from zero")
        if near_data["pasts"]
        else (f"‖{vector}_T − {vector}_T^k‖₂ at most", "")
    )
    rows = tuple(
        (
            plain_number(row["eps"]),
            length_text(row["k"]),
            NOTHING if row["k"] is None else bound_text(gaps[row["k"]]),
            near_own_text(row["certified"], near_data["windows"])
            or ("all" if row["certified"]["windows"] else "none"),
        )
        for row in near_data["memory"]
    )
    statement = Paragraph(
        f"Certified of {near_data['windows']} of {plural(windows, 'window')}"
        f"{evenly_text(near_data['windows'], windows)}, of all inputs within "
        f"{plain_number(near_data['delta'])} of the recorded ones in every number at every step, "
        f"from {near_start_text(near_data)}, in real arithmetic; of no other inputs. How far any "
        f"state{of_zero} is from the one computed here in float64 on what was recorded, at most: "
        f"{width}."
    )
    advice = near_data["advice"] or ""
    table = Table(("ε", "k", gap, "those that have a k"), rows, frozenset((1, 2)), advice)
    return (Section("Certified near your data", (statement, table)),)


def evenly_text(some: int, windows: int) -> str:
    """Which of the windows are certified, if not all."""
    if some == windows:
        return ""
    return ", the first" if some == 1 else ", evenly spaced in the data"


def near_own_text(part: Document, windows: int) -> str:
    """How many of the windows have a k, and which together; empty where all or none have one."""
    if part["windows"] in (0, windows):
        return ""
    return f"{part['windows']} of {plural(windows, 'window')} with k = {part['k']}"


def unused_text(windows: int, statement: Document) -> str:
    """How many of the windows the statement does not use, and why; empty if it uses all."""
    chosen_on, held_out = (statement["windows"][part] for part in ("chosen_on", "held_out"))
    unused, half = windows - chosen_on - held_out, windows // 2
    reasons = []
    if chosen_on < half:
        reasons.append("to choose k on more takes too much work")
    if held_out < windows - half:
        reasons.append(
            f"a share of {plain_number(statement['share'])} takes "
            f"{statement['held_out_needed']} held out, and at least twice as many are run"
        )
    return f"not used: {plural(unused, 'window')}, as {' and '.join(reasons)}" if unused else ""


def _statement_blocks(record: Document, scope: str) -> list[Block]:
    """Blocks on the statement about other windows; `scope`: the arithmetic that it is about."""
    statement = record["statement"]
    if statement is None:
        return [Paragraph(f"Nothing is stated of other windows: {record['unstated']}.")]
    count = statement["windows"]
    rows = tuple(
        (plain_number(line["eps"]), length_text(line["k"]), share_text(line["share"]),
         length_text(line["beyond"]))
        for line in statement["lines"]
    )  # fmt: skip
    unused = unused_text(record["data"]["windows"], statement)
    return [
        Paragraph(
            f"With confidence {plain_number(statement['confidence'])} in all rows together, at "
            f"least this share of all windows drawn like these is within ε at k, {scope}. This "
            f"presupposes that {statement['presupposes']}."
        ),
        Table(
            ("ε", "k", "share of windows", "held out, beyond ε"), rows, frozenset((1, 2, 3)),
            f"k was chosen on {plural(count['chosen_on'], 'window')} and tried on "
            f"{count['held_out']} others, held out. A share of {plain_number(statement['share'])} "
            f"takes {statement['held_out_needed']} of these with none beyond ε."
            f"{unused and f' {capitalise(unused)}.'}",
        ),
    ]  # fmt: skip


def _steps_table(record: Document) -> Table:
    steps, pairs = record["steps"], record["stability"]
    ratio = pairs["largest_ratio"]
    return Table(
        ("of a step", "seen"),
        (
            ("largest growth of the distance between two states",
             NOTHING if ratio is None else bound_text(ratio, 4)),
            ("steps at which the distance grew", f"{pairs['expanding']} of {pairs['pairs']}"),
            ("spectral norm of the Jacobian, median", _number_text(steps["norm"]["median"])),
            ("spectral norm of the Jacobian, largest", _number_text(steps["norm"]["largest"])),
            ("largest Lyapunov exponent, estimated", _number_text(steps["lyapunov"]["mean"])),
        ),
        frozenset((1,)),
        f"Jacobians along {plural(steps['windows'], 'window')}: their norm is the growth in the "
        f"worst of all directions, of two states seen or not. A distance below its former one "
        f"(growth below 1) is forgotten. Computed in float64, of these windows alone.",
    )  # fmt: skip


def _number_text(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.4g}"
