"""Gradients in the weights: float64 readings with their errors, in balls and in rationals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from flint import arb, arb_mat, fmpq, fmpq_mat

from rnnbounds.impl.arithmetic.entries.rationals import IrrationalError, require_rational
from rnnbounds.impl.gradients.adjoint import (
    gradient_gaps,
    last_gradient,
    mean_gradient_gaps,
    tb_gaps,
    tbptt_gaps,
)
from rnnbounds.impl.gradients.adjoint_error import (
    gradient_error,
    gradient_gap_error,
    mean_gradient_gap_error,
    tbptt_error,
)
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.properties.measures.readings.adjoints import Arithmetic, Cell, Run, flat
from rnnbounds.properties.measures.readings.balls import BallPair
from rnnbounds.properties.measures.readings.slack import UP, norm_slack
from rnnbounds.properties.measures.readings.vanishing import where_apart
from rnnbounds.properties.read.numbers.sizes import length
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.unitary.exact import rational, square

Tensor = torch.Tensor
Square = Callable[[Batch, int], fmpq | None]
# Which part of the difference from a run that starts later a quantity measures.
PARTS: dict[str, Callable[[Run, int], Any]] = {
    "grad_gap": lambda run, start: run.against(start),
    "tbptt_gap": lambda run, start: run.sums[start],
    "tb_gap": lambda run, start: run.since(run.drift(start)),
}
READINGS = {
    "grad_gap": (gradient_gaps, gradient_gap_error),
    "tbptt_gap": (tbptt_gaps, tbptt_error),
    "tb_gap": (tb_gaps, gradient_gap_error),
    "grad_gap_mean": (mean_gradient_gaps, mean_gradient_gap_error),
}


def windowed_gap(name: str) -> Callable[[Batch], Tensor]:
    """A difference of gradients at every window, (B, S, K+1)."""
    read, _ = READINGS[name]

    def value(batch: Batch) -> Tensor:
        found = read(batch.cell, batch.x, batch.K, batch.loss, batch.spec.trained)
        return where_apart(batch, name, found)

    return value


def windowed_slack(name: str) -> Callable[[Batch, Tensor], Tensor]:
    """The error of its norm: that of the vector, and the norm's own; none where they are equal."""
    _, error = READINGS[name]

    def slack(batch: Batch, value: Tensor) -> Tensor:
        inner = error(batch.cell, batch.x, batch.K, batch.loss, batch.spec.trained)
        return where_apart(batch, name, inner * UP + norm_slack(entries(batch) + 1, value))

    return slack


def weights_gap(batch: Batch) -> Tensor:
    """‖∇p_T(w) − ∇p_T(w')‖ over the trained weights, (B, S, 1)."""
    trained, other = batch.spec.trained, batch.other or batch.cell
    one, two = (last_gradient(cell, batch.x, batch.loss) for cell in (batch.cell, other))
    gap: Tensor = torch.linalg.vector_norm(one.flat(trained) - two.flat(trained), dim=2)
    return gap[:, :, None]


def own_error(batch: Batch, cell: RNN) -> Tensor:
    """How far a computed ∇p_T of a cell on the batch's inputs is from the truth, (B, S, 1)."""
    return gradient_error(cell, batch.x, batch.loss, batch.spec.trained, 0)[:, :, None]


def entries(batch: Batch) -> int:
    """How many weights are trained."""
    n, d = batch.cell.n, batch.cell.d
    return n * sum({"W": n, "U": d, "b": 1}[name] for name in batch.spec.trained)


def weights_slack(batch: Batch, value: Tensor) -> Tensor:
    """The error of the difference of two weights' gradients."""
    inner = own_error(batch, batch.cell) + own_error(batch, batch.other or batch.cell)
    return inner * UP + norm_slack(entries(batch) + 1, value)


def cell_of(made: Arithmetic, cell: RNN) -> Cell:
    """One cell's floats in an arithmetic."""
    return Cell(made.rows(cell.W[0].tolist()), made.rows(cell.U[0].tolist()),
                made.column(cell.b[0].tolist()))  # fmt: skip


def in_balls(batch: Batch) -> Arithmetic:
    """Balls at the precision that is current when they are made."""
    rho = batch.cell.activation
    return Arithmetic(
        number=arb, matrix=arb_mat, rho=rho.ball, slope=rho.ball_derivative,
        gradient=batch.loss.ball_gradient, linear=rho.name == "identity",
    )  # fmt: skip


def where_rational(read: Square) -> Square:
    """The square, None where it leaves the rationals."""

    def found(batch: Batch, k: int) -> fmpq | None:
        try:
            return read(batch, k)
        except IrrationalError:
            return None

    return found


def in_rationals(batch: Batch) -> Arithmetic | None:
    """Rationals, where the loss does not leave them."""
    exactly = batch.loss.rational_gradient
    if exactly([fmpq(0)] * batch.cell.n) is None:
        return None
    rho = batch.cell.activation
    return Arithmetic(
        number=rational, matrix=fmpq_mat, rho=require_rational(rho.name, rho.rational),
        slope=require_rational(rho.name, rho.rational_slope), gradient=lambda h: exactly(h) or [],
        linear=rho.name == "identity",
    )  # fmt: skip


def run_of(made: Arithmetic, batch: Batch) -> Run:
    """The full run of one pair."""
    inputs = [made.column(x) for x in batch.x[0, :, :, 0].tolist()]
    return Run(made, cell_of(made, batch.cell), inputs, batch.spec.trained)


def ball_run(pair: BallPair) -> Run:
    """The full run in balls, made once at each precision."""
    cache = pair.cache
    if "run" not in cache:
        cache["run"] = run_of(in_balls(pair.batch), pair.batch)
    found: Run = cache["run"]
    return found


def rational_run(batch: Batch) -> Run | None:
    """The full run in rationals, made once; None where the loss leaves them."""
    key = "rational run"
    if key not in batch.cache:
        made = in_rationals(batch)
        batch.cache[key] = None if made is None else run_of(made, batch)
    found: Run | None = batch.cache[key]
    return found


def matrix_gap(run: Run, name: str, k: int) -> list[Any]:
    """One of the windowed differences of a pair, as a vector."""
    T = len(run.inputs)
    if name != "grad_gap_mean":
        return flat(PARTS[name](run, T - k))
    return [v / run.arithmetic.number(float(T)) for v in flat(run.each_against(k))]


def other_gap(run: Run, batch: Batch) -> list[Any]:
    """∇p_T(w) − ∇p_T(w') of a pair, as a vector."""
    other = cell_of(run.arithmetic, batch.other or batch.cell)
    return flat(run.against(0, run.cell.minus(other)))


def gap_ball(name: str) -> Callable[[BallPair, int], arb]:
    """One of the windowed differences in balls."""
    return lambda pair, k: length(matrix_gap(ball_run(pair), name, k))


def gap_square(name: str) -> Square:
    """Its exact square, where there is one."""

    @where_rational
    def read(batch: Batch, k: int) -> fmpq | None:
        run = rational_run(batch)
        return None if run is None else square(matrix_gap(run, name, k))

    return read


def weights_ball(pair: BallPair, k: int) -> arb:
    """‖∇p_T(w) − ∇p_T(w')‖ in balls; k plays no part."""
    return length(other_gap(ball_run(pair), pair.batch))


@where_rational
def weights_square(batch: Batch, k: int) -> fmpq | None:
    """Its exact square, where there is one."""
    run = rational_run(batch)
    return None if run is None else square(other_gap(run, batch))
