"""Records of what the claims of a run speak of: symbols, cited works, and the claims' files."""

from __future__ import annotations

from collections.abc import Iterable

from rnnbounds.reports.records.record import Symbol, Work
from rnnbounds.theory.bibliography import cited
from rnnbounds.theory.language.mathml import latex_to_mathml, xml_element
from rnnbounds.theory.language.printing import plain_text
from rnnbounds.theory.language.quantity import Quantity
from rnnbounds.theory.language.spelling import typed_notation
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.proof.claim import Claim
from rnnbounds.theory.typeset import expression_mathml, typeset


def symbol_names(claim: Claim) -> tuple[str, ...]:
    """The quantities in the statements and conditions of a claim's forms, in the vocabulary's
    order."""
    statements = [form.statement for form in claim.forms]
    statements += [
        assumption.condition
        for form in claim.forms
        for assumption in form.assumptions
        if assumption.condition is not None
    ]
    used_symbols = {symbol for statement in statements for symbol in statement.symbols}
    return tuple(name for name, quantity in VOCABULARY.items() if quantity.symbol in used_symbols)


def symbol_records(claims: Iterable[Claim]) -> tuple[Symbol, ...]:
    """The quantities that any of the claims speaks of, in the vocabulary's order."""
    used = {name for claim in claims for name in symbol_names(claim)}
    return tuple(_symbol_record(quantity) for name, quantity in VOCABULARY.items() if name in used)


def cited_works(claim: Claim) -> tuple[Work, ...]:
    """The works that a claim's source names."""
    return tuple(Work(title=entry.title, url=entry.url) for entry in cited(claim.source.text))


def claim_file(claim: Claim) -> str:
    """The file in which the first form of a claim is stated: theory/claims/…/NAME.py."""
    steps = claim.forms[0].proof.steps
    return steps[-1].location.rpartition(":")[0] if steps else ""


def _symbol_record(quantity: Quantity) -> Symbol:
    definition = quantity.definition
    return Symbol(
        name=quantity.name,
        notation=typed_notation(quantity.notation),
        mathml=xml_element("math", latex_to_mathml(quantity.notation)),
        meaning=quantity.meaning,
        typeset=typeset(quantity.meaning),
        norm=quantity.norm,
        norm_typeset=typeset(quantity.norm),
        role=quantity.role,
        definition="" if definition is None else plain_text(definition),
        definition_mathml="" if definition is None else expression_mathml(definition),
    )
