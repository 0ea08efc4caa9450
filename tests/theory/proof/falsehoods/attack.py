"""What an attempt to prove something false consists of, and how it is refused."""

from collections.abc import Callable
from dataclasses import dataclass

from sympy import Symbol

from rnnbounds.theory.errors import InputError
from rnnbounds.theory.language import Assumption, Statement, at, enter, eq, law
from rnnbounds.theory.language.vocabulary import DEFINITIONS, VOCABULARY, Quantity, unfold
from rnnbounds.theory.proof import Claim, Form, Proof, Source, Step, check, prove
from rnnbounds.theory.proof.methods import Gap, Method, Smt

TRUE = eq(1, 1)
CUT, NO_NUMBER, CONSTANT = "counter-model", "no real number", "a constant of the claim"


@dataclass(frozen=True)
class Attack:
    """Steps to a goal that is false of some model that meets the assumptions."""

    steps: tuple[Step, ...]
    goal: Statement
    granted: tuple[Assumption, ...]
    reason: str

    def refusal(self) -> str:
        """Why the first step that fails does; empty if the goal is proved."""
        ledger = check(Proof(self.steps), self.goal, self.granted, minimal=False)
        return "" if ledger.stands else ledger.failures[0].detail


@dataclass(frozen=True)
class Claimed:
    """A form whose ledger concludes what is false of the systems that it is about."""

    form: Form
    reason: str

    def refusal(self) -> str:
        """Why it is not proved."""
        claim = Claim("false", "", Source("", ""), (self.form,), (), "")
        (ledger,) = prove(claim, minimal=False)
        return "" if ledger.stands else ledger.failures[0].detail


@dataclass(frozen=True)
class Forgery:
    """What the constructors refuse to make."""

    make: Callable[[], object]
    reason: str

    def refusal(self) -> str:
        """The error; empty if there is none."""
        try:
            self.make()
        except (InputError, Gap) as error:
            return str(error)
        return ""


@dataclass(frozen=True)
class Entering:
    """A quantity that is entered with its definition, and an attack that speaks of it."""

    quantity: Quantity
    attack: Attack

    @property
    def reason(self) -> str:
        """The attack's."""
        return self.attack.reason

    def refusal(self) -> str:
        """Why the quantity is not entered or, if it is, the attack fails."""
        try:
            enter(self.quantity)
        except InputError as error:
            return str(error)
        try:
            return self.attack.refusal()
        finally:
            withdraw(self.quantity)


def withdraw(quantity: Quantity) -> None:
    """Take the quantity out of the vocabulary, which other tests read."""
    del VOCABULARY[quantity.name], DEFINITIONS[quantity.symbol]
    unfold.cache_clear()


def assume(id: str, *facts: Statement, variables: tuple[Symbol, ...] = ()) -> Assumption:
    """An assumption's law."""
    return Assumption(id, "", law=law(id, variables, *facts))


def ends(goal: Statement, method: Method, reason: str, *granted: Assumption) -> Attack:
    """In one step, by the method."""
    return Attack((Step("claim", goal, method),), goal, granted, reason)


def through(
    step: Step, goal: Statement, terms: tuple[object, ...], reason: str, *granted: Assumption
) -> Attack:
    """By the step, at the terms."""
    end = Step("claim", goal, Smt(at(step.id, *terms)))  # type: ignore[arg-type]
    return Attack((step, end), goal, granted, reason)


def alone(step: Step, reason: str, *granted: Assumption) -> Attack:
    """The step itself is false."""
    return Attack((step, Step("claim", TRUE, Smt())), TRUE, granted, reason)


def every(
    conclusion: Statement,
    variables: tuple[Symbol, ...],
    *given: Statement,
    by: Method | None = None,
) -> Step:
    """A step for all values of the variables, by z3 from what is given unless said otherwise."""
    method = by or Smt(*(f"given {index}" for index, _ in enumerate(given, start=1)))
    return Step("s", conclusion, method, variables, given)
