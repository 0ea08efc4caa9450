"""The record of the experiment on gradients and weights, and what is wrong with it."""

import math
from dataclasses import dataclass, field

from reports.records.record import Environment
from rnnbounds.experiments.gradients.instances import Setting

SCHEMA = "rnnbounds/gradients-close/1"

Rows = tuple[tuple[float, ...], ...]  # a row for each instance, in it an entry for each window


@dataclass(frozen=True)
class Curve:
    """A gap against k: as observed in float64, and log₁₀ of its certified bound, rounded up.

    `rounding` bounds how far each observed gap is from the one in real arithmetic, an entry for
    each instance; null (infinite) where no such bound is known.
    """

    observed: Rows
    log10_bound: Rows
    rounding: tuple[float, ...]


@dataclass(frozen=True)
class Descent:
    """N steps from the same start on the full and on each truncated model, and how they end.

    `alpha` are the step sizes, one for each instance: α/t if `decreasing`, else α. `moved` is
    ‖w_{N+1} − w_1‖ of the full model, `loss` its loss at the end; `widest` the largest ‖U‖_F on the
    way as a part of its radius.
    """

    name: str
    decreasing: bool
    alpha: tuple[float, ...]
    weights: Curve
    moved: tuple[float, ...]
    loss: tuple[float, ...]
    widest: float


@dataclass(frozen=True)
class Closeness:
    """One run; everything but `environment` is a function of the seed and the setting.

    `constants` are those of the bounds, by name, an entry for each instance: uniform on Ω, but for
    `G_0_start` and `D_1_start`, those of the first weights alone. `diameter` is that of Ω.
    """

    seed: int
    setting: Setting
    constants: dict[str, tuple[float, ...]]
    loss: tuple[float, ...]
    gradients: Curve
    descents: tuple[Descent, ...]
    environment: Environment
    problems: tuple[str, ...] = ()
    schema: str = field(default=SCHEMA)


def problems(run: Closeness) -> tuple[str, ...]:
    """What fails, in words: an observed gap that its certified bound does not cover.

    The rounding of a gap counts against it where it is known; a gap that is NaN breaks its bound.
    """
    curves = [("the gradients", run.gradients)]
    curves += [(f"the weights with steps {told.name}", told.weights) for told in run.descents]
    return tuple(
        f"{what} of instance {i} at k = {k} are {gap:g} apart, which is not ≤ 10^{bound:g}"
        for what, curve in curves
        for i, row in enumerate(curve.observed)
        for k, gap, bound in zip(run.setting.windows, row, curve.log10_bound[i], strict=True)
        if not within(gap, bound, curve.rounding[i])
    )


def within(gap: float, log10_bound: float, rounding: float) -> bool:
    """Whether gap + rounding ≤ 10^log10_bound; an unknown rounding counts as nothing."""
    total = gap + (rounding if math.isfinite(rounding) else 0.0)
    return total == 0 or (total > 0 and math.log10(total) <= log10_bound)
