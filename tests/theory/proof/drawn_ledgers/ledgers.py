"""Ledgers of drawn steps to a goal, the outcome of the prover, and whether it is a falsehood."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from random import Random
from unittest.mock import patch

from flint import ctx
from hypothesis import strategies as st
from sympy import Expr, Integer

from drawn_ledgers.models import NO_VALUE, S_0, Model, lam, model, some, steps, values
from drawn_ledgers.said import Family, Said, witness
from rnnbounds.theory.kernel import smt
from rnnbounds.theory.language import Assumption, Statement, at, eq, le, lt
from rnnbounds.theory.language.definitions import REGISTRY, Definition
from rnnbounds.theory.proof import Proof, Step, accept, proof
from rnnbounds.theory.proof.methods import Direct, Method, Smt
from rnnbounds.theory.proof.proof import check

BITS = 200
CONDITIONS = (
    lt(lam, 1), le(lam, 1), lt(0, lam), le(1, steps), eq(lam, 0), eq(steps, 0), le(S_0, lam),
    eq(lam, Integer(1) / 2), eq(values(0), -1), lt(0, S_0), eq(lam, S_0),
)  # fmt: skip
TRIES = 4
BATCH, MOST = 20, 4
# A seed a batch: choice by choice most ledgers would come several times, small ones first. It is of
# booleans: into integers Hypothesis mixes constants of whatever modules are loaded.
SEEDS = st.tuples(*[st.booleans()] * 32).map(lambda bits: sum(b << i for i, b in enumerate(bits)))


@dataclass(frozen=True)
class Ledger:
    """Steps to a goal that the model refutes; of a true twin the goal is a matter of course."""

    family: str
    said: Said
    steps: tuple[Step, ...]
    goal: Statement
    granted: tuple[Assumption, ...]
    model: Model

    def __repr__(self) -> str:
        told = "\n".join(
            f"  {s.id}: {s.conclusion.lhs} {s.conclusion.relation} {s.conclusion.rhs}"
            f" for {s.forall} if {s.given} by {s.method}"
            for s in self.steps
        )
        return f"{self.family}, granted {[one.condition for one in self.granted]}:\n{told}"


def granted(chance: Random, model: Model) -> tuple[Assumption, ...]:
    """Conditions that the model meets."""
    true = [one for one in CONDITIONS if model.grants(one)]
    chosen = some(chance, true, 2) if true else ()
    return tuple(Assumption(f"granted {n}", "", one) for n, one in enumerate(chosen))


def ledger(
    chance: Random, model: Model, known: tuple[Assumption, ...], family: Family
) -> Ledger | None:
    """One ledger, of what is true by its making or refuted by a point that is looked at."""
    for _ in range(TRIES):
        try:
            found = _ledger(chance, model, known, family)
        except (ValueError, TypeError):  # SymPy makes no such term
            continue
        if found is not None:
            return found
    return None


def _ledger(
    chance: Random, model: Model, known: tuple[Assumption, ...], family: Family
) -> Ledger | None:
    said = family(chance, model)
    if said is None:
        return None
    meant = said.model or model
    if said.true:
        goal = eq(1, 1)
        end = Step("claim", goal, Smt(), location="drawn")
        return Ledger(family.__name__, said, (*said.before, said.step, end), goal, known, meant)
    terms = witness(meant, said.step)
    if terms is None:
        return None
    goal = _false(meant, said, terms)
    if known and not chance.choice(range(3)):
        said = replace(said, method=_more(said.method, known))
    use = at("s", *terms) if said.forall or chance.choice((True, False)) else "s"
    end = Step("claim", goal, Smt(use), location="drawn")
    between = _chained(chance, said)
    return Ledger(
        family.__name__, said, (*said.before, said.step, *between, end), goal, known, meant
    )


def _more(method: Method, known: tuple[Assumption, ...]) -> Method:
    """The method with all that is granted among its uses, if it is one of those for which that is
    easy."""
    if not isinstance(method, Direct):
        return method
    return type(method)(*method.uses, *(one.id for one in known))


def _chained(chance: Random, said: Said) -> tuple[Step, ...]:
    """Now and then a step that only says it again."""
    if said.given or chance.choice(range(8)):
        return ()
    doubled = Statement(2 * said.conclusion.lhs, said.conclusion.relation, 2 * said.conclusion.rhs)
    uses = at("s", *said.forall) if said.forall else "s"
    return (Step("t", doubled, Smt(uses), said.forall, location="drawn"),)


def _false(model: Model, said: Said, terms: tuple[Expr, ...]) -> Statement:
    """What the step says at the terms if that is certainly false, else what is false anyway: SymPy
    may make another statement of it, or none."""
    try:
        stated = said.conclusion.replace(dict(zip(said.forall, terms, strict=True)))
        if model.refutes(stated):
            return stated
    except NO_VALUE:
        pass
    return le(1, 0)


def outcome(one: Ledger) -> tuple[bool, str]:
    """Whether the step is proved, and the falsehood that is; empty if none is."""
    with _defining(one.said.defined):
        found = check(Proof(one.steps), one.goal, one.granted)
        proved = {result.id for result in found.steps if result.verdict == "proved"}
        if found.proved and not one.said.true:
            return True, f"the goal is proved: {one.goal}"
        for step in one.steps[:-1]:
            if step.id in proved and (terms := witness(one.model, step)) is not None:
                return True, f"{step.id} is proved, and false at {terms}"
    return "s" in proved, ""


@contextmanager
def _defining(found: Definition | None) -> Iterator[None]:
    """With the new definition, for as long as the ledger runs."""
    if found is None:
        yield
        return
    REGISTRY[found.id] = found
    try:
        yield
    finally:
        del REGISTRY[found.id]


@contextmanager
def attacked() -> Iterator[None]:
    """The prover without what it tells of failures: no counter-models worth printing are sought,
    and no ledger is kept for a second time."""
    with ExitStack() as stack:
        for module, cached in (
            (proof, "checked"), (proof, "outcomes"), (accept, "outcomes"), (accept, "scopes_of"),
        ):  # fmt: skip
            plain = getattr(module, cached).__wrapped__
            stack.enter_context(patch.object(module, cached, plain))
        stack.enter_context(patch.object(smt, "_EXPLAINERS", []))
        stack.enter_context(ctx.workprec(BITS))
        yield


def batch(seed: int, family: Family) -> tuple[Ledger, ...]:
    """Ledgers of the family on one model, which meets what is granted."""
    chance = Random(seed)
    drawn = model(chance)
    known = granted(chance, drawn)
    found = (ledger(chance, drawn, known, family) for _ in range(MOST * BATCH))
    return tuple(islice((one for one in found if one is not None), BATCH))
