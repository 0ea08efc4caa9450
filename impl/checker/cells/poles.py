"""Diagonal recurrences h⁺ = Λ∘h + B̄x + b in balls, with Λ and B̄ as the names of their weights say.

lambda_re and perhaps lambda_im: as stored. nu_log: Λ = exp(−exp(nu_log) + i exp(theta_log)) and
B̄ = exp(gamma_log)∘B (Orvieto et al., 2023). log_A_real: A = −exp(log_A_real) + i A_imag,
Λ = exp(ΔA), B̄ = (Λ − 1)/A∘B, Δ = exp(log_dt) (Gu et al., 2022; Smith et al., 2023).
"""

from dataclasses import dataclass

from flint import arb

from rnnbounds.impl.checker.cells.terms import Weight
from rnnbounds.impl.checker.cells.units import Step, Units, Weights, joined, still, through


@dataclass(frozen=True)
class Poles:
    """Λ by its parts and its modulus, and the rows of B̄ by its parts; im is None for reals."""

    re: list[arb]
    im: list[arb] | None
    size: list[arb]
    fed: list[Weight]


def diagonal(m: Weights) -> tuple[Step, list[arb]]:
    """The step of the recurrence with these weights, and |Λ|."""
    poles = poles_of(m)

    def step(m: Weights, s: Units, x: Units) -> Units:
        driven = joined(*(through(rows, x) for rows in poles.fed))
        a = still(poles.re)
        if poles.im is None:
            moved = a * s
        else:
            w, (re, im) = still(poles.im), s.chunk(2)
            moved = joined(a * re - w * im, w * re + a * im)
        return moved + driven + m.constant("b") if "b" in m else moved + driven

    return step, poles.size


def poles_of(m: Weights) -> Poles:
    """Λ and B̄ of the convention that the names speak of."""
    B = m.matrix("B_re")
    if "nu_log" in m:
        size = [(-v.exp()).exp() for v in m.vector("nu_log")]
        angle = [v.exp() for v in m.vector("theta_log")]
        gamma = [v.exp() for v in m.vector("gamma_log")] if "gamma_log" in m else [arb(1)] * len(B)
        fed = [_times(gamma, part) for part in (B, m.matrix("B_im"))]
        return Poles(*_turned(size, angle), size, fed)
    if "log_A_real" in m:
        return _held(m, B)
    re = m.vector("lambda_re")
    if "lambda_im" not in m:
        return Poles(re, None, [abs(v) for v in re], [B])
    im = m.vector("lambda_im")
    size = [_modulus(a, w) for a, w in zip(re, im, strict=True)]
    return Poles(re, im, size, [B, _imaginary(m, B)])


def _held(m: Weights, B: Weight) -> Poles:
    """The zero-order hold."""
    dt = [v.exp() for v in m.vector("log_dt")]
    a, w = [-v.exp() for v in m.vector("log_A_real")], m.vector("A_imag")
    size = [(d * v).exp() for d, v in zip(dt, a, strict=True)]
    re, im = _turned(size, [d * v for d, v in zip(dt, w, strict=True)])
    g, h = [], []  # (Λ − 1)/A
    for x, y, p, q in zip(re, im, a, w, strict=True):
        square = p * p + q * q
        g.append(((x - 1) * p + y * q) / square)
        h.append((y * p - (x - 1) * q) / square)
    C = _imaginary(m, B)
    return Poles(re, im, size, [_sum(_times(g, B), _times([-v for v in h], C)),
                                _sum(_times(g, C), _times(h, B))])  # fmt: skip


def _imaginary(m: Weights, B: Weight) -> Weight:
    return m.matrix("B_im") if "B_im" in m else [[arb(0)] * len(row) for row in B]


def _turned(size: list[arb], angle: list[arb]) -> tuple[list[arb], list[arb]]:
    pairs = list(zip(size, angle, strict=True))
    return [r * t.cos() for r, t in pairs], [r * t.sin() for r, t in pairs]


def _modulus(re: arb, im: arb) -> arb:
    return abs(re) if im.is_zero() else (re * re + im * im).sqrt()


def _times(scale: list[arb], rows: Weight) -> Weight:
    return [[a * v for v in row] for a, row in zip(scale, rows, strict=True)]


def _sum(a: Weight, b: Weight) -> Weight:
    return [[x + y for x, y in zip(*rows, strict=True)] for rows in zip(a, b, strict=True)]
