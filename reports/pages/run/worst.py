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

from rnnbounds.reports.pages.figures.plot import Series, draw_plot
from rnnbounds.reports.pages.text import bound_text
from rnnbounds.reports.records.checks.drawn import InstanceArrays, NumberTable


def states_figure(instance: InstanceArrays) -> Markup:
    """The states of both runs against t: the state itself if it is one number, else its norm."""
    series = [_states_series("full run", instance, instance.states, "line")]
    if instance.others:
        series.append(_states_series("second run", instance, instance.others, "dashed"))
    else:
        series += _end_points(instance)
    label = states_label(instance)
    return draw_plot(
        series, x_label="t, steps", y_label=label,
        summary=f"{label} of {'both runs' if instance.others else 'the run'} of the worst instance,"
        f" t = 0 to {len(instance.inputs)}.",
    )  # fmt: skip


def gap_figure(instance: InstanceArrays) -> Markup:
    """The gap under its bound: both sides at each window k of a truncated run, else the distance of
    both runs at each t, with both sides at T."""
    if instance.window is None:
        gaps = [math.dist(a, b) for a, b in zip(instance.states, instance.others, strict=True)]
        series = [Series("distance", range(len(gaps)), gaps), *_end_points(instance)]
        return draw_plot(
            series, x_label="t, steps", y_label="‖h − h′‖₂",
            summary="Distance of both runs at each t, and the bound at T.",
        )  # fmt: skip
    at = [point.at for point in instance.sides]
    lhs, rhs = ([float(getattr(p, side)) for p in instance.sides] for side in ("lhs", "rhs"))
    ends = [f"{bound_text(a, 3)} under {bound_text(b, 3)}" for a, b in zip(lhs, rhs, strict=True)]
    return draw_plot(
        [Series("its bound", at, rhs), Series("left side", at, lhs, "points")],
        x_label="window k, steps", y_label="both sides", log_y=True,
        summary="Left side and bound of the worst instance at each window k"
        + (f": {ends[0]} at k = {at[0]}, {ends[-1]} at k = {at[-1]}." if at else "."),
    )  # fmt: skip


def states_label(instance: InstanceArrays) -> str:
    """Label of the states' axis: hₜ if the state is a scalar, else ‖hₜ‖₂."""
    return "hₜ" if _is_scalar(instance) else "‖hₜ‖₂"


def arrays_url(instance: InstanceArrays) -> str:
    """All arrays as a data: URL of an .npz file, the same bytes on every system."""
    sides = [(p.at, float(p.lhs), float(p.rhs)) for p in instance.sides]
    run_arrays = {
        "inputs": instance.inputs, "states": instance.states, "other_states": instance.others,
        "other_inputs": instance.other_inputs, "at_lhs_rhs": sides,
    }  # fmt: skip
    weights = {
        re.sub(r"[^\w]", "_", name)[:80]: table for name, table in sorted(instance.weights.items())
    }
    buffer = io.BytesIO()
    with ZipFile(buffer, "w") as file:
        for name, table in (weights | run_arrays).items():
            if len(table):
                info = ZipInfo(f"{name}.npy")
                info.create_system = 3  # else it is the system's that writes
                file.writestr(info, _npy_bytes(table))
    return f"data:application/zip;base64,{b64encode(buffer.getvalue()).decode()}"


def arrays_file_name(claim: str) -> str:
    """The name under which a browser saves the arrays of a claim."""
    return re.sub(r"[^A-Za-z0-9-]", "-", claim)[:80] + ".npz"


def _npy_bytes(table: Sequence[Sequence[float]]) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.array(table, dtype="<f8"), version=(1, 0))
    return buffer.getvalue()


def _is_scalar(instance: InstanceArrays) -> bool:
    return len(instance.states[0]) == 1 and bool(instance.others)


def _states_series(label: str, instance: InstanceArrays, run: NumberTable, style: str) -> Series:
    """A run that ends at T."""
    first = len(instance.inputs) + 1 - len(run)
    heights = [state[0] if _is_scalar(instance) else math.hypot(*state) for state in run]
    return Series(label, range(first, first + len(run)), heights, style)  # type: ignore[arg-type]


def _end_points(instance: InstanceArrays) -> list[Series]:
    """The bound and the left side at T, which a statement without a window has alone."""
    at = [point.at for point in instance.sides]
    return [
        Series("its bound", at, [float(point.rhs) for point in instance.sides], "points"),
        Series("left side", at, [float(point.lhs) for point in instance.sides], "points"),
    ]
