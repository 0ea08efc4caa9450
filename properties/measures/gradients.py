"""Fast paths of gradients of vanilla networks: adjoints that all windows share, in every carrier.

From some window on the gradients of two runs are equal, whatever is rounded.
A gap of states that meets W m times is exactly 0 where the pattern of W has Wᵐ = 0, and so is an
adjoint that meets Wᵀ m times. Truncated back-propagation leaves out adjoints that met it k times or
more. What else the two gradients differ by is an adjoint beside a gap, at one time of the window:

    time                       T−k  ···  T−k+j  ···  T
    the state's gap met W        0         j         k      times, its pre-activation's once more
    the adjoint there          k−1       k−1−j       0      times

A slope that changes does so in the unit whose adjoint it meets: a path of k connections, none where
k ≥ m. In the columns of W any gap meets any adjoint: one of the two has vanished where k ≥ 2m. A
run that rests in zero has no gaps, and its adjoints meet columns of zeros unless b is trained.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from flint import arb, arb_mat, fmpq, fmpq_mat

from rnnbounds.impl.arithmetic.entries import IrrationalError, require_rational
from rnnbounds.impl.gradients.adjoint import (
    gradient_gaps,
    last_gradient,
    tb_gaps,
    tbptt_gaps,
)
from rnnbounds.impl.gradients.rounding import (
    gradient_error,
    gradient_gap_error,
    tbptt_error,
)
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.properties.measures.adjoints import (
    CellWeights,
    FullRun,
    PairArithmetic,
    matrix_entries,
)
from rnnbounds.properties.measures.measure import BallPair, FastPath, enclose_with_error
from rnnbounds.properties.measures.slack import (
    ROUND_UP,
    norm_rounding,
    vector_norms,
    zero_full_window,
)
from rnnbounds.properties.read.numbers.sizes import euclidean_ball
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.exact.members import rational, square_norm
from rnnbounds.properties.systems.exact.networks import is_vanilla

Tensor = torch.Tensor
Square = Callable[[Batch, int], fmpq | None]
# Which part of the difference from a run that starts later a quantity measures.
WINDOW_PARTS: dict[str, Callable[[FullRun, int], Any]] = {
    "grad_gap": lambda run, start: run.gradient_gap(start),
    "tbptt_gap": lambda run, start: run.cumulative_gradients[start],
    "tb_gap": lambda run, start: run.drift_contribution(run.state_drift(start)),
}
WINDOW_READINGS = {
    "grad_gap": (gradient_gaps, gradient_gap_error),
    "tbptt_gap": (tbptt_gaps, tbptt_error),
    "tb_gap": (tb_gaps, gradient_gap_error),
}


def window_gap_reading(name: str) -> Callable[[Batch], Tensor]:
    """A difference of gradients at every window, (B, S, K+1)."""
    reading, _ = WINDOW_READINGS[name]

    def value(batch: Batch) -> Tensor:
        gaps = reading(batch.cell, batch.x, batch.K, batch.loss, batch.spec.trained)
        return zero_equal_windows(batch, name, gaps)

    return value


def window_gap_rounding(name: str) -> Callable[[Batch, Tensor], Tensor]:
    """The error of its norm: that of the vector, and the norm's own; none where they are equal."""
    _, error = WINDOW_READINGS[name]

    def slack(batch: Batch, value: Tensor) -> Tensor:
        inner = error(batch.cell, batch.x, batch.K, batch.loss, batch.spec.trained)
        return zero_equal_windows(
            batch, name, inner * ROUND_UP + norm_rounding(count_trained(batch) + 1, value)
        )

    return slack


def weight_gap(batch: Batch) -> Tensor:
    """‖∇p_T(w) − ∇p_T(w')‖ over the trained weights, (B, S, 1)."""
    trained, other = batch.spec.trained, batch.other or batch.cell
    first, second = (last_gradient(cell, batch.x, batch.loss) for cell in (batch.cell, other))
    gap: Tensor = torch.linalg.vector_norm(first.flat(trained) - second.flat(trained), dim=2)
    return gap[:, :, None]


def computed_gradient_error(batch: Batch, cell: RNN) -> Tensor:
    """How far a computed ∇p_T of a cell on the batch's inputs is from the truth, (B, S, 1)."""
    return gradient_error(cell, batch.x, batch.loss, batch.spec.trained, 0)[:, :, None]


def count_trained(batch: Batch) -> int:
    """How many weights are trained."""
    n, d = batch.cell.n, batch.cell.d
    return n * sum({"W": n, "U": d, "b": 1}[name] for name in batch.spec.trained)


