"""The details of a measurement, as `measure` prints them and its page shows them: what is stated of
other windows, what was proved near the data, and how single steps changed distances."""

from rnnbounds.reports.pages.experiment import Block, Paragraph, Section, Table
from rnnbounds.reports.pages.model import answer
from rnnbounds.reports.pages.model.memory import length_text
from rnnbounds.reports.text import NOTHING, bound_text, capitalise, plain_number, plural

AS_RUN = "in the run as it was computed; nothing is said of real arithmetic"


def detail_sections(record: answer.Document) -> tuple[Section, ...]:
    """A section for each kind of answer, with what it presupposes."""
    drawn = "Stated of windows drawn like these"
    if "gap" in record:  # of a model that was run as it is
        return (Section(drawn, tuple(_statement_blocks(record, AS_RUN))),)
    return (
        *_near_sections(record),
        Section(drawn, tuple(_statement_blocks(record, "in real arithmetic"))),
        Section("Seen of single steps on these windows", (_steps_table(record),)),
    )


def _near_sections(record: answer.Document) -> tuple[Section, ...]:
    """Section on the bounds certified near the data, of h or a map of it; () if not requested."""
    near_data, vector = record.get("near"), answer.vector_symbol(record)
    if near_data is None:
        return ()
    tried = near_data["windows"]
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
            near_own_text(row["certified"], tried)
            or f"{'all' if row['certified']['windows'] else 'none of'} {tried}",
        )
        for row in near_data["memory"]
    )
    statement = Paragraph(
        f"Certified of {answer.near_windows_text(record)}"
        f"{evenly_text(tried, record['data']['windows'])}, of all inputs within "
        f"{plain_number(near_data['delta'])} of the recorded ones in every number at every step, "
        f"from {answer.near_start_text(near_data)}, in real arithmetic; of no other inputs. How "
        f"far any state{of_zero} is from the one computed here in float64 on what was recorded, "
        f"at most: {width}."
    )
    notes = [near_data["advice"]] if near_data["advice"] else []
    if near_data["pasts"] and gaps.get(1) is not None:
        notes.insert(
            0,
            f"A state set to zero where a window begins moves {vector} by at most "
            f"{bound_text(gaps[1])}, and by more than ε at k − 1 times of the window at most.",
        )
    columns = ("ε", "k", gap, "those that have a k")
    table = Table(columns, rows, frozenset((1, 2)), " ".join(notes))
    return (Section("Certified near your data", (statement, table)),)


def evenly_text(some: int, windows: int) -> str:
    """Which of the windows are certified, if not all."""
    if some == windows:
        return ""
    return ", the first" if some == 1 else ", evenly spaced in the data"


def near_own_text(part: answer.Document, windows: int) -> str:
    """How many of the windows have a k, and which together; empty where all or none have one."""
    if part["windows"] in (0, windows):
        return ""
    return f"{part['windows']} of {plural(windows, 'window')} with k = {part['k']}"


def unused_text(windows: int, statement: answer.Document) -> str:
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


def _statement_blocks(record: answer.Document, scope: str) -> list[Block]:
    """Blocks on the statement about other windows; `scope`: the arithmetic that it is about."""
    statement = record["statement"]
    if statement is None:
        return [Paragraph(f"Nothing is stated of other windows: {record['unstated']}.")]
    count, lines = statement["windows"], statement["lines"]
    if all(line["k"] is None for line in lines):
        words = f"no k was found on the {plural(count['chosen_on'], 'window')} it is chosen on"
        return [Paragraph(f"Nothing is stated of other windows: {words}.")]
    left = [
        f" {line['undecided']} windows were left undecided at the limit of work; they count as "
        f"beyond {plain_number(line['eps'])}."
        for line in lines
        if line.get("undecided")
    ]
    rows = tuple(
        (plain_number(line["eps"]), length_text(line["k"]), answer.percent_below(line["share"]),
         length_text(line["beyond"]))
        for line in lines
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
            f"{count['held_out']} others, held out. {capitalise(answer.needed_text(statement))}."
            f"{unused and f' {capitalise(unused)}.'}{''.join(left)}",
        ),
    ]  # fmt: skip


def _steps_table(record: answer.Document) -> Table:
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
        f"After Miller & Hardt, section 4. Jacobians along {steps_text(record)}: "
        "their norm is the growth in the worst of all directions, of two states seen or not. A "
        "distance below its former one (growth below 1) is forgotten. Computed in float64, of "
        "these windows alone.",
    )  # fmt: skip


def steps_text(record: answer.Document) -> str:
    """Of which windows the steps were differentiated, and of how many steps if not of all."""
    steps, windows = record["steps"], plural(record["steps"]["windows"], "window")
    some = (
        "" if steps["last"] == record["data"]["length"] else f"the last {steps['last']} steps of "
    )
    return f"{some}{windows}"


def _number_text(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.4g}"
