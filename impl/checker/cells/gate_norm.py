"""The norm ‖(d_i s_i)‖₂ of an LSTM or a GRU by multipliers for the ranges of gates, in balls.

Two runs of a unit differ by numbers v = E Δ, by y with y_m between l_m q_m and u_m q_m for
q = G (v, y), and after the step by O (v, y). With p = d² and multipliers τ ≥ 0, S is the Schur
complement of the block of y in Σ p_r O_rᵀO_r + Σ τ_m sym (y_m − l_m q_m)(u_m q_m − y_m), which has
to be negative definite there, and λ²P − Σ Eᵀ S E is proved positive definite. Source:
`impl.norms.gate_multipliers`; formulas of cells as in `impl.checker.cells.steps`.
"""

from dataclasses import dataclass
from typing import Any

from flint import arb, arb_mat, fmpq

from rnnbounds.impl.checker.cells.activations import sigmoid
from rnnbounds.impl.checker.cells.stepped import Stepped
from rnnbounds.impl.checker.cells.units import Units
from rnnbounds.impl.checker.definite import complement, diagonal, exact, norm, positive

Span = tuple[arb, arb]
COUNTS = {"lstm": 6, "gru": 4}  # of multipliers for each unit


@dataclass(frozen=True)
class Gates:
    """‖(d_i s_i)‖₂ with the multipliers τ, those of a unit together."""

    d: list[fmpq]
    multipliers: list[fmpq]
    units: list[fmpq] | None = None

    def contracts(self, cell: Stepped, lam: float) -> bool:
        """True if both parts of the inequality are proved definite."""
        N, n = cell.states, cell.n
        M, forms = COUNTS[cell.cell], {"lstm": _lstm, "gru": _gru}[cell.cell]
        linear, spans, G, O = forms(cell)
        K = len(linear)
        total = arb_mat(N, N)
        for j in range(n):
            tau = [arb(t) for t in self.multipliers[j * M : (j + 1) * M]]
            Q = arb_mat(K + M, K + M)
            for r, row in enumerate(O):
                out = arb_mat([row])
                Q += arb(self.d[r * n + j]) ** 2 * (out.transpose() * out)
            for m, (t, span) in enumerate(zip(tau, spans, strict=True)):
                low, high = span[j]
                y = arb_mat([[arb(int(c == K + m)) for c in range(K + M)]])
                q = arb_mat([G[m]])
                product = (y - low * q).transpose() * (high * q - y)
                Q += t / 2 * (product + product.transpose())
            rows = Q.tolist()
            inner = -arb_mat([row[K:] for row in rows[K:]])
            side = arb_mat([row[:K] for row in rows[K:]])
            left = complement(inner, side.transpose(), -arb_mat([row[:K] for row in rows[:K]]))
            if left is None:
                return False
            E = arb_mat([part[j] for part in linear])
            total -= E.transpose() * left * E
        P = diagonal([arb(v) ** 2 for v in self.d])
        return positive(arb(lam) ** 2 * P - total)

    def _size(self, units: list[arb]) -> arb:
        return norm([arb(d) * u for d, u in zip(self.d, units, strict=True)])

    def drive(self, cell: Stepped, lam: float) -> arb:
        """‖(d_i |φ(0, x)_i|)‖₂."""
        return self._size(cell.rest)

    def moved(self, cell: Stepped, lam: float) -> arb:
        """‖(d_i ‖N_i‖₂)‖₂, N comparing inputs."""
        return self._size(cell.fed())

    def radius(self, cell: Stepped, lam: float) -> arb:
        """‖(d_i box_i)‖₂."""
        return self._size(cell.box)

    def equivalent(self, cell: Any, C: float) -> bool:
        """1/min d ≤ C over the output."""
        return bool(min(self.d[-cell.n :]) * exact(C) >= 1)

    def reached(self, cell: Any, lam: float, c: float) -> bool:
        """max d ≤ c."""
        return bool(max(self.d) <= exact(c))


Forms = tuple[list[list[list[arb]]], list[list[Span]], list[list[arb]], list[list[arb]]]


