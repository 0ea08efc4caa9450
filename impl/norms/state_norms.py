"""The norms in which one cell may contract, each with its way back to the Euclidean norm.

A diagonal of slopes |ρ′| ≤ L_ρ commutes with diagonal weights, so in the plain and the diagonally
weighted norms the cell h ↦ ρ(Wh + …) contracts by λ = L_ρ‖W‖. A full quadratic form certifies
linear systems, or a cell with multipliers for its slopes (`impl.norms.metric`). Sources: Miller &
Hardt, section 2; Horn & Johnson, section 8 (Perron).

One line about each norm that `certify` tries: the length that it gives to a state.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import torch
from torch import Tensor

from rnnbounds.impl.errors import RangeError
from rnnbounds.impl.norms.metric import LARGEST, METRIC_SDP, metric_norm, slope_system
from rnnbounds.impl.norms.norm_data import NormData, StateNorm
from rnnbounds.impl.norms.weighted import certified_inverse, perron_vector, quadratic_norm
from rnnbounds.impl.numbers.outward import (
    TINY,
    UNIT,
    add_up,
    div_up,
    gamma,
    mul_up,
    norm_up,
    sqrt_up,
    sum_up,
    underflow,
)
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm


def state_norm(name: str, data: NormData) -> StateNorm:
    """The norm of that name (one of NORMS) with its constants for the cell."""
    return NORMS[name](data)


def _spectral(p: NormData) -> StateNorm:
    lam = mul_up(p.slope, certified_norm(p.W))
    drive, lipschitz = _euclidean_drive(p, p.U, p.offset, norm_up)
    box = p.box_radius(norm_up)
    return StateNorm("spectral", float(lam), drive, 1.0, 1.0, radius=box, input_lipschitz=lipschitz)


def _infinity(p: NormData) -> StateNorm:
    rows = sum_up(p.W.abs()).amax()
    return replace(_of_units("infinity", p, torch.ones_like(p.offset), rows), weights=None)


def _of_units(name: str, p: NormData, v: Tensor, factor: Tensor) -> StateNorm:
    """max |h_i|/v_i, in which |W| has that factor."""
    return StateNorm(
        name,
        float(mul_up(p.slope, factor)),
        float(div_up(p.unit_drive, v).amax()),
        float(norm_up(v)),
        float(div_up(1.0, v.amin())),
        tuple(v.tolist()),
        p.box_radius(lambda box: div_up(box, v).amax()),
        input_lipschitz=float(div_up(p.input_lipschitz, v).amax()),
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
    return _of_units("perron", p, weighted.weights[0], weighted.factor)


def _diagonal(p: NormData) -> StateNorm:
    """The norm ‖D·‖₂ for diagonal weights D."""
    d, factor = p.scaling.weights[0].diagonal(), p.scaling.factor[0]
    if p.retention is not None:
        size = norm_up((d[:, None] * p.W[0] / d[None, :]).flatten())
        factor = add_up(factor, add_up(mul_up(4 * UNIT, size), underflow(size)))
    slope_factor = mul_up(p.slope, factor)
    lam = float(slope_factor if p.retention is None else add_up(p.retention.amax(), slope_factor))
    smallest, largest = float(div_up(1.0, d.amin())), float(d.amax())
    scaled = d[:, None] * p.U
    rounding = add_up(mul_up(3 * UNIT, norm_up(scaled.flatten())), TINY * scaled.numel())
    drive, lipschitz = _euclidean_drive(
        p, scaled, mul_up(d, p.offset), lambda units: norm_up(mul_up(d, units)), rounding
    )
    radius, weights = p.box_radius(lambda box: norm_up(mul_up(d, box))), tuple(d.tolist())
    return StateNorm(
        "diagonal", lam, drive, smallest, largest, weights, radius, input_lipschitz=lipschitz
    )


def _quadratic(p: NormData) -> StateNorm:
    """‖Q·‖₂ for a linear system, h⁺ = (diag(κ) + W)h + Ux + b."""
    W, lost = p.W, 0.0
    if p.retention is not None:
        W = p.W + torch.diag(p.retention)[None]
        entries = norm_up((p.W.abs() + torch.diag(p.retention)).flatten(1))
        lost = float(add_up(mul_up(4 * UNIT, entries), underflow(entries)))
    weighted = quadratic_norm(W)
    lam = add_up(weighted.factor, mul_up(weighted.condition, lost))
    return _dense_norm("quadratic", p, weighted.weights[0], float(lam))


def _metric(p: NormData) -> StateNorm:
    """‖Q·‖₂ for slopes in [m, L], with the multipliers after the rows of Q."""
    if p.W.shape[1] > LARGEST:
        limit = f"at most {LARGEST}"
        raise RangeError(f"the number of states for {METRIC_SDP}", p.W.shape[1], limit)
    found = metric_norm(slope_system(p), p.scaling.weights[0].diagonal().cpu().numpy())
    norm = _dense_norm(METRIC_SDP, p, p.W.new_tensor(found.Q), found.factor)
    assert norm.weights is not None
    return replace(norm, weights=(*norm.weights, tuple(found.multipliers.tolist())))


def _dense_norm(name: str, p: NormData, Q: Tensor, lam: float) -> StateNorm:
    """The norm ‖Q·‖₂, in which the cell contracts by lam, with its constants."""
    reach, inverse = float(certified_norm(Q[None])), float(certified_inverse(Q[None]).norm)

    def size(units: Tensor) -> Tensor:
        return norm_up(sum_up(mul_up(Q.abs(), units)))

    offset = sum_up(mul_up(Q.abs(), p.offset))
    if p.slope == p.least:
        rounding = mul_up(2 * gamma(Q.shape[0]), norm_up((Q.abs() @ p.U.abs()).flatten()))
        drive, lipschitz = _euclidean_drive(p, Q @ p.U, offset, size, add_up(rounding, TINY))
    else:
        plain, moved = _euclidean_drive(p, p.U, p.offset, norm_up)
        drive = min(float(mul_up(reach, plain)), float(size(p.unit_drive)))
        lipschitz = min(float(mul_up(reach, moved)), float(size(p.input_lipschitz)))
    radius = p.box_radius(size)
    weights = tuple(map(tuple, Q.tolist()))
    return StateNorm(name, lam, drive, inverse, reach, weights, radius, input_lipschitz=lipschitz)


def dense_norms(names: Iterable[str], least: float, slope: float) -> tuple[str, ...]:
    """The names without the dense norm that is of other slopes than those in [least, slope]: a
    Lyapunov equation's is of linear systems, multipliers are of all others."""
    other = METRIC_SDP if least == slope else "quadratic"
    return tuple(name for name in names if name != other)


NORMS: Mapping[str, Callable[[NormData], StateNorm]] = {
    "spectral": _spectral,
    "infinity": _infinity,
    "one": _one,
    "perron": _perron,
    "diagonal": _diagonal,
    METRIC_SDP: _metric,
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


NORM_MEANINGS: Mapping[str, str] = {
    "spectral": "the Euclidean length of a state; of several blocks, the largest weighted length",
    "infinity": "the largest absolute value in a state",
    "one": "the sum of the absolute values in a state",
    "perron": "the largest weighted value in a state, weights from the Perron vector of the "
    "comparison matrix",
    "diagonal": "the Euclidean length of a state with one weight per unit, found by balancing",
    "quadratic": "the Euclidean length of Q times a state, Q from a Lyapunov equation",
    "quadratic-sdp": "the Euclidean length of Q times a state, Q found by semidefinite "
    "programming for restricted slopes",
    "comparison": "the largest weighted value in a state, one weight for c and one for h",
    "cascade": "the largest of the layers' own norms, with one weight per layer",
}
