"""Random and targeted search: Hypothesis draws specs, the engine evaluates whole batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis.strategies import SearchStrategy
from msgspec.structs import replace

from rnnbounds.properties.attacks.attack import Attack, Case, Enough, Visit
from rnnbounds.properties.attacks.pool import of_each
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.table import FAMILIES, kinds_about, specs

T = TypeVar("T")


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
    later: bool = False,
) -> bool:
    """Show ``examples`` drawn specs to ``visit``; with ``target`` climb the ratio it returns.

    ``later`` goes on from an earlier block: what is drawn first is the same under every seed and is
    not shown again, and all others are of another seed than there. False if the visitor had enough.
    """
    done, shown, skip = False, set[str](), later
    strategy = specs(
        kind, batch=batch, sequences=sequences, wide=wide, stepwise=stepwise, family=family,
        descends=descends,
    )  # fmt: skip

    def campaign(spec: SystemSpec) -> None:
        nonlocal done, skip
        if done:
            return
        if later:
            spec = replace(spec, seed=(spec.seed + seed) % 2**64)
        if not target:
            spec = unlike(shown, spec, seed)
        if skip:
            skip = False
            return
        try:
            ratio = visit(spec)
        except Enough:
            done = True
            return
        if target and ratio is not None and 0 <= ratio < 1e300:
            hypothesis.target(ratio, label="lhs/rhs")

    draw(strategy, campaign, examples=examples + later, seed=seed, target=target)
    return not done


def draw(
    strategy: SearchStrategy[T], visit: Callable[[T], object],
    *, examples: int, seed: int, target: bool = False,
) -> None:  # fmt: skip
    """Show ``examples`` draws to ``visit``, the same for a seed; with ``target`` those that lead to
    greater targets too."""

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
    @hypothesis.given(strategy)
    def each(drawn: T) -> None:
        visit(drawn)

    each()


def unlike(shown: set[str], spec: SystemSpec, seed: int) -> SystemSpec:
    """The spec, or where it was shown the same ``seed`` further: several draws are one spec, and
    systems count once."""
    while spec.text in shown:
        spec = replace(spec, seed=(spec.seed + seed + 1) % 2**64)
    shown.add(spec.text)
    return spec


def drawn(case: Case, visit: Visit, target: bool = False) -> None:
    """The systems of a kind; the kinds of a family have a share each, under a seed of their own."""
    family = case.kind if case.kind in FAMILIES else None
    examples = case.budget.targeted if target else case.factor * case.budget.random
    for place, member in enumerate(kinds_about(case.kind)):
        more = random_specs(
            member.name, visit, batch=case.size[0], sequences=case.size[1], seed=case.seed + place,
            target=target, examples=of_each(case.kind, examples), later=case.block > 0,
            wide=any(one.wide for one in case.needs),
            stepwise=case.of_single_steps,
            family=family, descends=any(one.trained for one in case.needs),
        )  # fmt: skip
        if not more:
            return


def targeted(case: Case, visit: Visit) -> None:
    """Visit drawn systems of the case's kinds, with Hypothesis steering to greater lhs/rhs."""
    drawn(case, visit, target=True)


ATTACKS = (
    Attack("random", drawn, share=0.1, turn=2, drawn=True),
    Attack("targeted", targeted, turn=0, directed=True),
)
