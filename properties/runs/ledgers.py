"""The proofs of claims as records: what a run holds of them, and what `prove` prints.

No system is read here, so that a proof needs no torch.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from rnnbounds.impl.checker.machine import require_floats
from rnnbounds.reports.records.record import Definition, LedgerRecord, LedgerStep
from rnnbounds.theory import claim as claim_named
from rnnbounds.theory.claims.models import NO_MODEL
from rnnbounds.theory.claims.table import place
from rnnbounds.theory.language.definitions import REGISTRY
from rnnbounds.theory.language.printing import law_text, statement_mathml
from rnnbounds.theory.proof.claim import Claim, prove
from rnnbounds.theory.proof.proof import Ledger, Proof
from rnnbounds.theory.typeset import law as typeset_law
from rnnbounds.theory.typeset import quantifier


def named_claims(names: Iterable[str]) -> list[Claim]:
    """The claims of these names in reading order, each once; raises UnknownClaimError."""
    claims = {claim.id: claim for claim in map(claim_named, names)}
    return sorted(claims.values(), key=place)


def ledger_records(claim: Claim) -> tuple[LedgerRecord, ...]:
    """The proofs of a claim's forms, as run now."""
    require_floats()
    return tuple(
        replace(
            ledger_record(form.name, ledger, form.proof),
            presupposed=form.inclusions,
            met=f"{claim.id}/{form.name}" not in NO_MODEL,
        )
        for form, ledger in zip(claim.forms, prove(claim), strict=True)
    )


def unused_assumptions(claim: Claim) -> dict[str, tuple[str, ...]]:
    """The assumptions of each form that no step of its ledger uses, where there are some."""
    forms = zip(claim.forms, prove(claim), strict=True)
    return {form.name: ledger.unused for form, ledger in forms if ledger.unused}


def ledger_record(form: str, ledger: Ledger, proof: Proof | None = None) -> LedgerRecord:
    """One ledger as a record; a failed step says where it is written. The steps are typeset if the
    proof is given."""
    written = {step.id: step for step in (() if proof is None else proof.steps)}
    steps = tuple(
        LedgerStep(
            id=step.id, statement=step.statement, method=step.method,
            uses=step.uses, verdict=step.verdict,
            detail=f"{step.location}: {step.detail}" if step.verdict == "failed" else step.detail,
            quantifier=step.quantifier,
            mathml=statement_mathml(written[step.id].conclusion) if step.id in written else "",
            scope=quantifier(written[step.id]) if step.id in written and step.quantifier else "",
        )
        for step in ledger.steps
    )  # fmt: skip
    return LedgerRecord(
        form=form,
        steps=steps,
        axioms=ledger.axioms,
        ranges=ledger.ranges,
        proved=ledger.proved,
        definitions=tuple(
            Definition(
                name=name, text=law_text(REGISTRY[name]), typeset=typeset_law(REGISTRY[name])
            )
            for name in ledger.definitions
        ),
    )
