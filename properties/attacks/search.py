"""Random and targeted search: Hypothesis draws specs, the engine evaluates whole batches."""

from __future__ import annotations

from math import ceil

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity

from properties.attacks.attack import Attack, Case, Enough, Visit
from properties.systems.drawing.strategies import specs
from properties.systems.spec import SystemSpec
from properties.systems.table import FAMILIES, kinds_about

# How much of the random budget all kinds of a family share.
SHARE = 0.25


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


def drawn(case: Case, visit: Visit, target: bool = False) -> None:
    """The systems of a kind; the kinds of a family have a share each, under a seed of their own."""
    members, family = kinds_about(case.kind), case.kind if case.kind in FAMILIES else None
    share = SHARE / len(members) if family else 1.0
    examples = case.budget.targeted if target else case.factor * case.budget.random
    for place, member in enumerate(members):
        more = random_specs(
            member.name, visit, batch=case.size[0], sequences=case.size[1], seed=case.seed + place,
            target=target, examples=ceil(share * examples),
            wide=any(one.wide for one in case.needs),
            stepwise=case.of_single_steps,
            family=family, descends=any(one.trained for one in case.needs),
        )  # fmt: skip
        if not more:
            return


def targeted(case: Case, visit: Visit) -> None:
    """The same, towards systems that come near the bound."""
    drawn(case, visit, target=True)


ATTACKS = (
    Attack("random", drawn, share=0.1, turn=1),
    Attack("targeted", targeted, turn=3, directed=True),
)
