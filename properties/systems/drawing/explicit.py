"""Systems that are written out in numbers: what a search found rather than drew."""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt


class Values(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One system written out: W (n, n), U (n, d), b (n), C (p, n), x (T, d), two states (n).

    Where a loss needs it the target y (p), and where there are two weights the other ones. A cell
    of g gates has W (g n, n), U (g n, d), b and b_hh (g n), and states that may be (c, h); outside
    of its invariant box they are moved to the nearest ones there.
    """

    W: list[list[float]]
    U: list[list[float]]
    b: list[float]
    C: list[list[float]]
    x: list[list[float]]
    h: list[float]
    h_other: list[float]
    y: list[float] | None = None
    W2: list[list[float]] | None = None
    U2: list[list[float]] | None = None
    b2: list[float] | None = None
    b_hh: list[float] | None = None


def explicit_arrays(values: Values) -> dict[str, npt.NDArray[np.float64]]:
    """The numbers of an explicit spec, one sequence."""
    values_by_name = {name: getattr(values, name) for name in values.__struct_fields__}
    arrays = {
        name: np.array(value, dtype=np.float64)
        for name, value in values_by_name.items()
        if value is not None
    }
    return arrays | {name: arrays[name][None] for name in ("x", "h", "h_other")}
