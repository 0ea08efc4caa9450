"""Gradient descent in rationals, from pairs of starts and on sequences of samples.

``saddle`` is the loss p(w) = −β‖w‖²/2 on all of ℝⁿ. ``samples`` are losses with ∇p(w) = b∘w + c and
near ones with ∇p̂(w) = b̂∘w + ĉ, on the box Ω of all ‖w‖_∞ ≤ r: a sample is the vector (b, c, b̂, ĉ),
and each sequence draws its own samples from those of a member.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from flint import fmpq
from hypothesis import strategies as st

from rnnbounds.properties.systems.drawing.choices import pick, seeds, spec_grid
from rnnbounds.properties.systems.kind import NO_CELL, DrawRequest, Instances, Kind, cell_named
from rnnbounds.properties.systems.layered.dyadic import ONE, ZERO, random_eighths
from rnnbounds.properties.systems.spec import SpecType, SystemSpec, spec_of
from rnnbounds.properties.systems.unitary.exact import (
    ExactMember,
    Table,
    Vector,
    member_random,
    rational,
    recurrence_tables,
    upper_float,
)
from rnnbounds.properties.systems.unitary.orthogonal import scale_vector
from rnnbounds.properties.systems.unitary.route import ExactRoute

FIELDS = "n lam alpha steps schedule"
LIMITS: dict[str, float] = {"n": 4, "steps": 400}
Saddle = spec_of("saddle", f"{FIELDS} scale", activation="identity", limits=LIMITS)
Samples = spec_of(
    "samples", f"{FIELDS} regime epsilon", activation="identity", limits=LIMITS,
    regimes=("drawn", "equal"),
)  # fmt: skip
SAMPLE_COUNT = 4  # samples of a member
RADIUS = fmpq(2)  # of the box, but where all samples are equal: there Ω is all of ℝⁿ


@dataclass(frozen=True, eq=False)
class DescentMember(ExactMember):
    """The starts (w, w′) and the samples of each sequence, on ‖w‖_∞ ≤ ``radius`` if it is given."""

    spec: SystemSpec
    starts: Sequence[tuple[Vector, Vector]]
    x: Sequence[Sequence[Vector]]
    samples: Sequence[Vector] = ()
    radius: fmpq | None = None

    def tables(self) -> dict[str, Table]:
        """A linear system at rest, for there is no recurrent one, with the starts as its states."""
        n, (first, second) = self.spec.n, zip(*self.starts, strict=True)
        x = [[(ZERO,)] for _ in self.starts]
        return recurrence_tables([[ZERO] * n] * n, [[ZERO]] * n, (ZERO,) * n, x, first, second)

    def constants(self) -> dict[str, float]:
        """β, which no slope exceeds, and bounds on ‖∇p − ∇p̂‖: of each sample, and of their mean."""
        gaps = [gradient_gap(sample) for sample in self.samples]
        mean = [sum(entry, ZERO) / len(gaps) for entry in zip(*gaps, strict=True)]
        return {
            "beta": self.spec.lam,
            "eps_k": upper_float(max((self.gap_bound(each) for each in gaps), default=ZERO)),
            "eps_mean": upper_float(self.gap_bound(mean)),
        }

    def gap_bound(self, gap: Sequence[fmpq]) -> fmpq:
        """Bound ‖δb∘w + δc‖₂ on Ω for a gap (δb, δc), by the sum of its entries."""
        bent, off = (sum(map(abs, half), ZERO) for half in split_sample(gap))
        return off if self.radius is None else self.radius * bent + off

    def rate(self, j: int) -> fmpq:
        """α_{j+1}: α/(j + 1) or α."""
        alpha = rational(self.spec.alpha)
        return alpha / (j + 1) if self.spec.schedule == "inverse" else alpha


def split_sample(sample: Sequence[fmpq]) -> tuple[Sequence[fmpq], Sequence[fmpq]]:
    """(b, c, b̂, ĉ) as (b, c) and (b̂, ĉ), and these as slopes and offsets."""
    middle = len(sample) // 2
    return sample[:middle], sample[middle:]


def gradient_gap(sample: Vector) -> Vector:
    """(b − b̂, c − ĉ) of a sample."""
    return tuple(p - q for p, q in zip(*split_sample(sample), strict=True))


def saddle_member(spec: SystemSpec, member: int) -> DescentMember:
    """The member of a ``saddle`` spec, with different starts of entries up to 2 ``scale``."""
    size, starts = rational(spec.scale), []
    for s in spec.sequence_range:
        draw = member_random(spec, member, f"starts {s}")
        one, two = (random_eighths(spec.n, draw) for _ in range(2))
        two = (one[0] + ONE, *one[1:]) if one == two else two
        starts.append((scale_vector(size, one), scale_vector(size, two)))
    return DescentMember(spec, starts, [[] for _ in starts])


def draw_sample(spec: SystemSpec, draw: Random) -> Vector:
    """(b, c, b̂, ĉ): slopes up to β; one entry of the near gradient is off by up to ε on the box."""
    n, beta, epsilon = spec.n, rational(spec.lam), rational(spec.epsilon)
    if spec.regime == "equal":
        b, zeros = (-beta,) * n, (ZERO,) * n
        return (*b, *zeros, *b, epsilon, *zeros[1:])
    b, c = (scale_vector(beta, random_eighths(n, draw)) for _ in range(2))
    i, near_sample = draw.randrange(n), [*b, *c]
    slope_gap, offset_gap = scale_vector(epsilon / 2, random_eighths(2, draw))
    near_sample[i] += slope_gap / RADIUS
    near_sample[n + i] += offset_gap
    return (*b, *c, *near_sample)


def samples_member(spec: SystemSpec, member: int) -> DescentMember:
    """The member of a ``samples`` spec, which starts at one point of Ω in all sequences."""
    draw, equal = member_random(spec, member, "samples"), spec.regime == "equal"
    every = [draw_sample(spec, draw) for _ in range(SAMPLE_COUNT)]
    start = (ZERO,) * spec.n if equal else random_eighths(spec.n, draw)
    orders = (member_random(spec, member, f"order {s}") for s in spec.sequence_range)
    x = [[order.choice(every) for _ in range(spec.steps)] for order in orders]
    return DescentMember(spec, [(start, start)] * len(x), x, every, None if equal else RADIUS)


@st.composite
def draw_descent_spec(draw: st.DrawFn, make: SpecType, wanted: DrawRequest) -> SystemSpec:
    """Few or many steps, on losses that bend little or much."""
    own: dict[str, Any] = {"scale": draw(pick((1.0, 2.0**-20, 64.0)))}
    if make is Samples:
        own = {"regime": draw(pick(Samples.regimes)), "epsilon": draw(pick((1.0, 2.0**-10)))}
    return make(
        **own,
        n=draw(pick((1, 2, 3))),
        lam=draw(pick((1.0, 0.125, 4.0))),
        alpha=draw(pick((0.5, 1.0, 2.0**-7, 2.0))),
        steps=draw(pick((1, 2, 3, 10, 40))),
        schedule=draw(pick(("inverse", "inverse", "constant"))),
        seed=draw(seeds()),
        batch=min(wanted.batch, 8),
        sequences=min(wanted.sequences, 2),
    )


RATES = {"lam": (1.0, 0.5, 4.0, 1.0), "alpha": (1.0, 2.0, 2.0**-5, 2.0**-7)}
SCHEDULES = {"schedule": ("inverse", "constant")}


def worst_saddles() -> Iterator[SystemSpec]:
    """Few steps and many, of either schedule."""
    yield from spec_grid(Saddle(batch=2), RATES, {"steps": (1, 2, 10, 100)}, SCHEDULES)


def worst_samples() -> Iterator[SystemSpec]:
    """One loss −β‖w‖²/2 for all samples, and +εw_1 near it: the recursion is an equality."""
    yield from spec_grid(
        Samples(regime="equal", epsilon=1.0), RATES, {"steps": (1, 2, 10, 100)}, SCHEDULES
    )
    yield from spec_grid(
        Samples(epsilon=2.0**-10, steps=10, batch=4, seed=1), {"n": (1, 2)}, SCHEDULES
    )


def descent_kind(
    make: SpecType,
    member: Callable[[SystemSpec, int], DescentMember],
    worst: Callable[[], Iterator[SystemSpec]],
) -> Kind:
    """The kind of descents without a cell."""
    return Kind(
        make,
        partial(draw_descent_spec, make),
        ExactRoute(member),
        cell_named(NO_CELL),
        Instances(worst),
    )


KINDS = (
    descent_kind(Saddle, saddle_member, worst_saddles),
    descent_kind(Samples, samples_member, worst_samples),
)