def _lstm(cell: Stepped) -> Forms:
    """c⁺ = f c + i g and h⁺ = o tanh c⁺: Δc⁺ = f Δc + c σ̇ Δa_f + i τ̇ Δa_g + g σ̇ Δa_i and
    Δh⁺ = o τ̇ Δc⁺ + tanh(c⁺) σ̇ Δa_o."""
    m, n, (s, x) = cell.weights, cell.n, cell.everywhere()
    fed = m.affine("weight_ih", "bias_ih", x) + m.affine("weight_hh", "bias_hh", s.part(n, 2 * n))
    i, f, g, o = map(_spans, fed.chunk(4))
    c = _spans(s.part(0, n))
    spans = [
        _gate(f), _times(c, _steep(f)), _times(_gate(i), _flat(g)), _times(_tanh(g), _steep(i)),
        _times(_gate(o), _flat(c)), _times(_tanh(c), _steep(o)),
    ]  # fmt: skip
    zero, W = [arb(0)] * n, m.matrix("weight_hh")
    parts = [[zero + row for row in W[k * n : (k + 1) * n]] for k in range(4)]
    kept = [row + zero for row in _eye(n)]
    G = [_row(11, m) for m in (0, 1, 2, 3)] + [_row(11, 5, 6, 7, 8), _row(11, 4)]
    linear = [kept, parts[1], parts[2], parts[0], parts[3]]
    return linear, spans, G, [_row(11, 5, 6, 7, 8), _row(11, 9, 10)]


def _gru(cell: Stepped) -> Forms:
    """h⁺ = z h + (1 − z) ν, ν = tanh(u + r q): Δh⁺ = z Δh + (h − ν) σ̇ Δa_z
    + (1 − z) τ̇ (r Δq + q σ̇ Δa_r)."""
    m, n, (s, x) = cell.weights, cell.n, cell.everywhere()
    u = m.affine("weight_ih", "bias_ih", x).chunk(3)
    w = m.affine("weight_hh", "bias_hh", s).chunk(3)
    r, z, q, u_n = (_spans(a) for a in (u[0] + w[0], u[1] + w[1], w[2], u[2]))
    gate = _gate(r)
    nu = _plus(u_n, _times(gate, q))
    steep = _times(_gate([(-b, -a) for a, b in z]), _flat(nu))
    apart = _plus(_spans(s), [(-b, -a) for a, b in _tanh(nu)])
    spans = [
        _gate(z), _times(apart, _steep(z)), _times(steep, gate),
        _times(steep, _times(q, _steep(r))),
    ]  # fmt: skip
    W = m.matrix("weight_hh")
    linear = [_eye(n), W[n : 2 * n], W[2 * n :], W[:n]]
    return linear, spans, [_row(8, m) for m in range(4)], [_row(8, 4, 5, 6, 7)]


def _eye(n: int) -> list[list[arb]]:
    return [_row(n, i) for i in range(n)]


def _row(size: int, *ones: int) -> list[arb]:
    return [arb(int(c in ones)) for c in range(size)]


def _spans(a: Units) -> list[Span]:
    return list(zip(a.low, a.high, strict=True))


def _plus(a: list[Span], b: list[Span]) -> list[Span]:
    return [(x[0] + y[0], x[1] + y[1]) for x, y in zip(a, b, strict=True)]


def _times(a: list[Span], b: list[Span]) -> list[Span]:
    """All products of numbers in both."""
    found = []
    for x, y in zip(a, b, strict=True):
        ends = [p * q for p in x for q in y]
        low, high = ends[0], ends[0]
        for end in ends[1:]:
            low, high = low.min(end), high.max(end)
        found.append((low, high))
    return found


def _gate(a: list[Span]) -> list[Span]:
    return [(sigmoid(low), sigmoid(high)) for low, high in a]


def _tanh(a: list[Span]) -> list[Span]:
    return [(low.tanh(), high.tanh()) for low, high in a]


def _steep(a: list[Span]) -> list[Span]:
    """σ′ = σ(1 − σ) on intervals: the less the farther from 0."""
    return _falling(a, lambda v: sigmoid(v) * sigmoid(-v))


def _flat(a: list[Span]) -> list[Span]:
    """tanh′ = 1 − tanh² on intervals: the less the farther from 0."""
    return _falling(a, lambda v: v.sech() ** 2)


def _falling(a: list[Span], slope: Any) -> list[Span]:
    found = []
    for low, high in a:
        nearest, farthest = low.max(-high).max(arb(0)), (-low).max(high)
        found.append((slope(farthest), slope(nearest)))
    return found
