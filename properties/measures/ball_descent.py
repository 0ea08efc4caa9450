"""Both descents of one pair in ball arithmetic, of cells and of vanilla networks; see `descent`.

w and w − ŵ are carried, so that the difference vanishes exactly where it does. Each parameter is
projected onto a ball about its centre in Ω: where it starts for cells, 0 for vanilla networks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from flint import arb, arb_mat

from rnnbounds.impl.arithmetic.derivatives.dual_numbers import Dual, DualArithmetic
from rnnbounds.impl.arithmetic.entries import Balls
from rnnbounds.impl.numbers.spectra.exact_norm import ball_norm
from rnnbounds.properties.measures.measure import BallPair
from rnnbounds.properties.read.entry_carriers import BALLS
from rnnbounds.properties.read.numbers.gaps import Difference, OtherWeights
from rnnbounds.properties.read.numbers.sizes import euclidean_ball
from rnnbounds.properties.read.quantity import cached_world
from rnnbounds.properties.read.worlds.recurrent import ROLES
from rnnbounds.properties.systems.cells.batch import cells_of, omega_of_cells

Entries = list[arb]
Blocks = dict[str, Entries]


@dataclass(frozen=True, eq=False)
class BallWeights(Balls):
    """Parameters of one system that are balls themselves, row by row."""

    entries: Mapping[str, Entries] = field(default_factory=dict)

    def rows(self, name: str) -> list[Entries]:
        """The balls of a matrix, or of a vector as one column."""
        entries, (height, *width) = self.entries[name], self.parameters[name].shape
        columns = width[0] if width else 1
        return [entries[i * columns : (i + 1) * columns] for i in range(height)]


@dataclass(frozen=True, eq=False)
class BallDescent:
    """The descents of one pair on its full loss and on that of the window k."""

    pair: BallPair
    k: int

    @cached_property
    def world(self) -> Any:
        """The step of these systems, and which parameters are trained."""
        return cached_world(self.pair.batch, BALLS)

    @cached_property
    def initial_weights(self) -> Blocks:
        """w_1."""
        named = self.world.parameters.items()
        return {name: [arb(v) for v in part[0].flatten().tolist()] for name, part in named}

    @cached_property
    def radii(self) -> dict[str, float]:
        """The radii of Ω by trained parameter."""
        batch = self.pair.batch
        if cells_of(batch) is not None:
            return {name: float(r[0]) for name, r in omega_of_cells(batch).radii.items()}
        return {ROLES[name]: float(getattr(batch.omega, name)[0]) for name in batch.spec.trained}

    def run(self, w: Blocks, gap: Blocks, directions: Any = None) -> Difference[Any]:
        """h_T at w, and what it is more than h_T^k at w − gap; their derivatives in directions."""
        world, shapes = self.world, {name: part[0] for name, part in self.world.parameters.items()}
        base: Any = BallWeights(shapes, entries=w)
        moved: Any = BallWeights(shapes, entries=gap)
        sequence = self.pair.batch.x[0, :, :, 0].tolist()
        state, inputs = world.initial_state, list(map(BALLS.vector, sequence))
        if directions is not None:
            base, moved = DualArithmetic(base, directions), DualArithmetic(moved)
            state, *inputs = (Dual(v, directions.unit(v, 0)) for v in (state, *inputs))
        cut_time = max(len(inputs) - self.k, 0)
        for x in inputs[:cut_time]:
            state = world.cell.program(base, state, x)
        final, paired = Difference(state, state), OtherWeights(base, moved)
        for x in inputs[cut_time:]:
            final = world.cell.program(paired, final, Difference(x, x - x))
        return final.part(final.size - world.outputs, final.size)

    def gradients(self, w: Blocks, gap: Blocks) -> tuple[Entries, Entries]:
        """∇p_T(w), and ∇p_T(w) − ∇p_T^k(w − gap)."""
        loss, final = self.pair.batch.loss, self.run(w, gap, self.world.weight_directions)
        D, E = final.value.tangent.matrix, final.gap.tangent.matrix
        g, dg = (
            BALLS.row(v, 0).matrix
            for v in (
                BALLS.gradient(loss, final.value.value),
                BALLS.gradient_gap(loss, final.value.value, final.gap.value),
            )
        )
        return (g * D).entries(), (dg * D + (g - dg) * E).entries()

    @cached_property
    def ends(self) -> tuple[Blocks, Blocks]:
        """w_{N+1} and w_{N+1} − ŵ_{N+1}."""
        batch, w = self.pair.batch, dict(self.initial_weights)
        gap = {name: [arb(0)] * len(part) for name, part in w.items()}
        alpha = arb(float(batch.step_size[0, 0, 0]))
        for t in range(1, batch.spec.steps + 1):
            gradient, gradient_gap = map(iter, self.gradients(w, gap))
            for name in self.world.trained:
                moved = [a - alpha / t * next(gradient) for a in w[name]]
                moved_gap = [a - alpha / t * next(gradient_gap) for a in gap[name]]
                w[name], gap[name] = self.project(name, moved, moved_gap)
        return w, gap

    def project(self, name: str, y: Entries, gap: Entries) -> tuple[Entries, Entries]:
        """Πy and Πy − Π(y − gap)."""
        start, radius = self.initial_weights[name], self.radii[name]
        is_about_start = cells_of(self.pair.batch) is not None
        centre = start if is_about_start else [arb(0)] * len(y)
        if radius == 0:
            return centre, [arb(0)] * len(y)
        offset = subtract(y, centre)
        other = subtract(offset, gap)
        is_spectral = not is_about_start and name == ROLES["W"]
        scale, other_scale = (shrink_factor(v, radius, is_spectral) for v in (offset, other))
        P = [c + scale * a for c, a in zip(centre, offset, strict=True)]
        if all(a.is_zero() for a in gap) or (scale == 1 and other_scale == 1):
            return P, gap
        return P, [scale * a - other_scale * b for a, b in zip(offset, other, strict=True)]


def subtract(one: Entries, two: Entries) -> Entries:
    """one − two."""
    return [a - b for a, b in zip(one, two, strict=True)]


def shrink_factor(A: Entries, radius: float, is_spectral: bool) -> arb:
    """s with ΠA = s A: 1 inside the ball, and min(1, r/‖A‖) of scalars and in Frobenius balls, also
    where A may lie on either side; NaN of other matrices."""
    n = round(len(A) ** 0.5)
    rows = arb_mat([A[i * n : (i + 1) * n] for i in range(n)]) if is_spectral else None
    norm = euclidean_ball(A) if rows is None else ball_norm(rows)
    if norm <= radius:
        return arb(1)
    return (
        arb("nan") if norm.is_nan() or (rows is not None and n > 1) else (radius / norm).min(arb(1))
    )


def descent(pair: BallPair, k: int) -> BallDescent:
    """The descents of a pair at a window, made once."""
    found: BallDescent = pair.cache.setdefault(f"descents at {k}", BallDescent(pair, k))
    return found


def w_gap_ball(pair: BallPair, k: int) -> arb:
    """‖w_{N+1} − ŵ_{N+1}‖ of one pair."""
    made = descent(pair, k)
    return euclidean_ball([a for name in made.world.trained for a in made.ends[1][name]])


def trained_gap_ball(pair: BallPair, k: int) -> arb:
    """‖C(h_T(w_{N+1}) − h_T^k(ŵ_{N+1}))‖ of one pair."""
    made = descent(pair, k)
    gap = made.run(*made.ends).gap
    return BALLS.euclidean(BALLS.times(made.world.C, gap)).ball
