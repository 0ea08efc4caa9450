"""The norms in which one cell may contract, each with its way back to the Euclidean norm.

A diagonal of slopes |ρ′| ≤ L_ρ commutes with diagonal weights, so in the plain and the diagonally
weighted norms the cell h ↦ ρ(Wh + …) contracts by λ = L_ρ‖W‖; a full quadratic form certifies
linear systems only, and a norm of several steps sees that slopes have a sign
(`impl.norms.iterated`). Sources: Miller & Hardt, section 2; Horn & Johnson, section 8 (Perron).
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from rnnbounds.impl.norms.iterated import Steps, iterated
from rnnbounds.impl.norms.remaining import Remaining
from rnnbounds.impl.norms.semidefinite import semidefinite_scaling
from rnnbounds.impl.norms.solver.client import SOLVED
from rnnbounds.impl.norms.weighted import (
    WeightedNorm,
    diagonal_scaling,
    perron_vector,
    quadratic_norm,
)
from rnnbounds.impl.norms.window import least_window
from rnnbounds.impl.numbers.outward import (
    TINY,
    UNIT,
    add_up,
    div_up,
    gamma,
    mul_up,
    norm_up,
    sqrt_up,
    subtract_down,
    sum_up,
    underflow,
)
from rnnbounds.impl.numbers.spectra.inverse import certified_inverse
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm
from rnnbounds.impl.numbers.told import finite

_USUAL = 1e-6  # the ε at which iterated norms are compared with each other


@dataclass(frozen=True)
class StateNorm:
    """One norm ‖·‖_* on the state, with rigorous upper bounds (infinite where none is known).

    lam: the contraction factor in it. drive: sup ‖φ(0, x)‖_* over ‖x‖₂ ≤ B. equivalence: C with
    ‖h‖₂ ≤ C‖s‖_* for the output h of a state s. reach: c with ‖s‖_* ≤ c‖s‖₂. weights: v of
    max |s_i|/v_i, d of ‖(d_i s_i)‖₂, the rows of Q of ‖Qs‖₂, or w of max ‖s_b‖₂/w_b over the blocks
    of a gated cell's state; None for the plain norms. radius: a bound on ‖s_t‖_* for all t that
    needs no contraction. steps: r of an iterated norm, 1 for all others. fed: L with
    ‖φ(s, x) − φ(s, x′)‖_* ≤ L‖x − x′‖₂. remaining: the comparison from which λ is, if it is from
    one, and a start that holds all states.
    """

    name: str
    lam: float
    drive: float
    equivalence: float
    reach: float
    weights: tuple[float, ...] | tuple[tuple[float, ...], ...] | None = None
    radius: float = math.inf
    steps: int = 1
    fed: float = math.inf
    remaining: Remaining | None = field(default=None, repr=False, compare=False)

    @property
    def gain(self) -> float:
        """G with ‖h_T − h′_T‖₂ ≤ G δ for every T, for two runs from one state whose inputs are
        within δ of one another: C L/(1 − λ)."""
        gap = subtract_down(1.0, self.lam)
        return float(div_up(mul_up(self.equivalence, self.fed), gap)) if gap > 0 else math.inf

    @cached_property
    def shown(self) -> tuple[float, float]:
        """C times the drive, and the radius."""
        sizes = torch.tensor([self.drive, self.radius], dtype=torch.float64)
        drive, radius = mul_up(self.equivalence, sizes).tolist()
        return drive, radius

    @cached_property
    def states(self) -> float:
        """At least ‖h_t‖₂ for all t: C times the least of S/(1 − λ) and the radius."""
        gap, (drive, radius) = subtract_down(1.0, self.lam), self.shown
        return min(float(div_up(drive, gap)) if gap > 0 else math.inf, radius)

    def to_json(self) -> dict[str, Any]:
        """The norm with its constants as plain JSON data; what is infinite is null."""
        return {
            "norm": self.name,
            "lambda": self.lam,
            "weights": self.weights,
            "steps": self.steps,
            "drive": self.drive,
            "equivalence": self.equivalence,
            "reach": finite(self.reach),
            "radius": finite(self.radius),
        }

    def window(self, epsilon: float) -> int | None:
        """The least k for which a bound on ‖h_T − h_T^k‖₂ is at most ε: C λᵏ times that on states,
        or what is remaining of these; None where none is."""
        k = self.geometric(epsilon)
        return k if k is None or self.remaining is None else self.remaining.window(epsilon, k)

    def geometric(self, epsilon: float) -> int | None:
        """Find the least k with C λᵏ times the bound on states at most ε, or None."""
        drive, radius = self.shown
        return least_window(drive, self.lam, epsilon, radius)


@dataclass(frozen=True, eq=False)
class Parts:
    """Data of all norms: W (1, n, n), U (n, d), offset (n,) ≥ |ρ(b)|, B ≥ ‖x‖₂.

    slope: L_ρ. least: a lower bound on ρ′. kept: retention of the units (n,), rounded up; 0 for
    vanilla cells. Other cells have W and U rounded once, and only the norms by diagonal weights,
    ‖D·‖₂. box: |h_i| ≤ box_i for all t by the range of the activations, (n,); None if unknown.
    first: |φ(0, x)_i| ≤ first_i over a set of inputs smaller than the ball, (n,); None for a ball.
    """

    W: Tensor
    U: Tensor
    offset: Tensor
    slope: float
    B: float
    least: float = -math.inf
    kept: Tensor | None = None
    box: Tensor | None = None
    first: Tensor | None = None

    @cached_property
    def fed(self) -> Tensor:
        """L_ρ‖U_i‖₂, how far an input moves each unit, (n,)."""
        return mul_up(self.slope, norm_up(self.U))

    @cached_property
    def units(self) -> Tensor:
        """sup |φ(0, x)_i|, (n,)."""
        most = add_up(mul_up(self.fed, self.B), self.offset)
        return most if self.first is None else torch.minimum(most, self.first)

    @cached_property
    def scaling(self) -> WeightedNorm:
        """The diagonal weights that three norms start from."""
        return diagonal_scaling(self.W)

    def driven(self, ball: Tensor, size: Callable[[Tensor], Tensor]) -> float:
        """sup ‖φ(0, x)‖_*, of a set perhaps less than of its ball."""
        return float(ball if self.first is None else torch.minimum(ball, size(self.units)))

    def held(self, size: Callable[[Tensor], Tensor]) -> float:
        """The largest norm in the box, at its corner: a bound on all states without contraction."""
        return math.inf if self.box is None else float(size(self.box))


def state_norm(name: str, parts: Parts) -> StateNorm:
    """The norm of that name (one of NORMS) with its constants for the cell."""
    return NORMS[name](parts)


def _spectral(p: Parts) -> StateNorm:
    lam = mul_up(p.slope, certified_norm(p.W))
    drive, fed = _euclidean_drive(p, p.U, p.offset, norm_up)
    return StateNorm("spectral", float(lam), drive, 1.0, 1.0, radius=p.held(norm_up), fed=fed)


def _infinity(p: Parts) -> StateNorm:
    lam = mul_up(p.slope, sum_up(p.W.abs()).amax())
    root = float(sqrt_up(float(p.W.shape[1])))
    drive, radius, fed = float(p.units.amax()), p.held(torch.amax), float(p.fed.amax())
    return StateNorm("infinity", float(lam), drive, root, 1.0, radius=radius, fed=fed)


def _one(p: Parts) -> StateNorm:
    lam = mul_up(p.slope, sum_up(p.W.mT.abs()).amax())
    root = float(sqrt_up(float(p.W.shape[1])))
    drive, radius, fed = float(sum_up(p.units)), p.held(sum_up), float(sum_up(p.fed))
    return StateNorm("one", float(lam), drive, 1.0, root, radius=radius, fed=fed)


def _perron(p: Parts) -> StateNorm:
    found = perron_vector(p.W)
    v = found.weights[0]
    lam = mul_up(p.slope, found.factor)
    return StateNorm(
        "perron",
        float(lam),
        float(div_up(p.units, v).amax()),
        float(norm_up(v)),
        float(div_up(1.0, v.amin())),
        tuple(v.tolist()),
        p.held(lambda box: div_up(box, v).amax()),
        fed=float(div_up(p.fed, v).amax()),
    )


def _scaled(name: str, p: Parts, found: WeightedNorm) -> StateNorm:
    """‖D·‖₂ for the diagonal D that was found."""
    d, factor = found.weights[0].diagonal(), found.factor[0]
    if p.kept is not None:
        size = norm_up((d[:, None] * p.W[0] / d[None, :]).flatten())
        factor = add_up(factor, add_up(mul_up(4 * UNIT, size), underflow(size)))
    steep = mul_up(p.slope, factor)
    lam = float(steep if p.kept is None else add_up(p.kept.amax(), steep))
    smallest, largest = float(div_up(1.0, d.amin())), float(d.amax())
    drive, fed = _scaled_drive(p, d)
    radius = p.held(lambda box: norm_up(mul_up(d, box)))
    return StateNorm(name, lam, drive, smallest, largest, tuple(d.tolist()), radius, fed=fed)


def _iterated(p: Parts) -> StateNorm:
    """The best of several numbers of steps, in ‖·‖₂ and in the diagonal norm."""
    kept = torch.zeros_like(p.offset) if p.kept is None else p.kept
    steps = Steps(p.W[0].detach(), max(p.least, -p.slope), p.slope, kept)
    plain, scaled = torch.ones_like(p.offset), p.scaling.weights[0].diagonal()
    weights = [plain] if torch.equal(plain, scaled) else [plain, scaled]
    return min((one for d in weights for one in _adapted(p, steps, d)), key=_length)


def _adapted(p: Parts, steps: Steps, d: Tensor) -> list[StateNorm]:
    """The norms N of `impl.norms.iterated`, with ‖D·‖₂ ≤ N ≤ K‖D·‖₂."""
    maps, least = iterated(steps, d), float(div_up(1.0, d.amin()))
    held = p.held(lambda box: norm_up(mul_up(d, box)))
    sizes = torch.tensor([*_scaled_drive(p, d), float(d.amax()), held], dtype=torch.float64)
    K = torch.tensor([one.condition for one in maps], dtype=torch.float64)
    weights = tuple(d.tolist())
    return [
        StateNorm("iterated", one.rate, drive, least, reach, weights, radius, len(one.factors), fed)
        for one, (drive, fed, reach, radius) in zip(
            maps, mul_up(K[:, None], sizes).tolist(), strict=True
        )
    ]


def _length(norm: StateNorm) -> tuple[bool, float, float]:
    """Certified first, then the shortest window, then the smallest factor."""
    k = norm.window(_USUAL)
    return (not norm.lam < 1, math.inf if k is None else k, norm.lam)


def _quadratic(p: Parts) -> StateNorm:
    found = quadratic_norm(p.W)
    Q = found.weights[0]
    offset = sum_up(mul_up(Q.abs(), p.offset))
    lost = mul_up(2 * gamma(Q.shape[0]), norm_up((Q.abs() @ p.U.abs()).flatten()))

    def size(units: Tensor) -> Tensor:
        return norm_up(sum_up(mul_up(Q.abs(), units)))

    drive, fed = _euclidean_drive(p, Q @ p.U, offset, size, add_up(lost, TINY))
    weights = tuple(tuple(row) for row in Q.tolist())
    reach = float(certified_norm(Q[None]))
    inverse = float(certified_inverse(found.weights).norm)
    return StateNorm("quadratic", float(found.factor), drive, inverse, reach, weights, fed=fed)


NORMS: Mapping[str, Callable[[Parts], StateNorm]] = {
    "spectral": _spectral,
    "infinity": _infinity,
    "one": _one,
    "perron": _perron,
    "diagonal": lambda p: _scaled("diagonal", p, p.scaling),
    SOLVED: lambda p: _scaled(SOLVED, p, semidefinite_scaling(p.W, start=p.scaling)),
    "iterated": _iterated,
    "quadratic": _quadratic,
}


def _euclidean_drive(
    p: Parts,
    U: Tensor,
    offset: Tensor,
    size: Callable[[Tensor], Tensor],
    lost: Tensor | float = 0.0,
) -> tuple[float, float]:
    """L_ρ(‖U‖₂ + lost)B + ‖offset‖₂, where rounding moved U by at most `lost`, or the `size` of the
    units; and B's factor."""
    fed = mul_up(p.slope, add_up(certified_norm(U[None]), lost))[0]
    return p.driven(add_up(mul_up(fed, p.B), norm_up(offset)), size), float(fed)


def _scaled_drive(p: Parts, d: Tensor) -> tuple[float, float]:
    """sup ‖Dφ(0, x)‖₂, and the factor of B in it."""
    scaled = d[:, None] * p.U
    lost = add_up(mul_up(3 * UNIT, norm_up(scaled.flatten())), TINY * scaled.numel())
    return _euclidean_drive(
        p, scaled, mul_up(d, p.offset), lambda units: norm_up(mul_up(d, units)), lost
    )
