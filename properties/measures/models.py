"""States, outputs and single steps of the models, and what is compared with them."""

from __future__ import annotations

from flint import arb, fmpq

from rnnbounds.impl.numbers.outward import underflow
from rnnbounds.impl.numbers.spectra.exact_norm import ball_norm, rational_norm_at_most
from rnnbounds.properties.measures.measure import Measure, OfCells, square_of
from rnnbounds.properties.measures.readings import rationals
from rnnbounds.properties.measures.readings import receptive_field as field
from rnnbounds.properties.measures.readings.balls import entries, length
from rnnbounds.properties.measures.readings.jacobians import dh_dx, dh_dx_ball, dh_dx_enclosure
from rnnbounds.properties.measures.readings.needs import Needs
from rnnbounds.properties.measures.readings.slack import local_slack, norm_slack, state_slack
from rnnbounds.properties.measures.readings.states import (
    each_window,
    exact_vectors,
    gap_error,
    gap_vectors,
    last_states,
    mapped,
    output_error,
    pair_vectors,
    readout,
    relative_sup,
    rounding_ball,
    single,
    start_vectors,
    step_sup_error,
    step_vectors,
    sup_ball,
    weighted,
    weighted_ball,
    weighted_error,
)  # fmt: skip
from rnnbounds.properties.measures.runs import modules
from rnnbounds.properties.measures.runs import readings as of
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.unitary.exact import rational, square

# In a norm that is certified anew at every step of an ascent.
WEIGHTED = Needs(wide=True, slow=True)


def in_quadratic_norm(suffix: str, weights: str) -> tuple[Measure, Measure]:
    """step_gap and state_gap in the norm ‖Q ·‖₂ of the constants' ``weights``."""

    def rows(batch: Batch) -> list[list[float]]:
        found: list[list[float]] = getattr(batch.constants, weights)[0].tolist()
        return found

    return (
        Measure(
            f"step_gap_{suffix}",
            value=single(weighted(weights, step_vectors)),
            error=weighted_error(weights, step_vectors, local_slack),
            balls=lambda p, k: weighted_ball(p, weights, p.step_gap),
            square=lambda b, k: rationals.weighted(rows(b), rationals.step_gap(b)),
            needs=WEIGHTED,
        ),
        Measure(
            f"state_gap_{suffix}",
            value=single(weighted(weights, pair_vectors)),
            error=weighted_error(weights, pair_vectors, exact_vectors),
            balls=lambda p, k: weighted_ball(p, weights, p.state_gap),
            square=lambda b, k: rationals.weighted(rows(b), rationals.state_gap(b)),
        ),
    )


def sup_weights(batch: Batch) -> list[float]:
    """The n weights of the weighted maximum norm of one system."""
    weights: list[float] = batch.constants.v[0].tolist()
    return weights


def read_out(batch: Batch, k: int) -> fmpq | None:
    """‖C (h_T − h_T^k)‖₂², exactly."""
    gap = rationals.gap(batch, k)
    return None if gap is None else rationals.weighted(batch.C[0].tolist(), gap)


def descent_square(batch: Batch, k: int) -> fmpq:
    """The square of descent's least growth from a_1 = lam, exactly; k plays no part."""
    spec = batch.spec
    start, alpha = rational(spec.lam), rational(spec.alpha)
    return rationals.descent_growth(start, alpha, spec.T) ** 2


MODULES = Needs(most=(4, 2))  # run module by module

