"""Deep transitions of one size: φ = g_L ∘ … ∘ g_1, g_l(u) = ρ(W_l u + [l = 1] U x + b_l).

All weights are dyadic, so that they are floats and rationals at once. Steps and derivatives are
rational where ρ is piecewise linear, and balls elsewhere.
Source: Pascanu et al., How to construct deep recurrent neural networks.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cached_property, reduce
from math import inf
from operator import mul
from typing import Any

import torch
from flint import arb, arb_mat, fmpq, fmpq_mat

from impl.activation import Activation, activation
from impl.deep import DeepTransition
from impl.norm import certified_norm
from impl.outward import mul_up
from impl.rational import diagonal, identity
from properties.layered.dyadic import ONE, ZERO, eighths, floats, inputs, matrix
from properties.spec import SystemSpec
from properties.unitary.exact import Table, Vector, above, minus, nearest, rational, stream

FACTORS = (fmpq(1, 2), fmpq(3, 4), ONE, fmpq(1, 4), fmpq(5, 4), fmpq(3, 2))
Entry = fmpq | arb
Entries = list[Any]


@dataclass(frozen=True, eq=False)
class Layered:
    """One transition with its inputs x (S, T, d) and pairs of states (S, n).

    ``sizes`` and ``radii`` are ‖W_l‖₂ and r(W_l) where these are known exactly, ``isometric`` says
    that every W_l is a multiple of an isometry.
    """

    spec: SystemSpec
    W: tuple[fmpq_mat, ...]
    U: fmpq_mat
    b: tuple[Vector, ...]
    x: list[list[Vector]]
    h: list[Vector]
    h_other: list[Vector]
    sizes: tuple[fmpq, ...] | None
    radii: tuple[fmpq, ...] | None
    isometric: bool

    @property
    def rho(self) -> Activation:
        """ρ."""
        return activation(self.spec.activation)

    def tables(self) -> dict[str, Table]:
        """The first layer stands for the weights."""
        return {
            "W": self.W[0].tolist(), "U": self.U.tolist(), "b": self.b[0],
            "C": identity(self.spec.n).tolist(), "x": self.x, "h": self.h, "h_other": self.h_other,
        }  # fmt: skip

    @cached_property
    def transition(self) -> DeepTransition:
        """The same weights as tensors."""
        return DeepTransition(
            tuple(tensor(W) for W in self.W),
            tensor(self.U),
            tuple(torch.tensor([[nearest(v) for v in b]], dtype=torch.float64) for b in self.b),
            self.rho,
        )

    def constants(self) -> dict[str, float]:
        """What is certified of the transition as by `impl.deep_constants`, and what is tempting."""
        slope = torch.tensor([self.rho.slope], dtype=torch.float64)
        norms = [certified_norm(tensor(W)) for W in self.W]
        through = certified_norm(tensor(reduce(lambda A, W: W * A, self.W)))
        lam = reduce(lambda lam, size: mul_up(slope, mul_up(size, lam)), norms, slope / slope)
        found = {
            "lam_deep": lam,
            "lam": lam,
            "lam_layer": mul_up(slope, torch.stack(norms).amax(0)),
            "lam_once": mul_up(slope, reduce(mul_up, norms)),
            "lam_through": mul_up(reduce(mul_up, [slope] * len(norms)), through),
        }
        certified = {name: float(value) for name, value in found.items()}
        power = rational(self.rho.slope) ** len(self.W)
        return certified | {
            "L_rho": self.rho.slope,
            "W_product": inf if self.sizes is None else above(reduce(mul, self.sizes)),
            "lam_radii": inf if self.radii is None else above(power * reduce(mul, self.radii)),
        }

    def parameters(self) -> dict[str, float]:
        """The depth, and whether all layers are isometries up to a factor."""
        linear = self.spec.activation == "identity"
        return {"depth": float(len(self.W)), "isometric": float(linear and self.isometric)}

    @property
    def number(self) -> Any:
        """Rationals where ρ is piecewise linear, else balls."""
        return arb if self.rho.exact is None else fmpq

    def fed(self, layer: int, u: Entries, x: Vector) -> Entries:
        """W_l u + [l = 1] U x + b_l; entries of u with weight 0 add nothing, not even a radius."""
        rows = self.W[layer].tolist()
        driven = (self.U * fmpq_mat(len(x), 1, list(x))).entries()
        found = []
        for i, row in enumerate(rows):
            own = self.b[layer][i] + (ZERO if layer else driven[i])
            carried = (self.number(w) * v for w, v in zip(row, u, strict=True) if w != 0)
            found.append(sum(carried, self.number(own)))
        return found

    def value(self, z: Entry) -> Entry:
        """ρ(z)."""
        rho = self.rho
        if isinstance(z, fmpq):
            assert rho.exact is not None
            return rho.exact(z)
        return arb(0) if rho.at_zero == 0 and z.is_zero() else rho.ball(z)

    def slope(self, z: Entry) -> Entry:
        """ρ′(z), that of the left side at a kink."""
        rho = self.rho
        if isinstance(z, fmpq):
            assert rho.exact is not None
            return rho.exact(ONE) if z > 0 else -rho.exact(-ONE)
        return rho.ball_derivative(z)

    def step(self, h: Entries, x: Vector) -> Entries:
        """φ(h, x)."""
        u = [self.number(v) for v in h]
        for layer in range(len(self.W)):
            u = [self.value(z) for z in self.fed(layer, u, x)]
        return u

    def gap(self, s: int) -> Entries:
        """φ(h, x_1) − φ(h', x_1); a unit that sees no difference has none."""
        x, same = self.x[s][0], [False] * self.spec.n
        states = [[self.number(v) for v in h] for h in (self.h[s], self.h_other[s])]
        moved = self.W[0] * fmpq_mat(self.spec.n, 1, list(minus(self.h[s], self.h_other[s])))
        for layer, W in enumerate(self.W):
            rows = W.tolist()
            if layer:
                same = [all(w == 0 or e for w, e in zip(row, same, strict=True)) for row in rows]
            else:
                same = [v == 0 for v in moved.entries()]
            states = [[self.value(z) for z in self.fed(layer, u, x)] for u in states]
        zero = self.number(0)
        return [zero if e else p - q for e, p, q in zip(same, *states, strict=True)]

    def jacobian(self, s: int, k: int) -> fmpq_mat | arb_mat:
        """∂h_T/∂h_{T−k} of the run from zero, rational where all slopes are."""
        n, T = self.spec.n, self.spec.T
        exact = self.number is fmpq
        J: Any = identity(n) if exact else arb_mat(identity(n))
        h: Entries = [self.number(0)] * n
        for t, x in enumerate(self.x[s]):
            u = h
            for layer, W in enumerate(self.W):
                z = self.fed(layer, u, x)
                u = [self.value(v) for v in z]
                if t >= T - k:
                    D: Any = diagonal_of([self.slope(v) for v in z])
                    J = D * (W if exact else arb_mat(W)) * J
            h = u
        return dyadic(J) if not exact and all(v.is_exact() for v in J.entries()) else J


def diagonal_of(slopes: Entries) -> fmpq_mat | arb_mat:
    """diag(ρ′(z))."""
    if isinstance(slopes[0], fmpq):
        return diagonal(slopes)
    n = len(slopes)
    return arb_mat([[slopes[i] if i == j else arb(0) for j in range(n)] for i in range(n)])


def dyadic(J: arb_mat) -> fmpq_mat:
    """The rationals that exact balls are."""
    parts = [[v.man_exp() for v in row] for row in J.tolist()]
    return fmpq_mat([[fmpq(m) * fmpq(2) ** int(e) for m, e in row] for row in parts])


def tensor(A: fmpq_mat) -> torch.Tensor:
    """(1, m, n) of a dyadic matrix."""
    return torch.tensor([floats(A)], dtype=torch.float64)


def layers(spec: SystemSpec, member: int) -> Layered:
    """The member of a ``layered`` spec with ``layers`` layers of ``n`` units.

    identity: W_l = a_l I; signed: a_l times a signed permutation; nilpotent: a_l times a shift;
    cancelling: rows of one size, whose signs alternate in every second layer; gaussian: multiples
    of 1/8, of unknown norm; zero: one layer sees nothing.
    """
    draw, n = stream(spec, member, "system"), spec.n
    W = [weights(spec.regime, n, layer, draw) for layer in range(spec.layers)]
    if spec.regime == "zero":
        W[-1] = fmpq_mat(n, n)
    known = spec.regime != "gaussian"
    U, scale = matrix(n, spec.d, draw), rational(spec.bias)
    b = tuple(tuple(scale * v for v in eighths(n, draw)) for _ in W)
    pairs = [states(n, stream(spec, member, f"states {s}")) for s in spec.chosen]
    return Layered(
        spec, tuple(W), U, b, inputs(spec, member),
        [one for one, _ in pairs], [two for _, two in pairs],
        sizes=tuple(map(size, W)) if known else None,
        radii=tuple(radius(A, spec.regime) for A in W) if known else None,
        isometric=spec.regime in ("zero", "identity", "signed"),
    )  # fmt: skip


def weights(regime: str, n: int, layer: int, draw: random.Random) -> fmpq_mat:
    """One W_l."""
    factor = draw.choice(FACTORS)
    if regime == "gaussian":
        return factor * matrix(n, n, draw)
    if regime == "cancelling":
        row = [factor * (-1) ** (j if layer % 2 else 0) / 4 for j in range(n)]
        return fmpq_mat([row] * n)
    places, signs = list(range(n)), [1] * n
    if regime == "signed":
        places, signs = draw.sample(places, n), [draw.choice((1, -1)) for _ in range(n)]
    if regime == "nilpotent":
        places = [i + 1 for i in range(n)]
    W = fmpq_mat(n, n)
    for i, j in enumerate(places):
        if j < n:
            W[i, j] = factor * signs[i]
    return W


def size(W: fmpq_mat) -> fmpq:
    """‖W‖₂ of what is built: one entry at most in each row and column, or all of one size."""
    entry = max(abs(v) for v in W.entries())
    return entry * W.nrows() if all(v != 0 for v in W.entries()) else entry


def radius(W: fmpq_mat, regime: str) -> fmpq:
    """r(W): of rank one it is the trace."""
    if regime in ("nilpotent", "cancelling"):
        return abs(sum((W[i, i] for i in range(W.nrows())), ZERO))
    return size(W)


def states(n: int, draw: random.Random) -> tuple[Vector, Vector]:
    """Two states, apart by powers of two."""
    h, size = eighths(n, draw), fmpq(1, draw.choice((1, 4, 256)))
    if draw.randrange(4) == 0:
        h = tuple(-size * v / 2 for v in eighths(n, draw))
        return h, tuple(-v for v in h)
    return h, tuple(v + size * w for v, w in zip(h, eighths(n, draw), strict=True))
