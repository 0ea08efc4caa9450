"""Sets that recorded inputs fill: their frames, the hull of these, boxes in principal axes,
zonotopes, and boxes whose inputs change little from step to step.

A zonotope around frames x has the principal axes q_i as generators t_i q_i and the channels as
generators b_j e_j: with z = Qᵀ(x − c) cut to |z_i| ≤ t_i, what is left lies within
b_j = max |x − c − Q z|_j, bounded outwards. For t_i = max |z_i| that is the box in principal axes,
up to rounding. Source: Pearson, On Lines and Planes of Closest Fit (1901).
"""

import math
from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.inputs.membership import left_over
from rnnbounds.impl.arithmetic.inputs.sets import InputSet, Zonotope, changes, input_rows
from rnnbounds.impl.errors import InputError, RangeError, ShapeError, exactly
from rnnbounds.impl.numbers.outward import add_up, norm_up, sum_up

LARGEST = 2**16  # numbers of frames that a certificate holds
_OUTWARD = 1 + 2.0**-20  # of generators, so that membership of all frames can be proved
_LEAST = 2.0**-30  # of the longest axis: shorter ones are rounding, and left to the channels
_SHARES = (1.0, 0.98, 0.9, 0.75, 0.5, 0.0)  # of frames that the principal axes alone hold


def input_frames(frames: Tensor, what: str = "the data") -> InputSet:
    """The recorded inputs (m, d) themselves, and no others.

    Raises InputError for frames that are more numbers than a certificate holds, and what
    `input_rows` raises.

    >>> rnnbounds.certify(torch.nn.GRU(3, 16), rnnbounds.input_frames(x))  # x (m, 3)
    """
    return _of_points(frames, f"the frames of {what}", "frames")


def input_hull(frames: Tensor, what: str = "the data") -> InputSet:
    """The convex hull of recorded inputs (m, d). Raises what `input_frames` raises.

    >>> hull = rnnbounds.input_hull(x)
    >>> hull.holds(((x[0] + x[1]) / 2).tolist())  # True if it is proved
    """
    return _of_points(frames, f"the hull of the frames of {what}", "hull")


def input_axes(frames: Tensor, what: str = "the data") -> InputSet:
    """The box in principal axes around recorded inputs (m, d), outwards; a zonotope. Raises what
    `input_rows` raises.

    >>> rnnbounds.certify(torch.nn.GRU(3, 16), rnnbounds.input_axes(x))  # x (m, 3)
    """
    x = _points(frames, what)
    return _around(x, *_principal(x), 1.0, f"the box in principal axes around {what}")


def input_zonotope(frames: Tensor, what: str = "the data") -> InputSet:
    """The least of some zonotopes around recorded inputs (m, d), by the sum of the lengths of its
    generators: principal axes for most of the data, channels for the rest. Raises as `input_axes`.

    >>> rnnbounds.input_zonotope(x).zonotope.generators  # (2d, d)
    """
    x = _points(frames, what)
    center, Q = _principal(x)
    tried = [_around(x, center, Q, share, f"a zonotope around {what}") for share in _SHARES]
    return min(tried, key=_length)


def zonotope_set(center: Tensor, generators: Tensor, what: str = "a zonotope") -> InputSet:
    """{c + Σ_j z_j g_j : |z_j| ≤ 1} of a center c (d,) and generators, the rows (g, d).

    Raises ShapeError, and RangeError for numbers that are no bound on inputs.

    >>> rnnbounds.zonotope_set(torch.zeros(2), torch.tensor([[1.0, 1.0], [0.1, -0.1]]))
    """
    c, G = (part.detach().to("cpu", torch.float64) for part in (center, generators))
    if G.ndim != 2 or c.ndim != 1 or not G.numel() or G.shape[1] != len(c):
        raise ShapeError("the generators of a zonotope", "(g, d) beside a center (d,)", generators)
    sides = sum_up(G.abs().mT)
    low, high = -add_up(-c, sides), add_up(c, sides)
    B = float(norm_up(torch.maximum(low.abs(), high.abs())))
    if not math.isfinite(B):
        raise RangeError("the norm of an input of a zonotope", B, "a number")
    return InputSet(B, low, high, what, None, "zonotope", Zonotope(c.clone(), G.clone()))


