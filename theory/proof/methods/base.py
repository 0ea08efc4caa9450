"""The methods of proof for most steps: queries, words, induction; and the scope of a step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar, Protocol

from sympy import Symbol

from rnnbounds.theory.kernel import door, rewriting
from rnnbounds.theory.kernel.algebra import fully_expanded, minus, plus
from rnnbounds.theory.kernel.smt import entail
from rnnbounds.theory.kernel.statements import Clause, Law, Statement, eq
from rnnbounds.theory.kernel.terms import ONE, ZERO
from rnnbounds.theory.kernel.terms import Gap as Gap
from rnnbounds.theory.language import Instance, Use
from rnnbounds.theory.language import Statement as Stated

GIVEN, HYPOTHESIS = "given", "induction hypothesis"
RANGE = "range"  # what is known of a point where a part of a step is shown


class Scope(Protocol):
    """Scope of a step for a method: the facts that it may use."""

    @property
    def conditions(self) -> tuple[Clause, ...]:
        """The claim's own conditions."""

    def clauses(self, uses: tuple[Use, ...]) -> tuple[Clause, ...]:
        """The used statements; raises Gap if one is not at hand or its side conditions fail."""

    def with_hypothesis(self, id: str, statement: Statement) -> Scope:
        """Scope with the statement as one more hypothesis, under this name."""

    def with_law(self, law: Law) -> Scope:
        """Scope with one more law."""

    def bare(self) -> Scope:
        """Scope in which nothing is granted."""


@dataclass(frozen=True)
class Method(ABC):
    """A way to prove a step from the uses that it lists."""

    name: ClassVar[str]

    @property
    @abstractmethod
    def uses(self) -> tuple[Use, ...]:
        """All facts that the method may use."""

    @abstractmethod
    def prove(self, goal: Statement, scope: Scope) -> str:
        """A line on how the goal follows; raises Gap if it does not."""


@dataclass(frozen=True)
class Direct(Method):
    """Proof method that uses all its hypotheses at once."""

    hypotheses: tuple[Use, ...]

    def __init__(self, *hypotheses: Use) -> None:
        object.__setattr__(self, "hypotheses", hypotheses)

    @property
    def uses(self) -> tuple[Use, ...]:
        """Hypotheses, in the order in which they were given."""
        return self.hypotheses


class Smt(Direct):
    """The hypotheses are satisfiable, and together with the negated goal they are not.

    An equation of vectors is rewritten by those used, and says of each word of its difference that
    the number before it is 0.
    """

    name: ClassVar[str] = "smt"

    def prove(self, goal: Statement, scope: Scope) -> str:
        """Prove the goal from the hypotheses."""
        goal, facts = rewriting.prepare(goal, scope.clauses(self.hypotheses))
        if not rewriting.is_vector_equation(goal):
            return entail(goal, facts, scope.conditions)
        if goal.relation != "==":
            raise Gap(f"{goal} compares no numbers")
        factors = rewriting.words(minus(*goal.sides)).values()
        for factor in factors or (ZERO,):
            entail(eq(factor, ZERO), facts, scope.conditions)
        return "the sides are the same sum of words"


class Words(Direct):
    """Both sides are the same sum of words, once no rule applies any more."""

    name: ClassVar[str] = "words"

    def prove(self, goal: Statement, scope: Scope) -> str:
        """Prove an equation of operators, or of scalars that measure them."""
        if goal.relation != "==":
            raise Gap(f"a {goal.relation} is no identity")
        rules = rewriting.word_rules(scope.clauses(self.hypotheses))
        rewriting.require_polynomial(goal)
        remainder = fully_expanded(
            minus(*(rewriting.word_form(side, rules) for side in goal.sides))
        )
        if remainder is not ZERO:
            raise Gap(f"counter-model: by the rules the sides differ by {remainder}")
        return f"the same words by {len(rules)} rules"


@dataclass(frozen=True)
class Induction(Method):
    """The conclusion at 0, and at `over` + 1 from the conclusion at `over` (the hypothesis).

    Premises that speak of `over` are listed, as the step's own, in `given`: they are supposed at 0
    and at `over` + 1, and are premises of the hypothesis, which holds for all `others`.
    """

    over: Symbol
    base: Direct
    step: Direct
    given: tuple[Stated, ...] = ()
    others: tuple[Symbol, ...] = ()

    name: ClassVar[str] = "induction"

    @property
    def uses(self) -> tuple[Use, ...]:
        """Uses of the parts, without the induction hypothesis."""
        parts = dict.fromkeys((*self.base.uses, *self.step.uses))
        laws = {use: use.law if isinstance(use, Instance) else use for use in parts}
        return tuple(use for use, law in laws.items() if law != HYPOTHESIS)

    def prove(self, goal: Statement, scope: Scope) -> str:
        """Prove the base, then the step."""
        premises, over = tuple(map(door.goal, self.given)), door.term(self.over)
        if over not in goal.variables.union(*(premise.variables for premise in premises)):
            raise Gap(f"{over} does not occur in {goal}")
        hypothesis = Law(HYPOTHESIS, tuple(map(door.term, self.others)), (Clause(goal, premises),))
        for part, method, value, known in (
            ("base", self.base, ZERO, scope),
            ("step", self.step, plus(over, ONE), scope.with_law(hypothesis)),
        ):
            conclusion = goal.replace({over: value})
            for index, premise in enumerate(premises, start=1):
                known = known.with_hypothesis(f"{GIVEN} {index}", premise.replace({over: value}))
            with in_part(f"{part} ({conclusion})"):
                method.prove(conclusion, known)
        return f"base by {self.base.name}, step by {self.step.name}"

    def objection(self, forall: tuple[Symbol, ...], given: tuple[Stated, ...]) -> str:
        """Why the step may not be proved so; empty if it may."""
        over, free = door.term(self.over), set(map(door.term, forall))
        premises, carried = (tuple(map(door.goal, part)) for part in (given, self.given))
        varying = {over, *map(door.term, self.others)}
        if over.head.range != "natural":
            return f"induction over {over}, which is no natural number"
        is_fixed = carried == premises or all(varying.isdisjoint(p.variables) for p in premises)
        if not varying <= free or len(varying) <= len(self.others) or not is_fixed:
            return f"induction over {over}, which is not a free variable of the step"
        return "" if carried in ((), premises) else "the premises are not the step's"


@contextmanager
def in_part(part_name: str) -> Iterator[None]:
    """Prefix the message of a Gap that is raised within by the name of the part."""
    try:
        yield
    except Gap as gap:
        raise Gap(f"{part_name}: {gap}") from gap


def use_name(use: Use) -> str:
    """Text of a use in a ledger: its name, or the law with its terms."""
    return use if isinstance(use, str) else use.name
