"""A run in parts: each claim's proof, each attack on it and the sabotage of it stand alone.

Parts share nothing, so they run in any order and in any process; merging them gives the same
record.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from time import perf_counter
from typing import Any

import msgspec

from impl.models.torch_machine import require_sound
from properties.attacks.budget import profile
from properties.attacks.campaign import attack_claim, not_applicable
from properties.attacks.registry import registered
from properties.attacks.sabotage import sabotage
from properties.judging.evidence import Evidence
from reports.records.ledger import Definition, LedgerRecord, LedgerStep
from reports.records.record import VariantRecord
from theory import CLAIMS, claim
from theory.language.definitions import DEFINED
from theory.language.printing import law_text
from theory.proof.claim import Claim, prove
from theory.proof.proof import Ledger


class Part(msgspec.Struct, frozen=True, order=True):
    """One piece of work: ``proof``, ``sabotage`` or the name of an attack, on one claim."""

    claim: str
    work: str

    @property
    def name(self) -> str:
        """CLAIM/WORK."""
        return f"{self.claim}/{self.work}"


class PartResult(msgspec.Struct, frozen=True, kw_only=True):
    """What one part found."""

    part: Part
    evidence: dict[str, Evidence] = {}
    ledgers: tuple[LedgerRecord, ...] = ()
    variants: tuple[VariantRecord, ...] = ()
    note: str = ""
    seconds: float = 0.0


def encode_result(result: PartResult) -> bytes:
    """As JSON, to travel between processes."""
    return msgspec.json.encode(result)


def decode_result(data: bytes | str) -> PartResult:
    """What `encode_result` wrote."""
    return msgspec.json.decode(data, type=PartResult)


def parts_of(claims: Sequence[Claim], attacks: Sequence[str]) -> list[Part]:
    """All parts of a run."""
    return [Part(entry.id, work) for entry in claims for work in ("proof", "sabotage", *attacks)]


def chosen_claims(ids: Iterable[str]) -> list[Claim]:
    """The claims of these ids in reading order; all of them for no ids.

    Raises:
        UnknownClaimError: one of them is unknown.
        InputError: a fault in the table, or in what one of them speaks of.
    """
    wanted = {claim(id).id for id in ids}
    chosen = [entry for entry in CLAIMS if not wanted or entry.id in wanted]
    registered(CLAIMS, chosen)
    return chosen


def run_part(part: Part, *, profile_name: str, seed: int, device: str = "cpu") -> PartResult:
    """Do one part of a run."""
    start = perf_counter()
    entry, budget = claim(part.claim), profile(profile_name)
    found: dict[str, Any] = {}
    if part.work == "proof":
        found["ledgers"] = ledger_records(entry, budget.minimal)
    elif part.work == "sabotage":
        found["variants"] = sabotage(
            entry, entry.false_variants, budget=budget, seed=seed, device=device
        )
    else:
        found["evidence"] = attack_claim(entry, part.work, budget=budget, seed=seed, device=device)
        found["note"] = not_applicable(entry, part.work)
    return PartResult(part=part, seconds=perf_counter() - start, **found)


def ledger_records(entry: Claim, minimal: bool = True) -> tuple[LedgerRecord, ...]:
    """The proofs of a claim's forms, as run now."""
    require_sound()
    forms = zip(entry.forms, prove(entry, minimal), strict=True)
    return tuple(ledger_record(form.name, ledger) for form, ledger in forms)


def unused(entry: Claim) -> dict[str, tuple[str, ...]]:
    """The assumptions of each form that no step of its ledger uses, where there are some."""
    forms = zip(entry.forms, prove(entry), strict=True)
    return {form.name: ledger.unused for form, ledger in forms if ledger.unused}


def ledger_record(form: str, ledger: Ledger) -> LedgerRecord:
    """One ledger as a record; a human step keeps it from being proved, and a failed one says where
    it is written."""
    steps = tuple(
        LedgerStep(
            id=step.id, statement=step.statement, kind=step.kind, method=step.method,
            uses=step.uses, verdict=step.verdict, redundant=step.redundant,
            detail=f"{step.where}: {step.detail}" if step.verdict == "failed" else step.detail,
            quantifier=step.quantifier,
        )
        for step in ledger.steps
    )  # fmt: skip
    human = tuple(step.id for step in ledger.steps if step.kind == "human")
    return LedgerRecord(
        form=form,
        steps=steps,
        axioms=ledger.axioms,
        human=human,
        proved=ledger.proved and not human,
        argued=ledger.argued,
        definitions=tuple(
            Definition(name=name, text=law_text(DEFINED[name])) for name in ledger.definitions
        ),
    )


def failures(result: PartResult) -> list[str]:
    """Why a part fails, one line each; empty if it passes. A part that judged nothing does not fail
    here: whether a claim was tested in earnest is the whole run's question."""
    found = []
    for form, evidence in result.evidence.items():
        tally = evidence.tally
        if tally.violated or tally.undecided:
            found.append(f"{form}: {tally.violated} VIOLATED, {tally.undecided} UNDECIDED")
        found += [f"  {c.verdict}: {c.replay}" for c in evidence.failing]
    for ledger in result.ledgers:
        if not ledger.stands:
            failed = (step for step in ledger.steps if step.verdict == "failed")
            found += [f"{ledger.form}: not proved", *(f"  {s.id}: {s.detail}" for s in failed)]
    for variant in result.variants:
        if not variant.convicted:
            found.append(f"{variant.id}: survived {variant.systems} systems")
        if not variant.ledger_fails:
            found.append(f"{variant.id}: the ledger proves it")
    return found
