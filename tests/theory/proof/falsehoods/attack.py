"""What an attempt to prove something false consists of, and how it is refused."""

from collections.abc import Callable
from dataclasses import dataclass

from sympy import Expr, Symbol

from rnnbounds.theory.errors import InputError
from rnnbounds.theory.language import Assumption, Statement, Use, at, enter, eq, law
from rnnbounds.theory.language.vocabulary import DEFINITIONS, VOCABULARY, Quantity, unfold
from rnnbounds.theory.proof import Claim, Form, Ledger, Proof, Source, Step, check, prove
from rnnbounds.theory.proof.methods import Gap, Method, Smt

TRUE = eq(1, 1)


def ledger_of(form: Form) -> Ledger:
    """The ledger of a form, as the one of a claim."""
    (ledger,) = prove(Claim("false", "", Source("", ""), (form,), (), ""))
    return ledger


@dataclass(frozen=True)
class Attack:
    """Steps to a goal that is false of some model that meets what is granted.

    A form `about` cells is of what these show; a `quantity` is entered
    into the vocabulary for as long as it is attacked.
    """

    reason: str
    steps: tuple[Step, ...]
    granted: tuple[Assumption, ...] = ()
    about: str = ""
    quantity: Quantity | None = None

    def refusal(self) -> str:
        """Why the first step that fails does; empty if the goal is proved."""
        proof, goal = Proof(self.steps), self.steps[-1].conclusion
        if self.quantity is not None:
            enter(self.quantity)
        try:
            if self.about:
                ledger = ledger_of(Form("false", goal, self.granted, self.about, proof))
            else:
                ledger = check(proof, goal, self.granted)
        finally:
            if self.quantity is not None:  # other tests read the vocabulary
                del VOCABULARY[self.quantity.name], DEFINITIONS[self.quantity.symbol]
                unfold.cache_clear()
        return "" if ledger.proved else ledger.failures[0].detail


@dataclass(frozen=True)
class Forgery:
    """What the constructors refuse to make."""

    reason: str
    make: Callable[[], object]

    def refusal(self) -> str:
        """The error; empty if there is none."""
        try:
            self.make()
        except (InputError, Gap) as error:
            return str(error)
        return ""


def formal(reason: str, form: Form) -> Forgery:
    """A form as it is, which says of itself what it likes."""

    def proved() -> None:
        if failures := ledger_of(form).failures:
            raise Gap(failures[0].detail)

    return Forgery(reason, proved)


def assume(id: str, *facts: Statement, over: tuple[Symbol, ...] = ()) -> Assumption:
    """An assumption's law."""
    return Assumption(id, "", law=law(id, over, *facts))


def ends(reason: str, goal: Statement, method: Method, *granted: Assumption) -> Attack:
    """In one step, by the method."""
    return Attack(reason, (Step("claim", goal, method),), granted)


def used(reason: str, goal: Statement, *uses: Use, granted: tuple[Assumption, ...] = ()) -> Attack:
    """In one step, by z3 from the uses."""
    return ends(reason, goal, Smt(*uses), *granted)


def every(
    conclusion: Statement,
    over: tuple[Symbol, ...],
    *given: Statement,
    by: Method | None = None,
    id: str = "s",
) -> Step:
    """A step for all values of the variables, by z3 from what is given unless said otherwise."""
    method = by or Smt(*(f"given {index}" for index, _ in enumerate(given, start=1)))
    return Step(id, conclusion, method, over, given)


def alone(reason: str, *steps: Step, granted: tuple[Assumption, ...] = ()) -> Attack:
    """One of the steps is false already."""
    return Attack(reason, (*steps, Step("claim", TRUE, Smt())), granted)


def through(
    reason: str,
    step: Step,
    goal: Statement,
    *terms: Expr | int,
    granted: tuple[Assumption, ...] = (),
) -> Attack:
    """By the step, at the terms."""
    return Attack(reason, (step, Step("claim", goal, Smt(at(step.id, *terms)))), granted)
