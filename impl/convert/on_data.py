"""A k for recorded inputs alone: proved near them, as `measure --near` does, or only seen on them.

Both are of runs from the zero state and of the output after the last input of a window.
"""

from typing import Any

from rnnbounds.impl.errors import InputError, exactly, shown
from rnnbounds.impl.format.fields import NamedReadout, Shape, Window
from rnnbounds.impl.format.on_data import NEAR, SCHEMA, SEEN, Near, Recorded, Seen
from rnnbounds.impl.memory.measure import held_part, measure_cell
from rnnbounds.impl.memory.statement import from_k
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.near.again import is_proved_near, windows_digest
from rnnbounds.impl.near.near import spread
from rnnbounds.impl.reading.data.recordings import Data
from rnnbounds.impl.reading.data.sequences import DataSource, read_data


def known_on_data(
    model: LoadedModel[Any], data: DataSource | Data, eps: float, near: float | None,
    window: int | None,
) -> Near | Seen:  # fmt: skip
    """The least k that `measure` proves near the data, within δ = `near`, or sees on them if that
    is None. Near a part of the windows alone it is one that the others, too, are seen within.
    Raises an InputError where there is none, with what to change, and what `measure` raises."""
    if model.backward:
        what = "reads its inputs backwards, and a k on data is of a cell that reads them forwards"
        raise InputError(f"{shown(model.source)}: {what}; truncate it for all inputs")
    read = read_data(data)
    measured = measure_cell(model, read, window=window, eps=eps, near=near)
    held, around, k = read.windows(window), measured.near, measured.window(eps)
    chosen = slice(len(measured.gaps)) if around is None else spread(around.windows, len(held))
    within = f"{shown(read.source)}: within ε = {exactly(eps)}"
    if around is not None:
        least = around.rows[0].k
        if least is None:
            reason = f"no k is proved near all of {around.windows} windows; {around.advice}"
            raise InputError(f"{within} {reason}")
        whole = around.windows == len(held)
        k = least if whole else None if k is None else max(k, least)
    if k is None:
        raise InputError(f"{within} {from_k(None, held.T, read.T)}")
    x = held_part(held, chosen)
    stated: dict[str, Any] = {
        "schema": SCHEMA,
        "model": model.source,
        "cell": model.name,
        "tensors": dict(model.tensors),
        "ignored": model.ignored,
        "unread": model.unread,
        "shape": Shape(model.n, model.d),
        "dtype": model.dtype,
        "digest": model.digest,
        "data": Recorded(read.source, len(x), len(held), held.T, windows_digest(x)),
        "truncation": (Window(eps, k),),
        "readout": None if model.readout is None else NamedReadout(**model.readout.stated()),
    }
    if around is None:
        return Seen(**stated, verdict=SEEN)
    record = Near(**stated, verdict=NEAR, delta=around.delta)
    if k != least and not is_proved_near(model, record, read):
        reason = (
            f"{around.windows} windows are proved at k = {least}, but others need k = {k}, which "
            f"is not proved of those; take a smaller --near or a larger ε"
        )
        raise InputError(f"{within} {reason}")
    return record
