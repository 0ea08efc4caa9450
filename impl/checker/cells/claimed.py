"""One norm of one cell as a certificate states it, and what is proved of it.

A norm is stated with λ, the drive S ≥ sup ‖φ(0, x)‖_*, C and c with ‖h‖₂ ≤ C‖s‖_* ≤ C c‖s‖₂, and a
bound R on all ‖s_t‖_*; whoever found its weights, each of these is proved. Source: Miller & Hardt,
Lemma 1.

One step of each cell with gates or layers of its own, over units in balls.

Written anew from the formulas: LSTM and GRU as torch documents them (gates i, f, g, o and r, z, n),
Cho et al. (2014), Jaeger et al. (2007), Pascanu et al. (2014).

Norms ‖Qh‖₂ with a matrix Q, of linear systems and of cells with multipliers for their slopes.

Sources: those of `impl.norms.metric` and of `impl.norms.state_norms`.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, arb_mat, fmpq

from rnnbounds.impl.checker.cells.activations import BALL_ACTIVATIONS
from rnnbounds.impl.checker.cells.layouts import activation, layout
from rnnbounds.impl.checker.cells.norms import Cell, Greatest, Norm, Scaled, Total
from rnnbounds.impl.checker.cells.stepped import Blocks, Stepped
from rnnbounds.impl.checker.cells.units import (
    InputRanges,
    Step,
    Units,
    Weights,
    joined,
    mixed,
    still,
    through,
)
from rnnbounds.impl.checker.definite import (
    Rows,
    balls,
    exact,
    exact_rows,
    norm,
    norm_above,
    norm_at_most,
    positive,
    smaller,
)
from rnnbounds.impl.errors import at_least, factor
from rnnbounds.impl.format.fields import Number, RecordError, Size, Stated, converted
from rnnbounds.impl.format.tensors import Array

_SIGMOID, _TANH = BALL_ACTIVATIONS["rnn-sigmoid"], BALL_ACTIVATIONS["rnn-tanh"]


def step_of(cell: str) -> Step:
    """The step of a cell that is not vanilla."""
    if cell in _STEPS:
        return _STEPS[cell]
    if cell.startswith("leaky-"):
        return _leaky(cell)
    return _deep(cell)


def _lstm(m: Weights, s: Units, x: Units) -> Units:
    """c⁺ = σ(f)∘c + σ(i)∘tanh(g), h⁺ = σ(o)∘tanh(c⁺), or R h⁺."""
    n = len(m.stored["weight_ih"]) // 4
    c, h = s.part(0, n), s.part(n, len(s))
    fed = m.affine("weight_ih", "bias_ih", x) + m.affine("weight_hh", "bias_hh", h)
    i, f, g, o = fed.chunk(4)
    c = f.through(_SIGMOID) * c + i.through(_SIGMOID) * g.through(_TANH)
    h = o.through(_SIGMOID) * c.through(_TANH)
    return joined(c, m.affine("weight_hr", None, h) if "weight_hr" in m else h)


def _gru(m: Weights, h: Units, x: Units) -> Units:
    """h⁺ = (1 − z)∘tanh(U_n x + b + r∘(W_n h + c)) + z∘h."""
    u_r, u_z, u_n = m.affine("weight_ih", "bias_ih", x).chunk(3)
    w_r, w_z, w_n = m.affine("weight_hh", "bias_hh", h).chunk(3)
    reset = (u_r + w_r).through(_SIGMOID)
    return mixed((u_z + w_z).through(_SIGMOID), h, (u_n + reset * w_n).through(_TANH))


def _gru_cho(m: Weights, h: Units, x: Units) -> Units:
    """h⁺ = (1 − z)∘tanh(U_n x + b + W_n (r∘h) + c) + z∘h."""
    n = len(h)
    u_r, u_z, u_n = m.affine("weight_ih", "bias_ih", x).chunk(3)
    w_r, w_z = m.affine("weight_hh", "bias_hh", h, slice(0, 2 * n)).chunk(2)
    reset = (u_r + w_r).through(_SIGMOID)
    w_n = m.affine("weight_hh", "bias_hh", reset * h, slice(2 * n, 3 * n))
    return mixed((u_z + w_z).through(_SIGMOID), h, (u_n + w_n).through(_TANH))


def _leaky(cell: str) -> Step:
    """h⁺ = (1 − a)∘h + a∘ρ(W h + W_in x + b)."""
    rho = BALL_ACTIVATIONS[activation(cell)]

    def step(m: Weights, h: Units, x: Units) -> Units:
        fed = m.affine("W_in", "b", x) + m.affine("W", None, h)
        return mixed(m.constant("leak"), fed.through(rho), h)

    return step


def _deep(cell: str) -> Step:
    """h⁺ = g_L ∘ … ∘ g_1(h), g_l(u) = ρ(W_l u + [l = 1] U x + b_l)."""
    rho = BALL_ACTIVATIONS[activation(cell)]

    def step(m: Weights, h: Units, x: Units) -> Units:
        layer = 1
        while f"transition_{layer}_weight" in m:
            h = m.affine(f"transition_{layer}_weight", f"transition_{layer}_bias", h)
            h = (h + m.affine("input_weight", None, x) if layer == 1 else h).through(rho)
            layer += 1
        return h

    return step


_STEPS: Mapping[str, Step] = {
    "lstm": _lstm,
    "lstm-projected": _lstm,
    "gru": _gru,
    "gru-cho": _gru_cho,
}


@dataclass(frozen=True)
class Quadratic(Norm):
    """‖Qh‖₂, of linear systems alone."""

    Q: Rows

    def contracts(self, cell: Any, lam: float) -> bool:
        """λ²QᵀQ − (QW)ᵀQW is positive definite, W with what the cell keeps, or W = 0."""
        cell = cell.linear
        Q, W = balls(self.Q), balls(_diagonal(cell.kept, cell.n)) + balls(cell.W)
        linear = cell.rho.least == 1 and cell.rho.slope == 1
        still = all(v == 0 for v in W.entries())
        room = arb(lam) ** 2 * (Q.transpose() * Q) - (Q * W).transpose() * (Q * W)
        return linear and (still or positive(room))

    def drive(self, cell: Any) -> arb:
        """‖QU‖₂B + ‖|Q|o‖₂."""
        cell = cell.linear
        ball = arb(cell.pushed(balls(self.Q) * balls(cell.U)) + self._size(cell.offset))
        return ball if cell.first is None else smaller(ball, self._size(cell.rest))

    def radius(self, cell: Any) -> arb:
        """‖|Q| box‖₂."""
        return self._size(cell.box)

    def _size(self, v: list[arb]) -> arb:
        """‖|Q| v‖₂ of v ≥ 0."""
        size = balls([[abs(a) for a in row] for row in self.Q])
        return norm((size * arb_mat([[a] for a in v])).entries())

    def equivalent(self, cell: Any, C: float) -> bool:
        """C²QᵀQ − I is positive definite, or Q is the 1 × 1 matrix with |Q|C ≥ 1."""
        Q = balls(self.Q)
        if Q.nrows() == 1:
            return bool(abs(self.Q[0][0]) * exact(C) >= 1)
        one = arb_mat([[int(i == j) for j in range(Q.nrows())] for i in range(Q.nrows())])
        return positive(arb(C) ** 2 * (Q.transpose() * Q) - one)

    def reached(self, cell: Any, c: float) -> bool:
        """‖Q‖₂ ≤ c."""
        return norm_at_most(self.Q, c)


@dataclass(frozen=True)
class Multiplied(Quadratic):
    """‖Qh‖₂ with multipliers Λ ≥ 0 for slopes in [m, L], of any vanilla cell."""

    multipliers: list[fmpq]

    def contracts(self, cell: Any, lam: float) -> bool:
        """[[λ²P − AᵀPA, −AᵀP − ℓWᵀΛ], [−PA − ℓΛW, 2Λ − P]] is positive definite for P = QᵀQ,
        A = diag(κ) + mW and ℓ = L − m."""
        cell = cell.linear
        if not all(weight >= 0 for weight in self.multipliers):
            return False
        least = arb(cell.rho.least)
        if not least.is_finite():
            return False
        span = arb(cell.slope) - least
        Q, W = balls(self.Q), balls(cell.W)
        A = balls(_diagonal(cell.kept, cell.n)) + least * W
        P, Lambda = Q.transpose() * Q, balls(_diagonal(self.multipliers, cell.n))
        upper = arb(lam) ** 2 * P - (Q * A).transpose() * (Q * A)
        corner, lower = -(P * A + span * (Lambda * W)), 2 * Lambda - P
        rows = [a + b for a, b in zip(upper.tolist(), corner.transpose().tolist(), strict=True)]
        rows += [a + b for a, b in zip(corner.tolist(), lower.tolist(), strict=True)]
        return positive(arb_mat(rows))

    def drive(self, cell: Any) -> arb:
        """The less of ‖Q‖₂ times the Euclidean drive and ‖|Q| |φ(0, x)|‖₂."""
        cell = cell.linear
        euclidean = Scaled([exact(1.0)] * cell.n).drive(cell)
        return smaller(norm_above([balls(self.Q)]) * euclidean, self._size(cell.rest))


def _diagonal(values: list[fmpq] | None, n: int) -> Rows:
    """The diagonal matrix, of zeros for None."""
    held = values or [fmpq(0)] * n
    return [[v if i == j else fmpq(0) for j in range(n)] for i, v in enumerate(held)]


_DENSE = {"quadratic": 0, "quadratic-sdp": 1}  # how many rows stand after the matrix


def cell_of(
    name: str, weights: dict[str, Array], B: arb, inputs: InputRanges | None,
    box: Sequence[float] | None,
) -> Any:  # fmt: skip
    """A cell under ‖x‖₂ ≤ B and these inputs, with the box that is stated of its states;
    raises RecordError."""
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


def norm_of(told: Stated, cell: Any) -> Norm:
    """The norm that is named, with its weights; raises RecordError for what is none."""
    name, weights, vanilla = told.name, told.weights, isinstance(cell, Cell)
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
    slopes = vanilla or cell.cell.startswith("leaky-")
    if name in _DENSE and slopes:
        rows = [[exact(v) for v in row] for row in converted(weights, list[list[Number]])]
        if len(rows) != size + _DENSE[name] or {*map(len, rows)} != {size}:
            raise RecordError("no square matrix")
        return Multiplied(rows[:-1], rows[-1]) if _DENSE[name] else Quadratic(rows)
    v = [exact(a) for a in positive_weights(weights, size)]
    if name == "diagonal" and slopes:
        return Scaled(v)
    if name == "perron" or (name == "comparison" and not vanilla):
        return Greatest(v)
    raise RecordError("no such norm")


def proofs(told: Stated, norm: Norm, cell: Any) -> Iterator[tuple[str, bool, str]]:
    """Each part of what is stated of a norm, whether it is proved, and what it says."""
    lam = told.lam
    contracts = lam < 1 and norm.contracts(cell, lam)
    yield "contraction", contracts, f"λ ≤ {factor(lam)} < 1 in the {told.name} norm"
    driven = contracts and bool(norm.drive(cell) <= arb(told.drive))
    yield "drive", driven, f"‖φ(0, x)‖ ≤ {at_least(told.drive, 9)}"
    C, c = told.equivalence, told.reach
    yield "equivalence", norm.equivalent(cell, C), f"‖h‖₂ ≤ {at_least(C, 9)} ‖h‖"
    if c < math.inf:
        yield "reach", contracts and norm.reached(cell, c), f"‖h‖ ≤ {at_least(c, 9)} ‖h‖₂"
    if told.radius < math.inf:
        held = contracts and bool(norm.radius(cell) <= arb(told.radius))
        yield "radius", held, f"‖h‖ ≤ {at_least(told.radius, 9)} at all times"


def bounded(told: Stated, cell: Any, most: float) -> bool:
    """True if ‖h_t‖₂ ≤ most is proved for all t, by the box or by the stated norm."""
    lam, C = arb(told.lam), arb(told.equivalence)
    size = sum((side * side for side in cell.box[-cell.n :]), arb(0)).sqrt()
    by_box = bool(size.is_finite() and size <= most)
    by_drive = bool(told.lam < 1 and C * arb(told.drive) <= arb(most) * (1 - lam))
    return by_box or by_drive or (told.radius < math.inf and bool(C * arb(told.radius) <= most))


def biases(weights: dict[str, Array]) -> list[tuple[float, float]]:
    """Both of torch's, 0 where there is none."""
    n = len(weights["weight_hh"])
    both = (weights.get(role, np.zeros(n)).tolist() for role in ("bias_ih", "bias_hh"))
    return list(zip(*both, strict=True))


def _vanilla(name: str, weights: dict[str, Array], B: arb, inputs: InputRanges | None) -> Cell:
    """The cell in rationals; the biases are added without rounding."""
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
    """So many weights > 0; raises RecordError."""
    found = converted(weights, list[Size])
    if len(found) != size or not all(a > 0 for a in found):
        raise RecordError("no weights of a norm")
    return found
