"""Axes of a layer's output, followed through the nodes between two layers.

The output (T, D, N, n) has the factors time, direction, batch and feature. An axis is the row-major
product of some factors, so that a Transpose moves axes, and a Reshape splits and joins them where
the sizes show which. Sizes are monomials c·T·N with c whole: what is not known of them stays a
symbol. Source: ONNX's operators Transpose, Reshape, Squeeze, Unsqueeze.
"""

from collections.abc import Callable, Sequence

TIME, DIRECTION, BATCH, FEATURE = "TDNF"

Axes = tuple[str, ...]  # the factors of each axis, as ("T", "N", "DF")
Size = tuple[int, str]  # a number and the factors of unknown size that it is times, in order
SizeOf = Callable[[str], Size]
ONE: Size = (1, "")
REST: Size = (-1, "")


def product(sizes: Sequence[Size]) -> Size:
    """The product of sizes."""
    number = 1
    for one, _ in sizes:
        number *= one
    return number, "".join(sorted("".join(symbols for _, symbols in sizes)))


def output_axes(layout: int) -> Axes:
    """The axes of Y: (T, D, N, n), or (N, T, D, n) where the layout is 1."""
    return ("N", "T", "D", "F") if layout else ("T", "D", "N", "F")


def input_axes(layout: int) -> Axes:
    """The axes that the next layer's X has to have."""
    return ("N", "T", "DF") if layout else ("T", "N", "DF")


def without_units(axes: Axes, size: SizeOf) -> Axes:
    """The axes without factors of size 1, which stand anywhere."""
    return tuple("".join(one for one in axis if size(one) != ONE) for axis in axes)


def transposed(axes: Axes, perm: Sequence[int] | None) -> Axes | None:
    """The axes in another order, reversed by default; None for what is no order."""
    perm = perm or range(len(axes))[::-1]
    return tuple(axes[i] for i in perm) if sorted(perm) == list(range(len(axes))) else None


def squeezed(axes: Axes, places: Sequence[int] | None) -> Axes | None:
    """The axes without those at `places`, which have no factors, or without any that has none."""
    if places is None:
        return tuple(filter(None, axes))
    cut = _places(places, len(axes))
    if cut is None or any(axes[i] for i in cut):
        return None
    return tuple(axis for i, axis in enumerate(axes) if i not in cut)


def unsqueezed(axes: Axes, places: Sequence[int] | None) -> Axes | None:
    """The axes and, at `places` of the result, new ones of size 1."""
    new = _places(places or (), len(axes) + len(places or ()))
    if new is None:
        return None
    left = iter(axes)
    return tuple("" if i in new else next(left) for i in range(len(axes) + len(new)))


def _places(places: Sequence[int], rank: int) -> set[int] | None:
    """Places counted from the front; None if one is outside or comes twice."""
    found = {one + rank if one < 0 else one for one in places}
    return found if len(found) == len(places) and found <= set(range(rank)) else None


def reshaped(axes: Axes, sizes: Sequence[Size], size: SizeOf, *, copy_zero: bool) -> Axes | None:
    """The axes of those sizes that the same factors in the same order make; None if they do not.

    REST is what is left, 0 the size of the axis in that place.
    """
    wanted = list(sizes)
    for i, one in enumerate(wanted):
        if one[0] == 0:
            if not copy_zero or i >= len(axes):
                return None
            wanted[i] = product([size(factor) for factor in axes[i]])
    factors = "".join(axes)
    if wanted.count(REST) > 1 or any(one[0] < 1 and one != REST for one in wanted):
        return None
    cut = wanted.index(REST) if REST in wanted else len(wanted)
    front = _taken(factors, wanted[:cut], size)
    if front is None:
        return None
    rest = factors[len("".join(front)) :]
    back = _taken(rest[::-1], wanted[:cut:-1], size)
    if back is None:
        return None
    middle = rest[: len(rest) - len("".join(back))]
    if cut == len(wanted):
        return None if middle else tuple(front)
    return (*front, middle, *(axis[::-1] for axis in back[::-1]))


def _taken(factors: str, sizes: Sequence[Size], size: SizeOf) -> list[str] | None:
    """The first factors, in groups of those sizes; None if a size would cut a factor."""
    found, at = [], 0
    for wanted in sizes:
        start, held = at, ONE
        while held != wanted:
            if at == len(factors) or wanted[0] % held[0]:
                return None
            held, at = product([held, size(factors[at])]), at + 1
        found.append(factors[start:at])
    return found
