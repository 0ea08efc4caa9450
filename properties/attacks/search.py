"""Random and targeted search: Hypothesis draws specs, the engine evaluates whole batches."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis.strategies import SearchStrategy
from msgspec.structs import replace

from rnnbounds.properties.attacks.attack import Attack, Case, StopAttack, Visit
from rnnbounds.properties.attacks.budget import examples_per_kind
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.table import FAMILIES, kinds_about, specs

T = TypeVar("T")


def visit_random_specs(
    kind: str, visit: Visit, *, examples: int, seed: int, target: bool = False,
    family: str | None = None, is_continuation: bool = False, **asked: Any,
) -> bool:  # fmt: skip
    """Show ``examples`` drawn specs, as a `DrawRequest` asks for them, to ``visit``; with
    ``target`` climb the ratio it returns. False if the visitor had enough.

    ``is_continuation`` goes on from an earlier block: what is drawn first is the same under every
    seed and is not shown again, and all others are of another seed than there.
    """
    is_stopped, shown_specs, skip_next = False, set[str](), is_continuation

    def visit_drawn(spec: SystemSpec) -> None:
        nonlocal is_stopped, skip_next
        if is_stopped:
            return
        if is_continuation:
            spec = replace(spec, seed=(spec.seed + seed) % 2**64)
        if not target:
            spec = unseen_spec(shown_specs, spec, seed)
        if skip_next:
            skip_next = False
            return
        try:
            ratio = visit(spec)
        except StopAttack:
            is_stopped = True
            return
        if target and ratio is not None and 0 <= ratio < 1e300:
            hypothesis.target(ratio, label="lhs/rhs")

    run_hypothesis(
        specs(kind, family=family, **asked), visit_drawn, examples=examples + is_continuation,
        seed=seed, target=target,
    )  # fmt: skip
    return not is_stopped


def run_hypothesis(
    strategy: SearchStrategy[T], visit: Callable[[T], object],
    *, examples: int, seed: int, target: bool = False,
) -> None:  # fmt: skip
    """Show ``examples`` draws to ``visit``, the same for a seed; with ``target`` those that lead to
    greater targets too. Its first error ends the search as itself: Hypothesis would show the draw
    once more, and a visitor that judges no system twice raises nothing then."""
    errors: list[Exception] = []

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
    def visit_each(value: T) -> None:
        if not errors:
            try:
                visit(value)
            except Exception as error:
                errors.append(error)

    visit_each()
    if errors:
        raise errors[0]


def unseen_spec(shown_specs: set[str], spec: SystemSpec, seed: int) -> SystemSpec:
    """The spec, or where it was shown the same ``seed`` further: several draws are one spec, and
    systems count once."""
    while spec.text in shown_specs:
        spec = replace(spec, seed=(spec.seed + seed + 1) % 2**64)
    shown_specs.add(spec.text)
    return spec


def visit_random(case: Case, visit: Visit, target: bool = False) -> None:
    """The systems of a kind; the kinds of a family have a share each, under a seed of their own.
    With ``target`` Hypothesis steers to greater lhs/rhs."""
    family = case.kind if case.kind in FAMILIES else None
    examples = case.budget.targeted if target else case.factor * case.budget.random
    for position, kind in enumerate(kinds_about(case.kind)):
        goes_on = visit_random_specs(
            kind.name, visit, batch=case.example_size[0], sequences=case.example_size[1],
            seed=case.seed + position, target=target, family=family,
            examples=examples_per_kind(case.kind, examples), is_continuation=case.block > 0,
            **dict.fromkeys(case.requirements, True),
        )  # fmt: skip
        if not goes_on:
            return


ATTACKS = (
    Attack("random", visit_random, share=0.1, is_random=True),
    Attack("targeted", partial(visit_random, target=True), directed=True),
)
