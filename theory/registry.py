"""Checks of the table of claims and of the vocabulary, before anything uses them.

Names identify claims in records, commands and parts of a run, so each must be unique; statements
may contain quantities alone, as a system is asked for each of them by its name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from keyword import iskeyword

from sympy import Symbol

from rnnbounds.theory.errors import InputError
from rnnbounds.theory.language import Assumption, Statement
from rnnbounds.theory.language.parse import EXTREMA, FUNCTIONS
from rnnbounds.theory.language.quantity import Quantity
from rnnbounds.theory.language.vocabulary import QUANTITIES, VOCABULARY
from rnnbounds.theory.proof import Claim, Form, Variant


class RegistrationError(InputError):
    """A claim, a form, a variant or a quantity that cannot be entered as it is."""


def check_claims(claims: Sequence[Claim], quantities: Sequence[Quantity] | None = None) -> None:
    """Raise RegistrationError for the first name that is given twice, or that no quantity has."""
    own = {quantity.name for quantity in QUANTITIES}
    brought = tuple(quantity for name, quantity in VOCABULARY.items() if name not in own)
    for fault in faults(claims, (*QUANTITIES, *brought) if quantities is None else quantities):
        raise RegistrationError(fault)


def faults(claims: Sequence[Claim], quantities: Sequence[Quantity]) -> Iterator[str]:
    """Yield a message for each fault of the claims and quantities."""
    for name in repeated(quantity.name for quantity in quantities):
        yield f"two quantities are named {name!r}; give one of them another name"
    reserved = {*FUNCTIONS, *EXTREMA}
    for name in (quantity.name for quantity in quantities):
        if not name.isidentifier() or not name.isascii() or iskeyword(name) or name in reserved:
            yield f"no statement can name a quantity {name!r}; choose letters, digits and _"
    for id in repeated(claim.id for claim in claims):
        yield f"two claims have the id {id!r}; give one of them another id"
    known = {quantity.symbol for quantity in quantities}
    for claim in claims:
        yield from faults_of(claim, known)


def faults_of(claim: Claim, known: set[Symbol]) -> Iterator[str]:
    """Yield a message for each fault of one claim."""
    if not claim.forms:
        yield f"the claim {claim.id!r} has no form; state it"
    for name in repeated(form.name for form in claim.forms):
        yield f"two forms of {claim.id} are named {name!r}; give one of them another name"
    # One command line names both: `replay --form`.
    names = [*(form.name for form in claim.forms), *(v.id for v in claim.false_variants)]
    for name in repeated(names):
        yield f"two forms or false variants of {claim.id} are {name!r}; give one another name"
    forms = {form.name for form in claim.forms}
    for variant in claim.false_variants:
        if variant.form not in forms:
            yield f"{claim.id}'s variant {variant.id!r} is of no form {variant.form!r}; name one"
    parts: tuple[Form | Variant, ...] = (*claim.forms, *claim.false_variants)
    for part in parts:
        where = f"{claim.id} ({part.name if isinstance(part, Form) else part.id})"
        for id in repeated(assumption.id for assumption in part.assumptions):
            yield f"{where} has two assumptions {id!r}; give one of them another id"
        for symbol in sorted(strangers(part, known), key=str):
            yield (
                f"{where} speaks of {symbol.name!r}, which is no quantity's symbol; "
                "take the symbol that symbols() gives, or bring the quantity with enter(), both of "
                "rnnbounds.theory.language.vocabulary"
            )


def strangers(part: Form | Variant, known: set[Symbol]) -> set[Symbol]:
    """The symbols of a statement and of its conditions that are no quantities."""
    return {symbol for statement in stated(part) for symbol in statement.symbols} - known


def stated(part: Form | Variant) -> tuple[Statement, ...]:
    """Statement and assumption conditions of a form or a variant."""
    return (part.statement, *conditions(part.assumptions))


def conditions(assumptions: Iterable[Assumption]) -> tuple[Statement, ...]:
    """Conditions of the assumptions, which are tested on each system."""
    return tuple(a.condition for a in assumptions if a.condition is not None)


def repeated(names: Iterable[str]) -> list[str]:
    """Names that occur more than once, in order of first occurrence."""
    return [name for name, count in Counter(names).items() if count > 1]
