"""Details of a measurement: near the data, of windows drawn alike, and how steps contract."""

from rnnbounds.reports.pages.experiment import Block, Paragraph, Section, Table
from rnnbounds.reports.pages.memory import Document, k_of, share_of
from rnnbounds.reports.pages.text import NOTHING, above, plural, typed


def details(seen: Document) -> tuple[Section, ...]:
    """A section for each kind of answer, with what it presupposes."""
    return (
        *_near(seen.get("near"), "C h" if "readout" in seen else "h"),
        Section("Windows drawn like these", tuple(_statement(seen))),
        Section("How steps contract on these windows", (_steps(seen),)),
    )


def _near(told: Document | None, of: str) -> tuple[Section, ...]:
    """Section on the bounds certified near the data, of h or of C h (`of`); () if not requested."""
    if told is None:
        return ()
    gaps = {row["k"]: row["gap"] for row in told["gaps"]}
    start = f"states with |s_i| ≤ {typed(told['states'])}" if told["states"] else "the zero state"
    width = "undecided" if told["width"] is None else above(told["width"])
    rows = tuple(
        (typed(row["eps"]), k_of(row["k"]), NOTHING if row["k"] is None else above(gaps[row["k"]]))
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
        return [Paragraph(f"Nothing is stated of other windows: {seen['unstated']}.")]
    count = stated["windows"]
    rows = []
    for line in stated["lines"]:
        share = share_of(line["share"])
        rows.append((typed(line["eps"]), k_of(line["k"]), share, k_of(line["beyond"])))
    needed = stated["held_out_needed"]
    return [
        Paragraph(
            f"With confidence {typed(stated['confidence'])} in all rows together, at least this "
            f"share of all windows drawn like these is within ε at k, in real arithmetic. This "
            f"presupposes that {stated['presupposes']}."
        ),
        Table(
            ("ε", "k", "share of windows", "held out, beyond ε"), tuple(rows), frozenset((1, 2, 3)),
            f"k was chosen on {plural(count['chosen_on'], 'window')} and tried on "
            f"{count['held_out']} others, held out. A share of {typed(stated['share'])} takes "
            f"{needed} of these with none beyond ε.",
        ),
    ]  # fmt: skip


def _steps(seen: Document) -> Table:
    steps, pairs = seen["steps"], seen["stability"]
    growth = steps["lyapunov"]
    return Table(
        ("of a step", "seen"),
        (
            ("largest growth of the distance between two states", _above(pairs["largest_ratio"])),
            ("steps at which the distance grew", f"{pairs['expanding']} of {pairs['pairs']}"),
            ("spectral norm of the Jacobian, median", _number(steps["norm"]["median"])),
            ("spectral norm of the Jacobian, largest", _number(steps["norm"]["largest"])),
            ("largest Lyapunov exponent, estimated", _number(growth["mean"])),
        ),
        frozenset((1,)),
        f"Jacobians along {plural(steps['windows'], 'window')}; a distance below its former one "
        f"(growth below 1) is forgotten. Computed in float64, of these windows alone.",
    )


def _above(value: float | None) -> str:
    return NOTHING if value is None else above(value, 4)


def _number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.4g}"
