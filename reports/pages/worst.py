"""The worst instance of a claim on its page: figures of its runs, and its arrays as a link.

The link is a data: URL of an .npz file, so that it works offline and in a page that was mailed.
"""

import io
import math
import re
from base64 import b64encode
from collections.abc import Sequence
from zipfile import ZipFile, ZipInfo

import numpy as np
from markupsafe import Markup

from rnnbounds.reports.pages.figures.plot import Series, plot
from rnnbounds.reports.pages.text import above
from rnnbounds.reports.records.drawn import Drawn, Table


def states_figure(drawn: Drawn) -> Markup:
    """The states of both runs against t: the state itself if it is one number, else its norm."""
    series = [_states("full run", drawn, drawn.states, "line")]
    if drawn.others:
        series.append(_states("second run", drawn, drawn.others, "dashed"))
    else:
        series += _at_the_end(drawn)
    label = states_label(drawn)
    return plot(
        series, x_label="t, steps", y_label=label,
        summary=f"{label} of {'both runs' if drawn.others else 'the run'} of the worst instance,"
        f" t = 0 to {len(drawn.inputs)}.",
    )  # fmt: skip


def gap_figure(drawn: Drawn) -> Markup:
    """The gap under its bound: both sides at each window k of a truncated run, else the distance of
    both runs at each t, with both sides at T."""
    if drawn.window is None:
        gaps = [math.dist(a, b) for a, b in zip(drawn.states, drawn.others, strict=True)]
        series = [Series("distance", range(len(gaps)), gaps), *_at_the_end(drawn)]
        return plot(
            series, x_label="t, steps", y_label="‖h − h′‖₂",
            summary="Distance of both runs at each t, and the bound at T.",
        )  # fmt: skip
    at = [point.at for point in drawn.sides]
    lhs, rhs = ([float(getattr(p, side)) for p in drawn.sides] for side in ("lhs", "rhs"))
    ends = [f"{above(a, 3)} under {above(b, 3)}" for a, b in zip(lhs, rhs, strict=True)]
    return plot(
        [Series("its bound", at, rhs), Series("left side", at, lhs, "points")],
        x_label="window k, steps", y_label="both sides", log_y=True,
        summary="Left side and bound of the worst instance at each window k"
        + (f": {ends[0]} at k = {at[0]}, {ends[-1]} at k = {at[-1]}." if at else "."),
    )  # fmt: skip


def states_label(drawn: Drawn) -> str:
    """Label of the states' axis: hₜ if the state is a scalar, else ‖hₜ‖₂."""
    return "hₜ" if _scalar(drawn) else "‖hₜ‖₂"


def arrays_url(drawn: Drawn) -> str:
    """All arrays as a data: URL of an .npz file, the same bytes on every system."""
    sides = [(p.at, float(p.lhs), float(p.rhs)) for p in drawn.sides]
    own = {
        "inputs": drawn.inputs, "states": drawn.states, "other_states": drawn.others,
        "other_inputs": drawn.other_inputs, "at_lhs_rhs": sides,
    }  # fmt: skip
    weights = {
        re.sub(r"[^\w]", "_", name)[:80]: table for name, table in sorted(drawn.weights.items())
    }
    out = io.BytesIO()
    with ZipFile(out, "w") as file:
        for name, table in (weights | own).items():
            if len(table):
                info = ZipInfo(f"{name}.npy")
                info.create_system = 3  # else it is the system's that writes
                file.writestr(info, _npy(table))
    return f"data:application/zip;base64,{b64encode(out.getvalue()).decode()}"


def file_name(claim: str) -> str:
    """The name under which a browser saves the arrays of a claim."""
    return re.sub(r"[^A-Za-z0-9-]", "-", claim)[:80] + ".npz"


def _npy(table: Sequence[Sequence[float]]) -> bytes:
    out = io.BytesIO()
    np.lib.format.write_array(out, np.array(table, dtype="<f8"), version=(1, 0))
    return out.getvalue()


def _scalar(drawn: Drawn) -> bool:
    return len(drawn.states[0]) == 1 and bool(drawn.others)


def _states(label: str, drawn: Drawn, run: Table, style: str) -> Series:
    """A run that ends at T."""
    first = len(drawn.inputs) + 1 - len(run)
    heights = [state[0] if _scalar(drawn) else math.hypot(*state) for state in run]
    return Series(label, range(first, first + len(run)), heights, style)  # type: ignore[arg-type]


def _at_the_end(drawn: Drawn) -> list[Series]:
    """The bound and the left side at T, which a statement without a window has alone."""
    at = [point.at for point in drawn.sides]
    return [
        Series("its bound", at, [float(point.rhs) for point in drawn.sides], "points"),
        Series("left side", at, [float(point.lhs) for point in drawn.sides], "points"),
    ]
