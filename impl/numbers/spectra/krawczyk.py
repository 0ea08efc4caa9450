"""The interval Newton test of Krawczyk: a box that is proved to hold exactly one zero.

Sources: Krawczyk (1969); Rump, Verification methods (2010), Theorem 13.2.
"""

from collections.abc import Callable

import numpy as np
from flint import arb, arb_mat
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Map = Callable[[arb_mat], tuple[arb_mat, arb_mat]]

_RADII = (2.0**-44, 2.0**-34, 2.0**-24)


def unique_zero(f: Map, centre: Vector) -> arb_mat | None:
    """A box (n, 1) around `centre` that holds exactly one zero of f, or None.

    f maps a box X (n, 1) to enclosures of f(X) (n, 1) and f′(X) (n, n) at the current precision.
    The test is K(X) = m − Y f(m) + (I − Y f′(X))(X − m) ⊂ int X with Y ≈ f′(m)⁻¹, which proves
    existence and uniqueness in X; the zero lies in K(X), which is returned.
    """
    n = len(centre)
    midpoint = column(centre)
    value, slope = f(midpoint)
    try:
        inverse = np.linalg.inv(np.array([[float(a.mid()) for a in row] for row in slope.tolist()]))
    except np.linalg.LinAlgError:
        return None
    if not np.isfinite(inverse).all():
        return None
    Y = arb_mat(inverse.tolist())
    newton = midpoint - Y * value
    scale = max(1.0, float(np.abs(centre).max()))
    for radius in _RADII:
        delta = arb(0, radius * scale)
        box = arb_mat([[m + delta] for m in midpoint.entries()])
        _, slopes = f(box)
        image = newton + (identity(n) - Y * slopes) * arb_mat([[delta]] * n)
        pairs = zip(image.entries(), box.entries(), strict=True)
        if all(outer.contains_interior(inner) for inner, outer in pairs):
            return image
    return None


def identity(n: int) -> arb_mat:
    """The identity matrix (n, n), exactly."""
    return arb_mat([[int(i == j) for j in range(n)] for i in range(n)])


def column(values: Vector) -> arb_mat:
    """The floats as an exact (n, 1) matrix."""
    return arb_mat([[float(value)] for value in values])


def are_disjoint(a: arb_mat, b: arb_mat) -> bool:
    """True if two boxes are proved disjoint."""
    pairs = zip(a.entries(), b.entries(), strict=True)
    return any(not left.overlaps(right) for left, right in pairs)
