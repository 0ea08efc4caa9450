"""Windows of linear cells by their impulse responses, in balls: without torch.

Two runs under the same inputs, one of which was at 0 k steps before, are apart by
Σ_{k≤j<T} A^j (U x_j + b). For C_j = [V_j v_j] near A^j [U b], sums of V_j x_j are bounded by
√(Σ w_j) times the root of ‖Σ V_j V_jᵀ/w_j‖₂ for ‖x_j‖₂ ≤ 1 and any w_j > 0, by Cauchy and Schwarz,
or row by row over the set of inputs. C_j is the middle of A C_{j−1}, whose radius is carried along
in the norm in which the cell was proved to contract, as is all from j = J on. What is left after k
steps bounds what is left after more, since no sum grows with k. Source: `impl.norms.impulses`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from flint import arb, arb_mat, ctx

from rnnbounds.impl.checker.cells.poles import Poles, poles_of
from rnnbounds.impl.checker.cells.units import Units, Weights, still, through
from rnnbounds.impl.checker.definite import diagonal, norm, positive
from rnnbounds.impl.checker.input_ranges import InputRanges
from rnnbounds.impl.format.record import Record
from rnnbounds.impl.format.tensors import Array

STEPS, WORK = 2**14, 2**31  # of a maker: responses, and products that they take
_BLOCK = 64  # responses after which sums may end, those of a maker
_LEAST = 2.0**-200  # of √w_j
_NEGLIGIBLE = 2.0**-20  # of what may be left: more responses then prove no more
_PRECISION = 128


@dataclass(eq=False)
class _Sums:
    """The largest Σ_{i≤j<T} a_j over all k ≤ i ≤ T, and that of −a_j, of numbers in ranges, unit by
    unit."""

    most: list[arb]
    sums: list[list[arb]] = field(default_factory=list)
    least: list[list[arb]] = field(default_factory=list)

    def add(self, low: Sequence[arb], high: Sequence[arb]) -> None:
        """Add the ranges of one more j."""
        still = [arb(0)] * len(low)
        self.sums, self.least = self.sums or [still, still], self.least or [still, still]
        for sign, ends in enumerate(([-a for a in low], high)):
            sums = [a + b for a, b in zip(self.sums[sign], ends, strict=True)]
            self.least[sign] = [a.min(b) for a, b in zip(self.least[sign], sums, strict=True)]
            self.sums[sign] = sums
            spans = (a - b for a, b in zip(sums, self.least[sign], strict=True))
            self.most = [a.max(b) for a, b in zip(self.most, spans, strict=True)]


@dataclass(eq=False)
class _Window:
    """A window of k steps after which at most `most` is to be left, and what is added up for it."""

    k: int
    most: arb
    gram: arb_mat
    bias: _Sums
    rows: _Sums
    weight: arb = field(default_factory=lambda: arb(0))
    lost: arb = field(default_factory=lambda: arb(0))
    columns: list[list[list[arb]]] = field(default_factory=list)

    @classmethod
    def of(cls, k: int, most: arb, n: int) -> "_Window":
        """The window of a system of n numbers, with nothing yet."""
        bias, rows = (_Sums([arb(0)] * n) for _ in range(2))
        return cls(k, most, arb_mat(n, n), bias, rows)

    def add(self, C: list[list[arb]], ranges: Units | None) -> None:
        """Add C_j (n, d + 1), and where C_j (x, 1) lies."""
        V, v = [row[:-1] for row in C], [row[-1] for row in C]
        size = norm([a for row in V for a in row])
        root = arb(max(math.sqrt(max(0.0, float(size.mid()))), _LEAST))
        self.weight += root * root
        self.columns.append([[a / root for a in row] for row in V])
        self.bias.add(v, v)
        if ranges is not None:
            self.rows.add(ranges.low, ranges.high)

    def holds(self, scale: arb, B: arb, last: arb) -> bool:
        """True if at most `most` is left, `last` being what C_J and all after it are at most."""
        room = self.most - scale * (self.lost + last)
        if not room > 0:
            return False
        if self.columns:
            wide = arb_mat([list(chain(*parts)) for parts in zip(*self.columns, strict=True)])
            self.gram, self.columns = self.gram + wide * wide.transpose(), []
        if self.rows.sums and norm(self.rows.most) <= room:
            return True
        room -= norm(self.bias.most)
        if B.is_zero() or self.weight.is_zero():
            return bool(room >= 0)
        square = diagonal([room * room] * self.gram.nrows())
        return bool(room > 0) and positive(square - (B * B * self.weight) * self.gram)


def proved(
    told: Record, weights: Mapping[str, Array], asked: Sequence[tuple[int, arb]]
) -> list[bool]:
    """For each pair (k, most) True if ‖Δh‖₂ ≤ most is proved for k steps and any number more, given
    that the cell contracts in the stated norm, with its C and c."""
    done = [False] * len(asked)
    with ctx.workprec(_PRECISION):
        system = linear_system(told.cell, Weights(weights))
        C, c = (told.constants[name] for name in ("equivalence", "reach"))
        if system is None or not (told.lam < 1 and C * c < math.inf):
            return done
        A, V = system
        n, columns, B, lam = V.nrows(), V.ncols(), arb(told.input_bound), arb(told.lam)
        scale, inputs = (1 + B) * arb(C) * arb(c) / (1 - lam), InputRanges.of(told.inputs)
        limit = min(STEPS, WORK // (n * n * columns))
        left = {i: _Window.of(k, most, n) for i, (k, most) in enumerate(asked) if k <= limit}
        error = _radius(V)
        for j in range(limit):
            V = V.mid()
            ranges = None
            if inputs is not None and any(window.k <= j for window in left.values()):
                ranges = _ranges(V.tolist(), B, inputs)
            for window in left.values():
                if window.k == j:
                    window.lost = error
                if window.k <= j:
                    window.add(V.tolist(), ranges)
            last = _size(V) + error
            if (j + 1) % _BLOCK == 0:
                for i, window in list(left.items()):
                    if window.k <= j + 1 and window.holds(scale, B, last):
                        done[i] = True
                    if done[i] or scale * last <= _NEGLIGIBLE * window.most:
                        del left[i]
            if not left:
                break
            V = A * V
            radius = _radius(V)
            error = (lam * error + radius).upper()
            for window in left.values():
                if window.k <= j:
                    window.lost = (window.lost + radius).upper()
    return done


def linear_system(cell: str, m: Weights) -> tuple[arb_mat, arb_mat] | None:
    """A (n, n) and [U b] (n, d + 1) of h⁺ = Ah + Ux + b in balls; None for cells of other steps."""
    if cell == "linear":
        A, U = m.matrix("weight_hh"), m.matrix("weight_ih")
        names = [name for name in ("bias_ih", "bias_hh") if name in m]
        b = [sum(each, arb(0)) for each in zip(*map(m.vector, names), strict=True)]
    elif cell == "leaky-identity":
        leak = m.vector("leak")
        A, U = ([[a * v for v in row] for a, row in zip(leak, m.matrix(name), strict=True)]
                for name in ("W", "W_in"))  # fmt: skip
        for i, a in enumerate(leak):
            A[i][i] += 1 - a
        b = [a * v for a, v in zip(leak, m.vector("b"), strict=True)] if "b" in m else []
    elif cell == "diagonal":
        poles = poles_of(m)
        A, U = _turning(poles), [row for part in poles.fed for row in part]
        b = m.vector("b") if "b" in m else []
    else:
        return None
    b = b or [arb(0)] * len(A)
    return arb_mat(A), arb_mat([[*row, v] for row, v in zip(U, b, strict=True)])


def _turning(poles: Poles) -> list[list[arb]]:
    """The matrix of h ↦ Λ∘h, complex numbers as all real parts before all imaginary ones."""
    n, zero = len(poles.re), arb(0)
    re, im = (
        [[v if i == j else zero for j in range(n)] for i, v in enumerate(part)]
        for part in (poles.re, poles.im or [])
    )
    if poles.im is None:
        return re
    upper = [a + [-v for v in b] for a, b in zip(re, im, strict=True)]
    return upper + [b + a for a, b in zip(re, im, strict=True)]


def _ranges(rows: list[list[arb]], B: arb, inputs: InputRanges) -> Units:
    """The ranges of C_j (x, 1) over all inputs x."""
    inputs.known.clear()  # of rows that are no more
    x = Units(inputs.low, inputs.high, [{} for _ in inputs.low], radius=B, inputs=inputs)
    return through([row[:-1] for row in rows], x) + still([row[-1] for row in rows])


def _radius(V: arb_mat) -> arb:
    """At least the Frobenius norm of V less its middle."""
    return _size(V - V.mid()).upper()


def _size(V: arb_mat) -> arb:
    """The Frobenius norm of V."""
    square: arb = (V.transpose() * V).trace()
    return square.upper().sqrt()
