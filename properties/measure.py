"""Measured quantities: each name of the vocabulary bound to what is seen on a system, once.

A measure has up to four readings. ``value`` is a differentiable float64 reading of a whole batch and
``error`` a rigorous bound on |reading − truth|; together they enclose the truth. ``balls`` reads one
pair at any precision, ``square`` gives the exact square where it is rational, and ``at_most`` decides
an exact comparison. Windows k = 0 … K lie on the last axis.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from flint import arb, fmpq

from impl import exact as referee
from impl.rollout import states, truncations
from properties import rationals
from properties.balls import BallPair, ball_pair, entries, length, matrix_of
from properties.errors import QuantityError
from properties.field import (
    edge_gap,
    edge_inputs,
    field_gap,
    forward_gap,
    padding_gap,
    recurrent_gap,
)
from properties.jacobians import dh_dx, dh_dx_enclosure
from properties.slack import (
    local_slack, map_slack, norm_slack, norms, state_slack,
)  # fmt: skip
from properties.system import Batch
from theory.interval import Interval

Tensor = torch.Tensor


@dataclass(frozen=True)
class Measure:
    """One measured quantity; (B, S, K+1) with k, (B, S, 1) without."""

    name: str
    value: Callable[[Batch], Tensor] | None = None
    error: Callable[[Batch, Tensor], Tensor] | None = None
    enclosure: Callable[[Batch], Interval] | None = None
    balls: Callable[[BallPair], list[arb]] | None = None
    square: Callable[[Batch, int], fmpq | None] | None = None
    at_most: Callable[[Batch, fmpq], bool] | None = None

    def enclose(self, batch: Batch) -> Interval:
        """Float64 enclosures over the batch; [nan, nan] where only the referee can read it."""
        if self.enclosure is not None:
            return self.enclosure(batch)
        if self.value is None or self.error is None:
            blank = np.full((batch.cell.batch, batch.x.shape[3], 1), np.nan)
            return Interval(blank, blank)
        with torch.no_grad():
            value = self.value(batch)
            error = self.error(batch, value)
        low, high = around(value, error)
        return Interval(low, high)

    def ball(self, pair: Batch, precision: int) -> list[arb]:
        """Balls of one pair, one for each window (or a single one); NaN where there is no reading."""
        if self.balls is None:
            return [arb("nan")]
        return self.balls(ball_pair(pair, precision))


def around(value: Tensor, error: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """value ± error as float64 ends, rounded outward and cut at 0 (norms are not negative)."""
    v, e = value.detach().cpu().numpy(), error.detach().cpu().numpy()
    with np.errstate(invalid="ignore"):
        low, high = np.nextafter(v - e, -np.inf), np.nextafter(v + e, np.inf)
    return np.maximum(np.where(e == 0, v, low), 0.0), np.where(e == 0, v, high)


def windowed(values: Tensor) -> Tensor:
    """(B, K+1, S) to (B, S, K+1)."""
    return values.transpose(1, 2)


def gap_vectors(batch: Batch) -> Tensor:
    """h_T − h_T^k, (B, n, K+1, S)."""
    full, short = truncations(batch.cell, batch.x, batch.K)
    return full[:, :, None] - short


def before_start(batch: Batch, error: Tensor) -> Tensor:
    """The error where k < T; at k = T the truncated model is the full one, and the gap is exactly 0."""
    k = torch.arange(batch.K + 1, device=batch.x.device)
    return torch.where(k < batch.spec.T, error, 0.0)


def start_vectors(batch: Batch) -> Tensor:
    """h_{T−k}, (B, n, K+1, S)."""
    T = batch.spec.T
    path = states(batch.cell, batch.x)[:, T - batch.K : T + 1].flip(1)
    return path.transpose(1, 2)


def step_vectors(batch: Batch) -> Tensor:
    """φ(h, x_1) − φ(h', x_1), (B, n, S)."""
    x = batch.x[:, 0]
    return batch.cell.step(batch.h, x) - batch.cell.step(batch.h_other, x)


def pair_vectors(batch: Batch) -> Tensor:
    return batch.h - batch.h_other


def readout(batch: Batch, vectors: Tensor) -> Tensor:
    """C v for columns (B, n, …)."""
    return torch.einsum("bpn,bn...->bp...", batch.C, vectors)


def weighted(weights: str) -> Callable[[Batch, Tensor], Tensor]:
    """Q v, with Q one of the exact float weights that the certificate of a norm uses."""

    def apply(batch: Batch, vectors: Tensor) -> Tensor:
        return torch.einsum("bmn,bns->bms", getattr(batch.constants, weights), vectors)

    return apply


def plain(batch: Batch, vectors: Tensor) -> Tensor:
    return vectors


def relative_sup(batch: Batch, vectors: Tensor) -> Tensor:
    """max_i |v_i| / weight_i, (B, S)."""
    return (vectors.abs() / batch.constants.v[:, :, None]).amax(dim=1)


def weigh_balls(batch: Batch, weights: str, vector: list[arb]) -> list[arb]:
    from flint import arb_mat

    Q = matrix_of(getattr(batch.constants, weights)[0])
    return entries(Q * arb_mat([[v] for v in vector]))


def exact_weights(batch: Batch, weights: str) -> list[list[float]]:
    """Q of one pair, as the floats that stand for themselves."""
    rows: list[list[float]] = getattr(batch.constants, weights)[0].tolist()
    return rows


def sup_balls(batch: Batch, vector: list[arb]) -> arb:
    """max_i |v_i| / weight_i of one pair."""
    scaled = [v / arb(w) for v, w in zip(vector, batch.constants.v[0].tolist(), strict=True)]
    low, high = arb(0), arb(0)
    for v in scaled:
        low, high = low.max(v.abs_lower()), high.max(v.abs_upper())
    return low.union(high)


def two_step_measures(suffix: str, weights: str) -> tuple[Measure, Measure]:
    """step_gap and state_gap in the norm ‖Q ·‖₂."""
    weigh = weighted(weights)
    return (
        Measure(
            f"step_gap_{suffix}",
            value=lambda b: norms(weigh(b, step_vectors(b)))[:, :, None],
            error=lambda b, v: map_slack(
                getattr(b.constants, weights), step_vectors(b), local_slack(b), v
            ),
            balls=lambda p: [length(weigh_balls(p.batch, weights, p.step_gap))],
            square=lambda b, k: rationals.weighted(
                exact_weights(b, weights), rationals.step_gap(b)
            ),
        ),
        Measure(
            f"state_gap_{suffix}",
            value=lambda b: norms(weigh(b, pair_vectors(b)))[:, :, None],
            error=lambda b, v: map_slack(
                getattr(b.constants, weights), pair_vectors(b), torch.zeros_like(v), v
            ),
            balls=lambda p: [length(weigh_balls(p.batch, weights, p.state_gap))],
            square=lambda b, k: rationals.weighted(
                exact_weights(b, weights), rationals.state_gap(b)
            ),
        ),
    )


def h_rounding_balls(pair: BallPair) -> list[arb]:
    """‖fl(h_T) − h_T‖: what the batched engine computed against the exact state."""
    computed = states(pair.batch.cell, pair.batch.x)[0, -1, :, 0].tolist()
    true = entries(pair.path[0][-1])
    return [length([arb(c) - t for c, t in zip(computed, true, strict=True)])]


def exact_descent(batch: Batch, k: int) -> fmpq:
    spec = batch.spec
    start, alpha = rationals.exact(spec.lam), rationals.exact(spec.alpha)
    return rationals.descent_growth(start, alpha, spec.T) ** 2


def only_square(vector: list[fmpq] | None) -> fmpq | None:
    return None if vector is None else rationals.square(vector)


STEP_P, STATE_P = two_step_measures("P", "P_root")
STEP_D, STATE_D = two_step_measures("D", "D")

ALL = (
    Measure(
        "h_norm",
        value=lambda b: norms(states(b.cell, b.x)[:, -1])[:, :, None],
        error=lambda b, v: state_slack(b) + norm_slack(b.spec.n, v),
        balls=lambda p: [length(entries(p.path[0][-1]))],
        square=lambda b, k: only_square(rationals.rolled(b, 0)),
    ),
    Measure(
        "h_start",
        value=lambda b: windowed(norms(start_vectors(b))),
        error=lambda b, v: state_slack(b) + norm_slack(b.spec.n, v),
        balls=lambda p: [
            length(entries(p.path[0][p.batch.spec.T - k])) for k in range(p.batch.K + 1)
        ],
    ),
    Measure(
        "h_gap",
        value=lambda b: windowed(norms(gap_vectors(b))),
        error=lambda b, v: before_start(b, 2 * state_slack(b) + norm_slack(b.spec.n + 1, v)),
        balls=lambda p: [length(gap) for gap in p.gaps],
        square=lambda b, k: only_square(rationals.gap(b, k)),
    ),
    Measure(
        "y_gap",
        value=lambda b: windowed(norms(readout(b, gap_vectors(b)))),
        error=lambda b, v: before_start(b, readout_slack(b, v)),
        balls=lambda p: [length(read_balls(p, gap)) for gap in p.gaps],
        square=lambda b, k: only_square(read_rationals(b, rationals.gap(b, k))),
    ),
    Measure(
        "step_gap",
        value=lambda b: norms(step_vectors(b))[:, :, None],
        error=lambda b, v: local_slack(b) + norm_slack(b.spec.n + 1, v),
        balls=lambda p: [length(p.step_gap)],
        square=lambda b, k: only_square(rationals.step_gap(b)),
    ),
    Measure(
        "state_gap",
        value=lambda b: norms(pair_vectors(b))[:, :, None],
        error=lambda b, v: norm_slack(b.spec.n + 1, v),
        balls=lambda p: [length(p.state_gap)],
        square=lambda b, k: rationals.square(rationals.state_gap(b)),
    ),
    STEP_P,
    STATE_P,
    STEP_D,
    STATE_D,
    Measure(
        "step_gap_v",
        value=lambda b: relative_sup(b, step_vectors(b))[:, :, None],
        error=lambda b, v: (
            local_slack(b) / b.constants.v.amin(1)[:, None, None] * (1 + 2.0**-50) + v * 2.0**-50
        ),
        balls=lambda p: [sup_balls(p.batch, p.step_gap)],
        square=lambda b, k: rationals.relative_sup(
            b.constants.v[0].tolist(), rationals.step_gap(b)
        ),
    ),
    Measure(
        "state_gap_v",
        value=lambda b: relative_sup(b, pair_vectors(b))[:, :, None],
        error=lambda b, v: v * 2.0**-50,
        balls=lambda p: [sup_balls(p.batch, p.state_gap)],
        square=lambda b, k: rationals.relative_sup(
            b.constants.v[0].tolist(), rationals.state_gap(b)
        ),
    ),
    Measure("dh_dx", value=dh_dx, enclosure=dh_dx_enclosure, balls=lambda p: jacobian_balls(p)),
    Measure("h_rounding", balls=h_rounding_balls),
    Measure(
        "W_norm_exact",
        balls=lambda p: [referee.ball_norm(p.batch.cell.W[0])],
        at_most=lambda b, bound: referee.rational_norm_at_most(b.cell.W[0], bound),
    ),
    Measure(
        "forward_gap",
        enclosure=forward_gap,
        square=lambda b, k: only_square(rationals.forward_gap(b, k)),
    ),
    Measure("field_gap", enclosure=field_gap),
    Measure(
        "edge_gap",
        enclosure=edge_gap,
        square=lambda b, k: only_square(
            rationals.edge_gap(b, k, edge_inputs(b)[0, :, :, 0].tolist())
        ),
    ),
    Measure(
        "padding_gap",
        enclosure=padding_gap,
        square=lambda b, k: only_square(rationals.padding_gap(b, k)),
    ),
    Measure(
        "recurrent_gap",
        enclosure=recurrent_gap,
        square=lambda b, k: only_square(rationals.recurrent_gap(b, k)),
    ),
    Measure(
        "descent_growth",
        balls=lambda p: [arb(exact_descent(p.batch, 0)).sqrt()],
        square=exact_descent,
    ),
)


def readout_slack(batch: Batch, v: Tensor) -> Tensor:
    """|computed − true| of ‖C (h_T − h_T^k)‖: the states' rounding through C, then C's own."""
    gaps = windowed(norms(gap_vectors(batch)))
    states_part = batch.constants["L_f"][:, None, None] * (2 * state_slack(batch)) * (1 + 2.0**-50)
    own = map_slack(batch.C, None, torch.zeros_like(gaps), v, size=gaps)
    return states_part + own


def read_balls(pair: BallPair, vector: list[arb]) -> list[arb]:
    from flint import arb_mat

    return entries(matrix_of(pair.batch.C[0]) * arb_mat([[v] for v in vector]))


def read_rationals(batch: Batch, vector: list[fmpq] | None) -> list[fmpq] | None:
    return None if vector is None else rationals.product(batch.C[0].tolist(), vector)


def jacobian_balls(pair: BallPair) -> list[arb]:
    """‖∂h_T/∂x_{T−k}‖₂ for k = 0 … K; 0 beyond the first input."""
    found = [referee.ball_norm(J) for J in pair.jacobians]
    return found + [arb(0)] * (pair.batch.K + 1 - len(found))


MEASURES = {measure.name: measure for measure in ALL}


def measure(name: str, kind: str) -> Measure:
    """The measure of a name.

    Raises:
        QuantityError: nothing measures it.
    """
    if name not in MEASURES:
        raise QuantityError(name, kind)
    return MEASURES[name]
