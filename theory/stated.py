"""Search for a statement among the forms of the claims and the steps of their proofs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rnnbounds.theory.language.statement import Statement
from rnnbounds.theory.language.vocabulary import VOCABULARY, unfold
from rnnbounds.theory.proof.claim import Claim

k, T = VOCABULARY["k"].symbol, VOCABULARY["T"].symbol
# How steps name the start and the length of a window.
WINDOW = {"s": T - k, "j": k}


class Place(NamedTuple):
    """A form of a claim; and the step of its proof, empty if the form itself is meant."""

    claim: str
    form: str
    step: str = ""


def stated_by(statement: Statement, claims: Sequence[Claim]) -> Place | None:
    """The first form with this statement, else the first step that concludes it of the window from
    time T − k on; None if there is none."""
    for claim in claims:
        for form in claim.forms:
            if form.statement == statement:
                return Place(claim.id, form.name)
    unfolded = unfold(statement)
    for claim in claims:
        for form in claim.forms:
            for step in form.proof.steps:
                bound = {v: WINDOW[v.name] for v in step.forall if v.name in WINDOW}
                if not step.given and unfold(step.conclusion.replace(bound)) == unfolded:
                    return Place(claim.id, form.name, step.id)
    return None
