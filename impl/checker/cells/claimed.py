"""One cell and one norm as a certificate states them, and proofs of what it states of the norm.

A norm is stated with λ, the drive S ≥ sup ‖φ(0, x)‖_*, C and c with ‖h‖₂ ≤ C‖s‖_* ≤ C c‖s‖₂, and a
bound R on all ‖s_t‖_*; whoever found its weights, each of these is proved. Source: Miller & Hardt,
Lemma 1.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from flint import arb

from rnnbounds.impl.checker.cells.activations import BALL_ACTIVATIONS
from rnnbounds.impl.checker.cells.layouts import layout
from rnnbounds.impl.checker.cells.norms import (
    Cell,
    Greatest,
    Multiplied,
    Norm,
    Quadratic,
    Scaled,
    Total,
)
from rnnbounds.impl.checker.cells.stepped import Blocks, Stepped
from rnnbounds.impl.checker.cells.steps import step_of
from rnnbounds.impl.checker.cells.units import InputRanges, Units, Weights, still, through
from rnnbounds.impl.checker.definite import exact, exact_rows
from rnnbounds.impl.errors import at_least, factor
from rnnbounds.impl.format.fields import Number, RecordError, Size, Stated, converted
from rnnbounds.impl.format.tensors import Array

_DENSE = {"quadratic": 0, "quadratic-sdp": 1}  # how many rows stand after the matrix


def cell_of(
    name: str, weights: dict[str, Array], B: arb, inputs: InputRanges | None,
    box: Sequence[float] | None,
) -> Any:  # fmt: skip
    """A `Cell` if vanilla, else `Stepped`, under ‖x‖₂ ≤ B and these inputs, with the box that is
    stated of its states; raises RecordError."""
    states, n, d = layout(name, weights).sizes({role: w.shape for role, w in weights.items()})
    if name in BALL_ACTIVATIONS:
        if box is not None:
            raise RecordError("a box of a cell that has none")
        return _vanilla(name, weights, B, inputs)
    if box is None or len(box) != states:
        raise RecordError("no box of the states")
    if "leak" in weights and not ((weights["leak"] > 0) & (weights["leak"] <= 1)).all():
        raise RecordError("a leak that is not in (0, 1]")
    sides = [arb(side) for side in box]
    return Stepped(name, Weights(weights), step_of(name), states, n, d, B, inputs, sides)


def norm_of(stated: Stated, cell: Any) -> Norm:
    """The norm of that name with its weights; raises RecordError for what the cell has not.

    infinity: max |s_i|; perron, and comparison of cells with gates or layers: max |s_i|/v_i;
    spectral: ‖h‖₂, or max ‖s_b‖₂/w_b over the blocks of such cells; one: Σ |h_i|; diagonal:
    ‖diag(v) h‖₂; quadratic: ‖Qh‖₂, and quadratic-sdp with multipliers in a row after those of Q.
    """
    name, weights, vanilla = stated.name, stated.weights, isinstance(cell, Cell)
    size = cell.n if vanilla else cell.states
    if name == "spectral" and not vanilla:
        return Blocks([exact(w) for w in positive_weights(weights, cell.blocks)])
    if name in ("spectral", "infinity", "one"):
        if weights is not None or (name == "one" and not vanilla):
            raise RecordError("no such norm, or weights of one that has none")
        one = [exact(1.0)] * size
        if name == "infinity":
            return Greatest(one)
        return Scaled(one) if name == "spectral" else Total()
    has_linear = vanilla or cell.cell.startswith("leaky-")
    if name in _DENSE and has_linear:
        rows = [[exact(v) for v in row] for row in converted(weights, list[list[Number]])]
        if len(rows) != size + _DENSE[name] or {*map(len, rows)} != {size}:
            raise RecordError("no square matrix")
        return Multiplied(rows[:-1], rows[-1]) if _DENSE[name] else Quadratic(rows)
    v = [exact(a) for a in positive_weights(weights, size)]
    if name == "diagonal" and has_linear:
        return Scaled(v)
    if name == "perron" or (name == "comparison" and not vanilla):
        return Greatest(v)
    raise RecordError("no such norm")


def proofs(stated: Stated, norm: Norm, cell: Any) -> Iterator[tuple[str, bool, str]]:
    """(name, True if it is proved, text) of each statement about a norm."""
    lam = stated.lam
    contracts = lam < 1 and norm.contracts(cell, lam)
    yield "contraction", contracts, f"λ ≤ {factor(lam)} < 1 in the {stated.name} norm"
    driven = contracts and bool(norm.drive(cell) <= arb(stated.drive))
    yield "drive", driven, f"‖φ(0, x)‖ ≤ {at_least(stated.drive, 9)}"
    C, c = stated.equivalence, stated.reach
    yield "equivalence", norm.equivalent(cell, C), f"‖h‖₂ ≤ {at_least(C, 9)} ‖h‖"
    if c < math.inf:
        yield "reach", contracts and norm.reached(cell, c), f"‖h‖ ≤ {at_least(c, 9)} ‖h‖₂"
    if stated.radius < math.inf:
        held = contracts and bool(norm.radius(cell) <= arb(stated.radius))
        yield "radius", held, f"‖h‖ ≤ {at_least(stated.radius, 9)} at all times"


def bounded(stated: Stated, cell: Any, most: float) -> bool:
    """True if ‖h_t‖₂ ≤ most is proved for all t, by the box or by the stated norm."""
    lam, C = arb(stated.lam), arb(stated.equivalence)
    size = sum((side * side for side in cell.box[-cell.n :]), arb(0)).sqrt()
    by_box = bool(size.is_finite() and size <= most)
    by_drive = bool(stated.lam < 1 and C * arb(stated.drive) <= arb(most) * (1 - lam))
    return by_box or by_drive or (stated.radius < math.inf and bool(C * arb(stated.radius) <= most))


def biases(weights: dict[str, Array]) -> list[tuple[float, float]]:
    """(bias_ih, bias_hh) of each unit, 0 where there is none."""
    n = len(weights["weight_hh"])
    both = (weights.get(role, np.zeros(n)).tolist() for role in ("bias_ih", "bias_hh"))
    return list(zip(*both, strict=True))


def _vanilla(name: str, weights: dict[str, Array], B: arb, inputs: InputRanges | None) -> Cell:
    """ρ(W h + U x + b) with W, U and b = bias_ih + bias_hh as rationals, added without rounding."""
    rho = BALL_ACTIVATIONS[name]
    W, U = (exact_rows(weights[role]) for role in ("weight_hh", "weight_ih"))
    sums = [arb(exact(i) + exact(h)) for i, h in biases(weights)]
    first = None
    if inputs is not None:
        x = Units(inputs.low, inputs.high, [{} for _ in inputs.low], radius=B)
        fed = through([[arb(u) for u in row] for row in U], x) + still(sums)
        first = fed.through(rho).sizes
    return Cell(W, U, [abs(rho.function(b)) for b in sums], rho, B, [rho.bound] * len(W), first)


def positive_weights(weights: list[Any] | None, size: int) -> list[float]:
    """The weights, if they are so many numbers > 0; raises RecordError."""
    found = converted(weights, list[Size])
    if len(found) != size or not all(a > 0 for a in found):
        raise RecordError("no weights of a norm")
    return found
