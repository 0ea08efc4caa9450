"""Basis of a proved form: derived, derived from an assumed inclusion, or a restatement.

A *hypothesis* describes the system, the method or a construction, as a set by its points or an
interval by the rule of one operation; relates numbers; or states that a constant of the claim, as a
norm or a Lipschitz constant, is at least what it bounds. A program shows it on the system at hand.
An *inclusion* states that a set which the program computes, and which the statement does not
mention, contains what it should (the image of an invariant box, a value within its computed error),
or that an object exists. The attack tests it, no step derives it; such an assumption is
marked.

A form *restates* an assumption if its statement follows from this one assumption, as the proof uses
it, in a single step without induction, with nothing else but definitions, the axioms of a norm and
assumptions on numbers alone. Such a form rests on the attack. Any other form that uses a marked
assumption is *inclusion assumed*, and all else is *derived*.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sympy import Expr

from rnnbounds.theory.kernel import door
from rnnbounds.theory.kernel.terms import is_formal, within
from rnnbounds.theory.language import Assumption, Axiom, Instance, Use
from rnnbounds.theory.language.definitions import Definition
from rnnbounds.theory.proof.claim import Form
from rnnbounds.theory.proof.lemma import Lemma
from rnnbounds.theory.proof.methods.base import Direct
from rnnbounds.theory.proof.proof import Step, proves
from rnnbounds.theory.proof.scope import StepScope, assumption_law

BasisKind: TypeAlias = Literal["derived", "inclusion assumed", "restates"]


@dataclass(frozen=True)
class Basis:
    """The kind, and the names of the assumptions that make it so; none of a form that is
    derived."""

    kind: BasisKind
    assumptions: tuple[str, ...] = ()


def basis(form: Form) -> Basis:
    """Classify the form as restatement, inclusion assumed or derived, supposing it is proved."""
    if restated := _restated_assumption(form):
        return Basis("restates", (restated,))
    inclusions = tuple(a.id for a in form.assumptions if a.inclusion)
    return Basis("inclusion assumed" if inclusions else "derived", inclusions)


def _restated_assumption(form: Form) -> str:
    """The name of an assumption that states the form alone; empty if none does."""
    *before, last = form.proof.steps
    expanded = dict.fromkeys(_expand_uses(last, {step.id: step for step in before}, {}))
    uses, methods = dict.fromkeys(use for use, _ in expanded), {method for _, method in expanded}
    known = StepScope(
        {assumption.id: assumption for assumption in form.assumptions}, explains=False
    )
    numbers = {name for name, part in known.assumptions.items() if _relates_numbers(part)}
    goal = door.goal(form.statement)
    formal = [use for use in uses if _is_formal(use)]
    others = [use for use in uses if _assumption_name(use) in numbers]

    def suffice(some: list[Use]) -> bool:
        return any(proves(method(*some), goal, known) for method in methods)

    for name in known.assumptions:
        own_uses = [use for use in uses if _assumption_name(use) == name]
        extra = formal if name in numbers else [*formal, *others]
        if own_uses and suffice([*own_uses, *extra]) and not suffice(extra):
            return name
    return ""


def _expand_uses(
    step: Step, steps: Mapping[str, Step], values: Mapping[Expr, Expr]
) -> Iterator[tuple[Use, type[Direct]]]:
    """Yield (use, method) of a direct step, earlier steps and lemmas replaced by their uses."""
    if not isinstance(step.method, Direct):
        return
    for use in step.method.uses:
        terms = () if isinstance(use, str) else tuple(t.xreplace(values) for t in use.terms)
        law = use if isinstance(use, str) else use.law
        if isinstance(law, str) and law in steps:
            earlier = steps[law]
            yield from _expand_uses(earlier, steps, dict(zip(earlier.forall, terms, strict=False)))
        elif isinstance(law, Lemma) and not law.variables:
            *before, last = law.proof.steps
            yield from _expand_uses(last, {**steps, **{one.id: one for one in before}}, {})
        else:
            yield (use if isinstance(use, str) else Instance(use.law, terms)), type(step.method)


def _assumption_name(use: Use) -> str:
    """Id of the assumption that is used; empty if the law is no assumption."""
    law = use if isinstance(use, str) else use.law
    return law if isinstance(law, str) else ""


def _is_formal(use: Use) -> bool:
    """True if the used law is a definition or an axiom of a norm."""
    law = None if isinstance(use, str) else use.law
    return isinstance(law, Definition) or (isinstance(law, Axiom) and law.id == "norm")


def _relates_numbers(assumption: Assumption) -> bool:
    """True if the assumption relates constants, without states, operators or functions."""
    sides = [side for clause in assumption_law(assumption).clauses for side in clause.sides]
    heads = {term.head for side in sides for term in within(side)}
    kinds = {"norm", "vector", "operator"}
    return all(
        head.kind not in kinds and head.range in ("real", "natural") and not is_formal(head)
        for head in heads
    )
