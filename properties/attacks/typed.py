"""A bound that the user types: attacked like a claim, over certainly contractive systems."""

from __future__ import annotations

from dataclasses import dataclass, replace

import sympy

from properties.attacks.budget import ATTACKS, Budget
from properties.attacks.sabotage import hunt
from properties.attacks.shrink import shrink
from properties.errors import InputError
from properties.judging.equivalent import plainer, positive
from properties.judging.judge import Patience, free_names
from properties.registry import UnsuppliedError, missing
from properties.systems.table import KINDS
from reports.records.record import Check
from theory.language.claim import Assumption, Form, Statement
from theory.language.vocabulary import VOCABULARY
from theory.proof.proof import Proof

# A typed bound is tested on these first: what a loss adds to them is nothing.
PLAIN = ("linear", "rnn")
# What the referee may do for each random example of a budget, in rough multiplications.
PATIENCE = 1_200_000


@dataclass(frozen=True)
class TypedResult:
    """What became of a typed bound."""

    statement: Statement
    systems: int
    holds: int
    undecided: int
    attack: str | None = None
    counterexample: Check | None = None
    skipped: int = 0

    @property
    def stands(self) -> bool:
        """Whether every check was decided, for the statement, and there were some."""
        return self.attack is None and self.holds > 0 and not self.undecided


def contractive() -> Assumption:
    """λ < 1, as certified."""
    return Assumption(
        "contractive", "the certified λ is below 1", Statement(lam(), "<", sympy.Integer(1))
    )


def typed_assumptions(statement: Statement) -> tuple[Assumption, ...]:
    """What a typed statement presupposes of the systems that it is tested on."""
    contracts = (
        (contractive(),) if all(KINDS[kind].contracts for kind in kinds_of(statement)) else ()
    )
    return (*contracts, *positive(statement))


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
    names = free_names(statement)
    measured = [name for name in names if VOCABULARY[name].role == "measured"]
    if not measured:
        raise InputError(
            "the statement measures nothing; name a measured quantity, h_gap or h_norm say"
        )
    asked = {name for name in names if supplied_by(name)} | set(measured)
    choices = [supplied_by(name) or {*PLAIN, "gradient"} for name in sorted(asked)]
    kinds = set.intersection(*choices)
    if {*PLAIN} <= kinds:
        kinds = {*PLAIN}
    if not kinds:
        raise InputError(f"no one system has all of {', '.join(sorted(asked))}; test them apart")
    return tuple(kind for kind in KINDS if kind in kinds)


def supplied_by(name: str) -> set[str]:
    """The kinds that say that they have the quantity; none of what vanilla networks have."""
    return {kind.name for kind in KINDS.values() if name in kind.quantities}


def attack_typed(
    statement: Statement,
    *,
    budget: Budget,
    seed: int,
    attacks: tuple[str, ...] = ATTACKS,
    device: str = "cpu",
) -> TypedResult:
    """Attack a typed statement; a counter-example comes back shrunk and explained."""
    kinds = kinds_of(statement)
    lacking = [missing(kind, statement) for kind in kinds]
    if all(lacking):
        raise UnsuppliedError(statement.text, lacking[0][0], kinds)
    assumptions, judged = typed_assumptions(statement), plainer(statement)
    form = Form("typed", statement, assumptions, kinds[0], Proof(()))
    patience = Patience(PATIENCE * budget.random)
    found = hunt(
        judged, assumptions, kinds, [form], budget=budget, seed=seed,
        attacks=[(attack, 1.0) for attack in attacks], label=statement.text, device=device,
        patience=patience,
    )  # fmt: skip
    seen = TypedResult(
        statement, found.systems, found.holds, found.undecided, skipped=patience.skipped
    )
    if found.spec is None:
        return seen
    check = shrink("typed", "typed", judged, assumptions, found.spec)
    return replace(seen, attack=found.attack, counterexample=check)
