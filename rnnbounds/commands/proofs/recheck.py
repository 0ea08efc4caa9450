"""``rnnbounds prove --recheck``: cvc5 is given the texts that z3 answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from rnnbounds.commands.proofs.steps import print_wrapped
from rnnbounds.reports.text import plural
from rnnbounds.shell.output import echo, show_progress
from rnnbounds.theory.errors import InputError
from rnnbounds.theory.kernel.solver.client import SECOND, SECOND_STRATEGIES
from rnnbounds.theory.proof.claim import Claim
from rnnbounds.theory.proof.claim import prove as ledgers_of
from rnnbounds.theory.proof.proof import StepResult

CONFIRMED, UNDECIDED, CONTRADICTED = "confirmed", "undecided", "contradicted"


@dataclass(frozen=True)
class Rechecked:
    """A step as a form uses it, and whether cvc5 refutes all that z3 did."""

    claim: str
    form: str
    step: str
    outcome: str


def require_cvc5() -> None:
    """Raise InputError where cvc5 is not installed."""
    if find_spec("cvc5") is None:
        raise InputError("--recheck asks cvc5; install it with: pip install 'rnnbounds[recheck]'")


def recheck(entries: Sequence[Claim]) -> list[Rechecked]:
    """Every step of the claims for which z3 was asked something."""
    with show_progress(len(entries), "rechecking") as advance:
        found = []
        for entry in entries:
            advance(entry.id)
            for form, ledger in zip(entry.forms, ledgers_of(entry), strict=True):
                found += [
                    Rechecked(entry.id, form.name, step.id, outcome(step))
                    for step in ledger.steps
                    if step.queries
                ]
    return found


def outcome(step: StepResult) -> str:
    """Contradicted if both solvers answer one text differently; confirmed if cvc5 refutes all that
    z3 did: a model that it does not find leaves open only whether hypotheses are consistent."""
    asked = dict.fromkeys((query.text, query.verdict) for query in step.queries)
    answers = [(by_z3, SECOND.ask(text, (), SECOND_STRATEGIES).verdict) for text, by_z3 in asked]
    if {("sat", "unsat"), ("unsat", "sat")} & set(answers):
        return CONTRADICTED
    return UNDECIDED if ("unsat", "unknown") in answers else CONFIRMED


def print_recheck(found: Sequence[Rechecked]) -> None:
    """The steps that cvc5 does not decide, those where it contradicts z3, and the share of each."""
    for outcome in (UNDECIDED, CONTRADICTED):
        steps: dict[tuple[str, str], list[str]] = {}
        for one in found:
            if one.outcome == outcome:
                steps.setdefault((one.claim, one.step), []).append(one.form)
        for (claim, step), forms in steps.items():
            print_wrapped(f"{outcome} by cvc5: {claim} ({', '.join(forms)}), {step}", 0)
    counts = {outcome: sum(one.outcome == outcome for one in found)
              for outcome in (CONFIRMED, UNDECIDED, CONTRADICTED)}  # fmt: skip
    told = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
    share = f" ({counts[CONFIRMED] / len(found):.1%})" if found else ""
    echo(f"cvc5: {plural(len(found), 'use')} of a step that z3 has a part in: {told}{share}")


def recheck_document(claim: str, found: Sequence[Rechecked]) -> list[dict[str, Any]]:
    """The JSON document of a claim's steps."""
    return [
        {"form": one.form, "step": one.step, "outcome": one.outcome}
        for one in found
        if one.claim == claim
    ]
