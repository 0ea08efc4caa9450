"""The weights of a truncated model, looked at before anything is proved of them."""

import itertools
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from rnnbounds.impl.checker.cells.layouts import STACKED, LayoutError, known, layers, layout
from rnnbounds.impl.errors import FileError, shown
from rnnbounds.impl.format.sealed import ANOTHER, TruncatedFile, is_about, no_truncated
from rnnbounds.impl.format.tensors import Array, decoded, dtype_of

LARGEST = 2048  # states beyond which nobody waits for a check


def unchecked(path: Path, cell: str) -> FileError:
    """That a certificate is about a cell that is registered elsewhere."""
    what = f"holds {shown(cell)}, a cell of which the checker knows nothing"
    return FileError(path, what, "certify the model again with 'rnnbounds certify'")


def weights_of(path: Path, file: TruncatedFile) -> dict[str, Array]:
    """The float64 arrays of the cell by role; raises FileError where they are not those
    that the record is about, and InputError for a cell of which nothing is known here."""
    cell, parts = file.record.cell, file.parts
    if not known(cell):
        raise unchecked(path, cell)
    suffix = "" if cell.startswith(STACKED) else layout(cell, parts).suffix
    if not all(name.endswith(suffix) for name in parts):
        raise no_truncated(path, "does not hold exactly the weights of its cell")
    roles = {name.removesuffix(suffix): part for name, part in parts.items()}
    if any(dtype_of(part) is None for part in roles.values()):
        raise no_truncated(path, "has weights of a dtype that is not read")
    try:
        states, n, d = sizes(cell, {role: tuple(part["shape"]) for role, part in roles.items()})
    except LayoutError:
        reason = "does not hold exactly the weights of its cell, or some of wrong shapes"
        raise no_truncated(path, reason) from None
    if states > LARGEST:
        raise no_truncated(path, f"has over {LARGEST} states")
    arrays = {role: decoded(part) for role, part in roles.items()}
    if not all(np.isfinite(part).all() for part in arrays.values()):
        raise no_truncated(path, "holds NaN or infinity")
    if not is_about(file.record, roles, n, d):
        raise no_truncated(path, ANOTHER)
    return arrays


def sizes(cell: str, shapes: Mapping[str, tuple[int, ...]]) -> tuple[int, int, int]:
    """State, output and input of a cell, or of all layers of a stack; raises LayoutError."""
    if not cell.startswith(STACKED):
        return layout(cell, shapes).sizes(shapes)
    inner = cell.removeprefix(STACKED)
    each = [layout(inner, part).sizes(part) for part in layers(shapes)]
    if not each or any(top[2] != below[1] for below, top in itertools.pairwise(each)):
        raise LayoutError("layers that do not fit")
    return sum(states for states, _, _ in each), each[-1][1], each[0][2]