def weight_gap_rounding(batch: Batch, value: Tensor) -> Tensor:
    """The error of the difference of two weights' gradients."""
    inner = computed_gradient_error(batch, batch.cell) + computed_gradient_error(
        batch, batch.other or batch.cell
    )
    return inner * ROUND_UP + norm_rounding(count_trained(batch) + 1, value)


def exact_cell(arithmetic: PairArithmetic, cell: RNN) -> CellWeights:
    """One cell's floats in an arithmetic."""
    return CellWeights(arithmetic.rows(cell.W[0].tolist()), arithmetic.rows(cell.U[0].tolist()),
                arithmetic.column(cell.b[0].tolist()))  # fmt: skip


def ball_arithmetic(batch: Batch) -> PairArithmetic:
    """Balls at the precision that is current when they are made."""
    rho = batch.cell.activation
    return PairArithmetic(
        number=arb, matrix=arb_mat, rho=rho.ball, slope=rho.ball_derivative,
        loss_gradient=batch.loss.ball_gradient, is_linear=rho.name == "identity",
    )  # fmt: skip


def none_if_irrational(read: Square) -> Square:
    """The square, None where it leaves the rationals."""

    def guarded(batch: Batch, k: int) -> fmpq | None:
        try:
            return read(batch, k)
        except IrrationalError:
            return None

    return guarded


def rational_arithmetic(batch: Batch) -> PairArithmetic | None:
    """Rationals, where the loss does not leave them."""
    exactly = batch.loss.rational_gradient
    if exactly([fmpq(0)] * batch.cell.n) is None:
        return None
    rho = batch.cell.activation
    return PairArithmetic(
        number=rational, matrix=fmpq_mat, rho=require_rational(rho.name, rho.rational),
        slope=require_rational(rho.name, rho.rational_slope),
        loss_gradient=lambda h: exactly(h) or [],
        is_linear=rho.name == "identity",
    )  # fmt: skip


def full_run(arithmetic: PairArithmetic, batch: Batch) -> FullRun:
    """The full run of one pair."""
    inputs = [arithmetic.column(x) for x in batch.x[0, :, :, 0].tolist()]
    return FullRun(arithmetic, exact_cell(arithmetic, batch.cell), inputs, batch.spec.trained)


def ball_run(pair: BallPair) -> FullRun:
    """The full run in balls, made once at each precision."""
    cache = pair.cache
    if "run" not in cache:
        cache["run"] = full_run(ball_arithmetic(pair.batch), pair.batch)
    run: FullRun = cache["run"]
    return run


def rational_run(batch: Batch) -> FullRun | None:
    """The full run in rationals, made once; None where the loss leaves them."""
    key = "rational run"
    if key not in batch.cache:
        arithmetic = rational_arithmetic(batch)
        batch.cache[key] = None if arithmetic is None else full_run(arithmetic, batch)
    run: FullRun | None = batch.cache[key]
    return run


def window_gap_entries(run: FullRun, name: str, k: int) -> list[Any]:
    """The entries of a windowed gradient difference of one pair."""
    return matrix_entries(WINDOW_PARTS[name](run, len(run.inputs) - k))


def weight_gap_entries(run: FullRun, batch: Batch) -> list[Any]:
    """∇p_T(w) − ∇p_T(w') of a pair, as a vector."""
    other = exact_cell(run.arithmetic, batch.other or batch.cell)
    return matrix_entries(run.gradient_gap(0, run.cell.subtract(other)))


def window_gap_ball(name: str) -> Callable[[BallPair, int], arb]:
    """The norm of a windowed gradient difference in balls."""
    return lambda pair, k: euclidean_ball(window_gap_entries(ball_run(pair), name, k))


def window_gap_square(name: str) -> Square:
    """Its exact square, where there is one."""

    @none_if_irrational
    def read(batch: Batch, k: int) -> fmpq | None:
        run = rational_run(batch)
        return None if run is None else square_norm(window_gap_entries(run, name, k))

    return read


def weight_gap_ball(pair: BallPair, k: int) -> arb:
    """‖∇p_T(w) − ∇p_T(w')‖ in balls; k plays no part."""
    return euclidean_ball(weight_gap_entries(ball_run(pair), pair.batch))


@none_if_irrational
def weight_gap_square(batch: Batch, k: int) -> fmpq | None:
    """Its exact square, where there is one."""
    run = rational_run(batch)
    return None if run is None else square_norm(weight_gap_entries(run, batch))


EARLY, LATE = "tbptt_gap", "tb_gap"  # what truncated back-propagation leaves out, and the rest


