"""Random and targeted search: Hypothesis draws specs, the engine evaluates whole batches."""

from __future__ import annotations

from collections.abc import Callable

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity

from properties.systems.drawing.strategies import specs
from properties.systems.spec import SystemSpec

Visit = Callable[[SystemSpec], float | None]


class Enough(Exception):  # noqa: N818 - a signal, not an error
    """Raised by a visitor that wants no more specs."""


def random_specs(
    kind: str,
    visit: Visit,
    *,
    examples: int,
    batch: int,
    sequences: int,
    seed: int,
    target: bool = False,
    wide: bool = False,
    stepwise: bool = False,
    family: str | None = None,
    descends: bool = False,
) -> bool:
    """Show ``examples`` drawn specs to ``visit``; with ``target`` climb the ratio it returns.

    False if the visitor had enough.
    """
    done = False

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=examples,
        database=None,
        deadline=None,
        derandomize=False,
        phases=(Phase.generate, Phase.target) if target else (Phase.generate,),
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
        print_blob=False,
    )
    @hypothesis.given(
        specs(
            kind, batch=batch, sequences=sequences, wide=wide, stepwise=stepwise, family=family,
            descends=descends,
        )
    )  # fmt: skip
    def campaign(spec: SystemSpec) -> None:
        nonlocal done
        if done:
            return
        try:
            ratio = visit(spec)
        except Enough:
            done = True
            return
        if target and ratio is not None and 0 <= ratio < 1e300:
            hypothesis.target(ratio, label="lhs/rhs")

    campaign()
    return not done
