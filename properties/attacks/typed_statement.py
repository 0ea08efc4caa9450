"""A bound that the user types: attacked like a claim, over certainly contractive systems."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import sympy

from rnnbounds.properties.attacks.attack import ALL_ATTACKS, chosen_attacks
from rnnbounds.properties.attacks.budget import Budget, batch_size
from rnnbounds.properties.attacks.falsify import Target, falsify
from rnnbounds.properties.attacks.registry import missing_quantities, unsupplied
from rnnbounds.properties.attacks.scope import Scope
from rnnbounds.properties.attacks.shrink import shrink
from rnnbounds.properties.errors import InputError
from rnnbounds.properties.judging.judge import (
    ExactBudget,
    Verdict,
    compare_sides,
    enclose_sides,
    form_quantities,
    quantity_names,
)
from rnnbounds.properties.judging.simplification import positivity_assumptions, simplify_statement
from rnnbounds.properties.systems.table import KINDS, kinds_about
from rnnbounds.reports.records.checks import Check
from rnnbounds.theory.language.parse import ConditionalStatement
from rnnbounds.theory.language.printing import statement_text
from rnnbounds.theory.language.quantity import Quantity
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.numbers.interval import Interval
from rnnbounds.theory.proof.claim import Assumption, Form, Statement
from rnnbounds.theory.proof.proof import Proof

CONTRACTIVE = "contractive"  # the assumption λ < 1
PLAIN_KINDS = ("linear", "rnn")
# What exact arithmetic may do for each random example of a budget, in rough multiplications.
EXACT_WORK = 1_200_000


@dataclass(frozen=True)
class TypedResult:
    """Result of attacking a user's own bound.

    assumptions: what each judged check meets. unreachable: a side condition that no attack can
    meet, of which no system was drawn.
    """

    stated: ConditionalStatement
    assumptions: tuple[Assumption, ...]
    systems: int
    holds: int
    undecided: int
    attack: str | None = None
    counterexample: Check | None = None
    skipped: int = 0
    scope: Scope = field(default_factory=Scope)
    unreachable: Statement | None = None

    @property
    def stands(self) -> bool:
        """True if at least one check was decided, none is undecided and none is violated."""
        return self.attack is None and self.holds > 0 and not self.undecided


def typed_assumptions(
    statement: Statement, conditions: tuple[Statement, ...] = ()
) -> tuple[Assumption, ...]:
    """List the assumptions of a user's statement (contraction, positivity, side conditions); a
    check that does not meet them is vacuous."""
    below_one = Statement(VOCABULARY["lam"].symbol, "<", sympy.Integer(1))
    contraction = Assumption(CONTRACTIVE, "the certified λ is below 1", below_one)
    is_contractive = all(KINDS[kind].is_contractive for kind in kinds_to_test(statement))
    side_assumptions = (
        Assumption(f"side condition {statement_text(c)}", "", c) for c in conditions
    )
    return (*[contraction] * is_contractive, *positivity_assumptions(statement), *side_assumptions)


def unreachable_condition(
    conditions: Sequence[Statement], assumptions: Sequence[Assumption]
) -> Statement | None:
    """The first condition on λ alone that certainly no λ in [0, 1) meets, where contraction is
    assumed; None if there is none."""
    if not any(assumption.id == CONTRACTIVE for assumption in assumptions):
        return None
    rates = {"lam": Interval(np.zeros(1), np.nextafter(np.ones(1), 0.0))}
    for condition in conditions:
        if quantity_names(condition) == {"lam"}:
            sides = enclose_sides(condition, rates)
            if (compare_sides(condition.relation, *sides) == Verdict.VIOLATED).all():
                return condition
    return None


def kinds_to_test(statement: Statement) -> tuple[str, ...]:
    """Which systems a statement can be tested on.

    Raises:
        InputError: it measures nothing, or things that no one system has together.
    """
    quantities = [VOCABULARY[name] for name in sorted(quantity_names(statement))]
    if all(quantity.role != "measured" for quantity in quantities):
        raise InputError(
            "the statement measures nothing; name a measured quantity, such as h_gap or h_norm"
        )
    required = [
        quantity for quantity in quantities if quantity.about or quantity.role == "measured"
    ]
    kinds = set.intersection(*(kinds_with(quantity) for quantity in required))
    if {*PLAIN_KINDS} <= kinds:
        kinds = {*PLAIN_KINDS}  # a loss adds nothing
    if not kinds:
        required_names = ", ".join(quantity.name for quantity in required)
        raise InputError(f"no one system has all of {required_names}; test them apart")
    return tuple(kind for kind in KINDS if kind in kinds)


def kinds_with(quantity: Quantity) -> set[str]:
    """The kinds of systems that have a quantity; vanilla ones, with a loss or without, where it is
    of models in general."""
    subjects = quantity.about or (*PLAIN_KINDS, "gradient")
    return {kind.name for subject in subjects for kind in kinds_about(subject)}


def attack_typed(
    stated: ConditionalStatement,
    *,
    budget: Budget,
    seed: int,
    attacks: tuple[str, ...] = (ALL_ATTACKS,),
    device: str = "cpu",
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> TypedResult:
    """Attack a typed statement; a counter-example comes back shrunk and explained. `progress` is as
    `falsify` has it."""
    statement = stated.statement
    kinds = kinds_to_test(statement)
    missing_by_kind = [missing_quantities(kind, statement) for kind in kinds]
    if all(missing_by_kind):
        raise unsupplied(statement_text(statement), missing_by_kind[0][0], kinds)
    assumptions = typed_assumptions(statement, stated.conditions)
    if unreachable := unreachable_condition(stated.conditions, assumptions):
        return TypedResult(stated, assumptions, 0, 0, 0, unreachable=unreachable)
    plain_statement = simplify_statement(statement)
    form = Form("typed", statement, assumptions, kinds[0], Proof(()))
    exact_budget = ExactBudget(EXACT_WORK * budget.random)
    size = batch_size(budget, form_quantities(form))
    target = Target("typed", plain_statement, assumptions, kinds, size, scope=Scope())
    falsify(
        [target], label=statement_text(statement), budget=budget, seed=seed, device=device,
        order=[(attack, 1.0) for attack in chosen_attacks(attacks)], exact_budget=exact_budget,
        progress=progress,
    )  # fmt: skip
    assert target.scope is not None
    result = TypedResult(
        stated, assumptions, target.scope.systems, target.holds, target.undecided,
        skipped=exact_budget.skipped, scope=target.scope,
    )  # fmt: skip
    if target.spec is None:
        return result
    check = shrink("typed", "typed", plain_statement, assumptions, target.spec, budget.tries)
    return replace(result, attack=target.attack, counterexample=check)