def zero_equal_windows(batch: Batch, name: str, value: Tensor) -> Tensor:
    """A difference of gradients, or its error, (B, S, K+1), and 0 at the windows where there is
    none."""
    k = torch.arange(batch.K + 1, device=batch.x.device)
    is_early, is_late = name == EARLY, name == LATE
    first_equal = nilpotency_index(batch.cell.W) * (
        2 if "W" in batch.spec.trained and not is_early else 1
    )
    is_different = (k >= int(is_late)) & (k < first_equal[:, None, None])
    if is_late or "b" not in batch.spec.trained:
        is_different = is_different & ~is_at_rest(batch)[:, :, None]
    return zero_full_window(batch, torch.where(is_different, value, 0.0))


def nilpotency_index(W: Tensor) -> Tensor:
    """The least m with Wᵐ = 0 by its pattern, (B,); more than any window where there is none."""
    pattern = (W != 0).to(W.dtype)
    power, index = pattern, torch.full(W.shape[:1], 2**30, device=W.device)
    if bool((pattern.diagonal(dim1=1, dim2=2) != 0).any(1).all()):  # a unit wired to itself
        return index
    for m in range(1, W.shape[1] + 1):
        is_zero = ~(power != 0).flatten(1).any(1)
        index = torch.where(is_zero, index.clamp(max=m), index)
        power = ((pattern @ power) != 0).to(W.dtype)
    return index


def is_at_rest(batch: Batch) -> Tensor:
    """Mask the pairs (B, S) with states and inputs exactly 0: x = 0, b = 0 and ρ(0) = 0."""
    cell, is_zero_input = batch.cell, (batch.x == 0).all(dim=1).all(dim=1)
    return is_zero_input & (cell.b == 0).all(dim=1)[:, None] & (cell.activation.at_zero == 0)


def activation_slopes(batch: Batch, h: Tensor) -> Tensor:
    """ρ′(W h + U x_1 + b), (B, n, S)."""
    preactivation = torch.baddbmm(batch.cell.drive(batch.x[:, 0]), batch.cell.W, h)
    return batch.cell.activation.derivative(preactivation)


def trained_features(batch: Batch, h: Tensor) -> Tensor:
    """The trained parts of [h x_1 1], (B, m, S)."""
    parts = {"W": h, "U": batch.x[:, 0], "b": torch.ones_like(h[:, :1])}
    return torch.cat([parts[name] for name in batch.spec.trained], dim=1)


def weight_jacobian_norm(batch: Batch) -> Tensor:
    """‖∂_wφ(h, x)‖ = max_i |ρ′_i| ‖(h, x, 1)‖, (B, S, 1)."""
    steepest = activation_slopes(batch, batch.h).abs().amax(dim=1)
    return (steepest * vector_norms(trained_features(batch, batch.h)))[:, :, None]


def weight_jacobian_gap(batch: Batch) -> Tensor:
    """‖∂_wφ(h, x) − ∂_wφ(h', x)‖ = max_i ‖d_i (h, x, 1) − d'_i (h', x, 1)‖, (B, S, 1)."""
    first, second = (
        activation_slopes(batch, h)[:, :, None] * trained_features(batch, h)[:, None]
        for h in (batch.h, batch.h_other)
    )
    return vector_norms(first - second, 2).amax(dim=1)[:, :, None]


def state_jacobian_gap(batch: Batch) -> Tensor:
    """‖∂_hφ(h, x) − ∂_hφ(h', x)‖₂ = ‖(D − D')W‖₂, (B, S, 1)."""
    gap = (activation_slopes(batch, batch.h) - activation_slopes(batch, batch.h_other)).transpose(
        1, 2
    )
    size: Tensor = torch.linalg.matrix_norm(gap[..., None] * batch.cell.W[:, None], 2)
    return size[:, :, None]


def adjoint_path(name: str) -> FastPath:
    """A difference of the gradients of two runs, at all windows."""
    value = window_gap_reading(name)
    enclosure = enclose_with_error(value, window_gap_rounding(name))
    return FastPath(
        name, is_vanilla, value, enclosure, window_gap_ball(name), window_gap_square(name)
    )


ASCENT_VALUES = {
    "dphi_w": weight_jacobian_norm, "dphi_w_gap": weight_jacobian_gap,
    "dphi_h_gap": state_jacobian_gap,
}  # fmt: skip
FAST = (
    *map(adjoint_path, WINDOW_READINGS),
    FastPath(
        "grad_gap_weights", is_vanilla, weight_gap, enclose_with_error(weight_gap,
        weight_gap_rounding),
        weight_gap_ball, weight_gap_square,
    ),
    *(FastPath(name, is_vanilla, value) for name, value in ASCENT_VALUES.items()),
)  # fmt: skip
