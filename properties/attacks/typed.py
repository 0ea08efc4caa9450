"""A bound that the user types: attacked like a claim, over certainly contractive systems."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import sympy

from rnnbounds.properties.attacks.budget import Budget, batch_size
from rnnbounds.properties.attacks.hunt import Target, falsify
from rnnbounds.properties.attacks.registry import UnsuppliedError, missing
from rnnbounds.properties.attacks.scope import Scope
from rnnbounds.properties.attacks.shrink import shrink
from rnnbounds.properties.attacks.table import EVERY, check_attacks
from rnnbounds.properties.errors import InputError
from rnnbounds.properties.judging.equivalent import plainer, positive
from rnnbounds.properties.judging.judge import ExactBudget, free_names
from rnnbounds.properties.systems.table import KINDS, kinds_about
from rnnbounds.reports.records.record import Check
from rnnbounds.theory.language.conditions import ConditionalStatement
from rnnbounds.theory.language.printing import statement_text
from rnnbounds.theory.language.quantity import Quantity
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.proof.claim import Assumption, Form, Statement
from rnnbounds.theory.proof.proof import Proof

PLAIN = ("linear", "rnn")
# What the referee may do for each random example of a budget, in rough multiplications.
PATIENCE = 1_200_000


@dataclass(frozen=True)
class TypedResult:
    """Result of attacking a user's own bound."""

    stated: ConditionalStatement
    systems: int
    holds: int
    undecided: int
    attack: str | None = None
    counterexample: Check | None = None
    skipped: int = 0
    scope: Scope = field(default_factory=Scope)

    @property
    def stands(self) -> bool:
        """True if at least one check was decided, none is undecided and none is violated."""
        return self.attack is None and self.holds > 0 and not self.undecided


def contractive() -> Assumption:
    """λ < 1, as certified."""
    return Assumption(
        "contractive", "the certified λ is below 1", Statement(lam(), "<", sympy.Integer(1))
    )


def typed_assumptions(
    statement: Statement, conditions: tuple[Statement, ...] = ()
) -> tuple[Assumption, ...]:
    """List the assumptions of a user's statement (contraction, positivity, side conditions); a
    check that does not meet them is vacuous."""
    kinds = [KINDS[kind] for kind in kinds_of(statement)]
    contracts = (contractive(),) if all(kind.contracts for kind in kinds) else ()
    beside = (Assumption(f"side condition {statement_text(c)}", "", c) for c in conditions)
    return (*contracts, *positive(statement), *beside)


def lam() -> sympy.Symbol:
    """The symbol λ."""
    symbol = VOCABULARY["lam"].symbol
    assert isinstance(symbol, sympy.Symbol)
    return symbol


def kinds_of(statement: Statement) -> tuple[str, ...]:
    """Which systems a statement can be tested on.

    Raises:
        InputError: it measures nothing, or things that no one system has together.
    """
    spoken = [VOCABULARY[name] for name in sorted(free_names(statement))]
    if all(quantity.role != "measured" for quantity in spoken):
        raise InputError(
            "the statement measures nothing; name a measured quantity, such as h_gap or h_norm"
        )
    asking = [quantity for quantity in spoken if quantity.about or quantity.role == "measured"]
    kinds = set.intersection(*(carriers(quantity) for quantity in asking))
    if {*PLAIN} <= kinds:
        kinds = {*PLAIN}  # a loss adds nothing
    if not kinds:
        asked = ", ".join(quantity.name for quantity in asking)
        raise InputError(f"no one system has all of {asked}; test them apart")
    return tuple(kind for kind in KINDS if kind in kinds)


def carriers(quantity: Quantity) -> set[str]:
    """The kinds of systems that have a quantity; vanilla ones, with a loss or without, where it is
    of models in general."""
    about = quantity.about or (*PLAIN, "gradient")
    return {kind.name for each in about for kind in kinds_about(each)}


def attack_typed(
    stated: ConditionalStatement,
    *,
    budget: Budget,
    seed: int,
    attacks: tuple[str, ...] = (EVERY,),
    device: str = "cpu",
) -> TypedResult:
    """Attack a typed statement; a counter-example comes back shrunk and explained."""
    statement = stated.statement
    kinds = kinds_of(statement)
    lacking = [missing(kind, statement) for kind in kinds]
    if all(lacking):
        raise UnsuppliedError(statement_text(statement), lacking[0][0], kinds)
    assumptions = typed_assumptions(statement, stated.conditions)
    judged = plainer(statement)
    form = Form("typed", statement, assumptions, kinds[0], Proof(()))
    patience = ExactBudget(PATIENCE * budget.random)
    found = Target("typed", judged, assumptions, kinds, batch_size(budget, [form]), scope=Scope())
    falsify(
        [found], label=statement_text(statement), budget=budget, seed=seed, device=device,
        order=[(attack, 1.0) for attack in check_attacks(attacks)], patience=patience,
    )  # fmt: skip
    assert found.scope is not None
    seen = TypedResult(
        stated, found.scope.systems, found.holds, found.undecided, skipped=patience.skipped,
        scope=found.scope,
    )  # fmt: skip
    if found.spec is None:
        return seen
    check = shrink("typed", "typed", judged, assumptions, found.spec, budget.tries)
    return replace(seen, attack=found.attack, counterexample=check)