def changing_box(box: InputSet, change: Tensor | float) -> InputSet:
    """A box of inputs with |x_t − x_{t−1}| ≤ change, one number or one for each channel (d,).

    Raises InputError for other sets than boxes, RangeError and ShapeError.

    >>> rnnbounds.changing_box(rnnbounds.input_box(-1, 1, 3), 0.1)
    """
    if not box.is_box:
        raise InputError(f"a bounded change stands beside a box; {box.what} is none")
    most = torch.as_tensor(change, dtype=torch.float64).detach().clone().reshape(-1)
    most = most.repeat(box.d) if len(most) == 1 else most
    if len(most) != box.d:
        raise ShapeError("the change of inputs", f"one number or {box.d}", most)
    if not bool(((most >= 0) & (most < math.inf)).all()):
        raise RangeError("the change of inputs", float(most.min()), "a number ≥ 0")
    sizes = sorted(set(most.tolist()))
    size = exactly(sizes[0]) if len(sizes) == 1 else f"δ, δ up to {exactly(sizes[-1])}"
    what = f"{box.what} with |x_t − x_{{t−1}}| ≤ {size}"
    return InputSet(float(box), box.low, box.high, what, change=most)


def largest_change(sequences: list[Tensor]) -> Tensor:
    """At least |x_t − x_{t−1}| of all sequences (T, d): (d,), 0 where none has two inputs."""
    found = [changes(x).amax(0) for x in sequences if len(x) > 1]
    return torch.stack(found).amax(0) if found else torch.zeros(sequences[0].shape[1]).double()


SETS: Mapping[str, Callable[[Tensor, str], InputSet]] = {
    "frames": input_frames, "hull": input_hull, "axes": input_axes, "zonotope": input_zonotope,
}  # fmt: skip


def _of_points(frames: Tensor, what: str, kind: str) -> InputSet:
    table = input_rows(frames, what)
    assert table.rows is not None
    if table.rows.numel() > LARGEST:
        m, d = table.rows.shape
        raise InputError(
            f"{what} are {m} different inputs of {d} channels, more than the {LARGEST} numbers "
            f"that a certificate holds; give fewer, or a box or zonotope around them"
        )
    return InputSet(float(table), table.low, table.high, what, table.rows, kind)


def _points(frames: Tensor, what: str) -> Tensor:
    """The different frames, (m, d)."""
    x = input_rows(frames, what).rows
    assert x is not None
    return x


def _principal(x: Tensor) -> tuple[Tensor, Tensor]:
    """The middle of the rows of x (m, d) in their principal axes (d,), and the axes, columns
    (d, d)."""
    scale = x.abs().max().clamp(min=1e-300)
    centered = x / scale - (x / scale).mean(0)
    Q = torch.linalg.eigh(centered.mT @ centered)[1]
    z = x @ Q
    return Q @ ((z.amax(0) + z.amin(0)) / 2), Q


def _around(x: Tensor, center: Tensor, Q: Tensor, share: float, what: str) -> InputSet:
    """The zonotope around the rows of x (m, d); whatever Q is, what it leaves is bounded."""
    z = (x - center) @ Q
    size = z.abs().sort(0).values[math.ceil(share * (len(z) - 1))] * (share > 0) * _OUTWARD
    size = torch.where(size > _LEAST * size.max(), size, 0.0)
    z = torch.where(size > 0, (z / size.clamp(min=1e-300)).clamp(-1, 1), 0.0)
    axes = (Q * size).mT.contiguous()
    left, error = left_over(x, center, z, axes)
    left = add_up(left, 2 * error).amax(0) * _OUTWARD  # twice: other z have other roundings
    return zonotope_set(center, torch.cat([axes, torch.diag(left)]), what)


def _length(one: InputSet) -> float:
    assert one.zonotope is not None
    return float(torch.linalg.vector_norm(one.zonotope.generators, dim=1).sum())
