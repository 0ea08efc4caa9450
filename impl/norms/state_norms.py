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

from rnnbounds.impl.norms.iterated import StepFamily, iterated_norms
from rnnbounds.impl.norms.remaining import DifferenceBounds
from rnnbounds.impl.norms.semidefinite import semidefinite_scaling
from rnnbounds.impl.norms.solver.client import SOLVER_NORM
from rnnbounds.impl.norms.weighted import (
    WeightedNorm,
    diagonal_scaling,
    perron_vector,
    quadratic_norm,
)
from rnnbounds.impl.norms.window import least_window
from rnnbounds.impl.numbers.json_values import finite_or_none
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

_REFERENCE_EPSILON = 1e-6  # the ε at which iterated norms are compared with each other


@dataclass(frozen=True)
class StateNorm:
    """One norm ‖·‖_* on the state, with rigorous upper bounds (infinite where none is known).

    lam: the contraction factor in it. drive: sup ‖φ(0, x)‖_* over ‖x‖₂ ≤ B. equivalence: C with
    ‖h‖₂ ≤ C‖s‖_* for the output h of a state s. reach: c with ‖s‖_* ≤ c‖s‖₂. weights: v of
    max |s_i|/v_i, d of ‖(d_i s_i)‖₂, the rows of Q of ‖Qs‖₂, or w of max ‖s_b‖₂/w_b over the blocks
    of a gated cell's state; None for the plain norms. radius: a bound on ‖s_t‖_* for all t that
    needs no contraction. steps: r of an iterated norm, 1 for all others. input_lipschitz: L with
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
    input_lipschitz: float = math.inf
    remaining: DifferenceBounds | None = field(default=None, repr=False, compare=False)

    @property
    def gain(self) -> float:
        """G with ‖h_T − h′_T‖₂ ≤ G δ for every T, for two runs from one state whose inputs are
        within δ of one another: C L/(1 − λ)."""
        margin = subtract_down(1.0, self.lam)
        product = mul_up(self.equivalence, self.input_lipschitz)
        return float(div_up(product, margin)) if margin > 0 else math.inf

    @cached_property
    def euclidean_bounds(self) -> tuple[float, float]:
        """(C S, C radius): the drive and the radius as bounds in the Euclidean norm."""
        sizes = torch.tensor([self.drive, self.radius], dtype=torch.float64)
        drive, radius = mul_up(self.equivalence, sizes).tolist()
        return drive, radius

    @cached_property
    def states(self) -> float:
        """At least ‖h_t‖₂ for all t: C times the least of S/(1 − λ) and the radius."""
        margin, (drive, radius) = subtract_down(1.0, self.lam), self.euclidean_bounds
        return min(float(div_up(drive, margin)) if margin > 0 else math.inf, radius)

    def to_json(self) -> dict[str, Any]:
        """The norm with its constants as plain JSON data; infinite ones are null."""
        return {
            "norm": self.name,
            "lambda": self.lam,
            "weights": self.weights,
            "steps": self.steps,
            "drive": self.drive,
            "equivalence": self.equivalence,
            "reach": finite_or_none(self.reach),
            "radius": finite_or_none(self.radius),
        }

    def window(self, epsilon: float) -> int | None:
        """The least k with a bound on ‖h_T − h_T^k‖₂ of at most ε: C λᵏ times the bound on states,
        or the smaller one of `impl.norms.remaining`; None if there is none."""
        k = self.geometric_window(epsilon)
        return k if k is None or self.remaining is None else self.remaining.window(epsilon, k)

    def geometric_window(self, epsilon: float) -> int | None:
        """Find the least k with C λᵏ times the bound on states at most ε, or None."""
        drive, radius = self.euclidean_bounds
        return least_window(drive, self.lam, epsilon, radius)


@dataclass(frozen=True, eq=False)
class NormData:
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
    retention: Tensor | None = None
    box: Tensor | None = None
    first_states: Tensor | None = None

    @cached_property
    def input_lipschitz(self) -> Tensor:
        """L_ρ‖U_i‖₂, how far an input moves each unit, (n,)."""
        return mul_up(self.slope, norm_up(self.U))

    @cached_property
    def unit_drive(self) -> Tensor:
        """sup |φ(0, x)_i|, (n,)."""
        bound = add_up(mul_up(self.input_lipschitz, self.B), self.offset)
        return bound if self.first_states is None else torch.minimum(bound, self.first_states)

    @cached_property
    def scaling(self) -> WeightedNorm:
        """The diagonal weights that three norms start from."""
        return diagonal_scaling(self.W)

    def drive_bound(self, ball: Tensor, size: Callable[[Tensor], Tensor]) -> float:
        """sup ‖φ(0, x)‖_* over the inputs: the bound for the ball, or for the smaller set in it."""
        return float(ball if self.first_states is None else ball.minimum(size(self.unit_drive)))

    def box_radius(self, size: Callable[[Tensor], Tensor]) -> float:
        """The largest norm in the box, at its corner: a bound on all states without contraction."""
        return math.inf if self.box is None else float(size(self.box))


def state_norm(name: str, data: NormData) -> StateNorm:
    """The norm of that name (one of NORMS) with its constants for the cell."""
    return NORMS[name](data)


def _spectral(p: NormData) -> StateNorm:
    lam = mul_up(p.slope, certified_norm(p.W))
    drive, lipschitz = _euclidean_drive(p, p.U, p.offset, norm_up)
    box = p.box_radius(norm_up)
    return StateNorm("spectral", float(lam), drive, 1.0, 1.0, radius=box, input_lipschitz=lipschitz)


def _infinity(p: NormData) -> StateNorm:
    lam = mul_up(p.slope, sum_up(p.W.abs()).amax())
    root = float(sqrt_up(float(p.W.shape[1])))
    drive, radius, lipschitz = (
        float(p.unit_drive.amax()),
        p.box_radius(torch.amax),
        float(p.input_lipschitz.amax()),
    )
    return StateNorm(
        "infinity", float(lam), drive, root, 1.0, radius=radius, input_lipschitz=lipschitz
    )


def _one(p: NormData) -> StateNorm:
    lam = mul_up(p.slope, sum_up(p.W.mT.abs()).amax())
    root = float(sqrt_up(float(p.W.shape[1])))
    drive, radius, lipschitz = (
        float(sum_up(p.unit_drive)),
        p.box_radius(sum_up),
        float(sum_up(p.input_lipschitz)),
    )
    return StateNorm("one", float(lam), drive, 1.0, root, radius=radius, input_lipschitz=lipschitz)


def _perron(p: NormData) -> StateNorm:
    weighted = perron_vector(p.W)
    v = weighted.weights[0]
    lam = mul_up(p.slope, weighted.factor)
    return StateNorm(
        "perron",
        float(lam),
        float(div_up(p.unit_drive, v).amax()),
        float(norm_up(v)),
        float(div_up(1.0, v.amin())),
        tuple(v.tolist()),
        p.box_radius(lambda box: div_up(box, v).amax()),
        input_lipschitz=float(div_up(p.input_lipschitz, v).amax()),
    )


def _diagonal_norm(name: str, p: NormData, weighted: WeightedNorm) -> StateNorm:
    """The norm ‖D·‖₂ for the diagonal weights D of `weighted`, with its constants."""
    d, factor = weighted.weights[0].diagonal(), weighted.factor[0]
    if p.retention is not None:
        size = norm_up((d[:, None] * p.W[0] / d[None, :]).flatten())
        factor = add_up(factor, add_up(mul_up(4 * UNIT, size), underflow(size)))
    slope_factor = mul_up(p.slope, factor)
    lam = float(slope_factor if p.retention is None else add_up(p.retention.amax(), slope_factor))
    smallest, largest = float(div_up(1.0, d.amin())), float(d.amax())
    drive, lipschitz = _scaled_drive(p, d)
    radius = p.box_radius(lambda box: norm_up(mul_up(d, box)))
    return StateNorm(
        name, lam, drive, smallest, largest, tuple(d.tolist()), radius, input_lipschitz=lipschitz
    )


def _iterated(p: NormData) -> StateNorm:
    """The best of several numbers of steps, in ‖·‖₂ and in the diagonal norm."""
    retention = torch.zeros_like(p.offset) if p.retention is None else p.retention
    steps = StepFamily(p.W[0].detach(), max(p.least, -p.slope), p.slope, retention)
    ones, scaled = torch.ones_like(p.offset), p.scaling.weights[0].diagonal()
    weights = [ones] if torch.equal(ones, scaled) else [ones, scaled]
    return min((norm for d in weights for norm in _iterated_norms(p, steps, d)), key=_preference)


def _iterated_norms(p: NormData, steps: StepFamily, d: Tensor) -> list[StateNorm]:
    """The norms N of `impl.norms.iterated`, with ‖D·‖₂ ≤ N ≤ K‖D·‖₂."""
    maps, C = iterated_norms(steps, d), float(div_up(1.0, d.amin()))
    corner = p.box_radius(lambda box: norm_up(mul_up(d, box)))
    sizes = torch.tensor([*_scaled_drive(p, d), float(d.amax()), corner], dtype=torch.float64)
    K = torch.tensor([norm.condition for norm in maps], dtype=torch.float64)
    weights = tuple(d.tolist())
    return [
        StateNorm("iterated", norm.rate, drive, C, reach, weights, radius, len(norm.factors), fed)
        for norm, (drive, fed, reach, radius) in zip(
            maps, mul_up(K[:, None], sizes).tolist(), strict=True
        )
    ]


def _preference(norm: StateNorm) -> tuple[bool, float, float]:
    """Certified first, then the shortest window, then the smallest factor."""
    k = norm.window(_REFERENCE_EPSILON)
    return (not norm.lam < 1, math.inf if k is None else k, norm.lam)


def _quadratic(p: NormData) -> StateNorm:
    weighted = quadratic_norm(p.W)
    Q = weighted.weights[0]
    offset = sum_up(mul_up(Q.abs(), p.offset))
    rounding = mul_up(2 * gamma(Q.shape[0]), norm_up((Q.abs() @ p.U.abs()).flatten()))

    def size(units: Tensor) -> Tensor:
        return norm_up(sum_up(mul_up(Q.abs(), units)))

    drive, lipschitz = _euclidean_drive(p, Q @ p.U, offset, size, add_up(rounding, TINY))
    weights = tuple(tuple(row) for row in Q.tolist())
    reach = float(certified_norm(Q[None]))
    inverse = float(certified_inverse(weighted.weights).norm)
    return StateNorm(
        "quadratic",
        float(weighted.factor),
        drive,
        inverse,
        reach,
        weights,
        input_lipschitz=lipschitz,
    )


NORMS: Mapping[str, Callable[[NormData], StateNorm]] = {
    "spectral": _spectral,
    "infinity": _infinity,
    "one": _one,
    "perron": _perron,
    "diagonal": lambda p: _diagonal_norm("diagonal", p, p.scaling),
    SOLVER_NORM: lambda p: _diagonal_norm(
        SOLVER_NORM, p, semidefinite_scaling(p.W, start=p.scaling)
    ),
    "iterated": _iterated,
    "quadratic": _quadratic,
}


def _euclidean_drive(
    p: NormData,
    U: Tensor,
    offset: Tensor,
    size: Callable[[Tensor], Tensor],
    rounding: Tensor | float = 0.0,
) -> tuple[float, float]:
    """L_ρ(‖U‖₂ + rounding)B + ‖offset‖₂, U off by at most `rounding`, or the `size` of the unit
    drives; and the factor of B."""
    lipschitz = mul_up(p.slope, add_up(certified_norm(U[None]), rounding))[0]
    drive = p.drive_bound(add_up(mul_up(lipschitz, p.B), norm_up(offset)), size)
    return drive, float(lipschitz)


def _scaled_drive(p: NormData, d: Tensor) -> tuple[float, float]:
    """sup ‖Dφ(0, x)‖₂, and the factor of B in it."""
    scaled = d[:, None] * p.U
    rounding = add_up(mul_up(3 * UNIT, norm_up(scaled.flatten())), TINY * scaled.numel())
    return _euclidean_drive(
        p, scaled, mul_up(d, p.offset), lambda units: norm_up(mul_up(d, units)), rounding
    )