MEASURES = (
    Measure(
        "h_norm",
        value=single(last_states),
        error=lambda b, v: state_slack(b) + norm_slack(b.spec.n, v),
        balls=lambda p, k: length(entries(p.path[0][-1])),
        square=lambda b, k: square_of(rationals.rolled(b, 0)),
        cap=lambda b, k: rationals.range_square(b),
    ),
    Measure(
        "h_start",
        value=each_window(start_vectors),
        error=lambda b, v: state_slack(b) + norm_slack(b.spec.n, v),
        balls=lambda p, k: length(entries(p.path[0][p.batch.spec.T - k])),
        square=lambda b, k: square_of(rationals.started(b, k)),
        cap=lambda b, k: rationals.range_square(b),
    ),
    Measure(
        "h_gap",
        value=each_window(gap_vectors),
        error=gap_error,
        balls=lambda p, k: length(p.gap(k)),
        square=lambda b, k: square_of(rationals.gap(b, k)),
        cap=lambda b, k: None if k else rationals.range_square(b),
        of_cells=OfCells(of.lengths(of.output_gaps), of.ball_lengths(of.ball_output_gap)),
    ),
    Measure(
        "y_gap",
        value=each_window(lambda b: readout(b, gap_vectors(b))),
        error=output_error,
        balls=lambda p, k: length(mapped(p.batch.C[0], p.gap(k))),
        square=read_out,
        of_cells=OfCells(
            of.lengths(lambda batch: of.output_gaps(batch).mapped(batch.C)),
            of.ball_lengths(of.predicted),
        ),
    ),
    Measure(
        "dh_dx",
        value=dh_dx,
        enclosure=dh_dx_enclosure,
        balls=dh_dx_ball,
        of_cells=OfCells(of.input_jacobians, of.ball_jacobian),
        needs=Needs(most=(16, 2)),
    ),
    Measure(
        "step_gap",
        value=single(step_vectors),
        error=lambda b, v: local_slack(b) + norm_slack(b.spec.n + 1, v),
        balls=lambda p, k: length(p.step_gap),
        square=lambda b, k: square_of(rationals.step_gap(b)),
    ),
    Measure(
        "state_gap",
        value=single(pair_vectors),
        error=lambda b, v: norm_slack(b.spec.n + 1, v),
        balls=lambda p, k: length(p.state_gap),
        square=lambda b, k: square(rationals.state_gap(b)),
    ),
    *in_quadratic_norm("P", "P_root"),
    *in_quadratic_norm("D", "D"),
    Measure(
        "step_gap_v",
        value=relative_sup(step_vectors),
        error=step_sup_error,
        balls=lambda p, k: sup_ball(p, p.step_gap),
        square=lambda b, k: rationals.relative_sup(sup_weights(b), rationals.step_gap(b)),
        needs=WEIGHTED,
    ),
    Measure(
        "state_gap_v",
        value=relative_sup(pair_vectors),
        error=lambda b, v: v * 2.0**-50 + underflow(v),
        balls=lambda p, k: sup_ball(p, p.state_gap),
        square=lambda b, k: rationals.relative_sup(sup_weights(b), rationals.state_gap(b)),
    ),
    Measure(
        "h_rounding",
        balls=lambda p, k: rounding_ball(p),
        needs=Needs(most=(4, 2), rounding=True),
    ),
    Measure(
        "W_norm_exact",
        balls=lambda p, k: ball_norm(p.batch.cell.W[0]),
        at_most=lambda b, bound, k: rational_norm_at_most(b.cell.W[0], bound),
        needs=Needs(most=(16, 1)),
    ),
    Measure(
        "forward_gap",
        enclosure=field.forward_gap,
        balls=lambda p, k: length(p.forward_gap(k)),
        square=lambda b, k: square_of(rationals.forward_gap(b, k)),
        of_cells=OfCells(modules.forward_gap),
        needs=MODULES,
    ),
    Measure("field_gap", enclosure=field.field_gap, needs=MODULES),
    Measure(
        "edge_gap",
        enclosure=field.edge_gap,
        square=lambda b, k: square_of(rationals.edge_gap(b, k, field.edge_rows(b))),
        needs=MODULES,
    ),
    Measure(
        "padding_gap",
        enclosure=field.padding_gap,
        square=lambda b, k: square_of(rationals.padding_gap(b, k)),
        needs=MODULES,
    ),
    Measure(
        "recurrent_gap",
        enclosure=field.recurrent_gap,
        square=lambda b, k: square_of(rationals.recurrent_gap(b, k)),
        needs=MODULES,
    ),
    Measure(
        "descent_growth",
        balls=lambda p, k: arb(descent_square(p.batch, k)).sqrt(),
        square=descent_square,
    ),
)
