"""A run in parts: the proof of a claim, and the blocks of an attack in a pool of claims.

Parts share nothing, so they run in any order and in any process; merging them gives the same
record.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from time import perf_counter
from typing import Any

import msgspec
from msgspec.structs import replace

from rnnbounds.impl.models.surroundings import isolated
from rnnbounds.impl.models.torch_machine import require_sound
from rnnbounds.properties.attacks.budget import Budget, profile
from rnnbounds.properties.attacks.campaign import Seen, added, attack_forms, blocks_of
from rnnbounds.properties.attacks.pool import Group, Pool, pools_of
from rnnbounds.properties.attacks.registry import registered
from rnnbounds.properties.attacks.sabotage import (
    Refused,
    VariantGroup,
    refused,
    ridden,
    variant_groups,
)
from rnnbounds.properties.attacks.table import attacks as every
from rnnbounds.properties.frames import roomy
from rnnbounds.reports.records.ledger import Definition, LedgerRecord, LedgerStep
from rnnbounds.reports.records.record import VariantRecord
from rnnbounds.theory import CLAIMS, claim
from rnnbounds.theory.claims.models import NO_MODEL
from rnnbounds.theory.language.definitions import REGISTRY
from rnnbounds.theory.language.printing import law_text, statement_mathml
from rnnbounds.theory.proof.basis import basis
from rnnbounds.theory.proof.claim import Claim, Form, prove
from rnnbounds.theory.proof.proof import Ledger, Proof, StepResult
from rnnbounds.theory.recheck import unsettled
from rnnbounds.theory.typeset import law as typeset_law
from rnnbounds.theory.typeset import quantifier

PROOF, SABOTAGE = "proof", "sabotage"


class Part(msgspec.Struct, frozen=True, order=True):
    """One piece of work: the proof of a claim, or a block of an attack in a pool, or several.

    claims: those proved, or whose forms are attacked. false: those whose false variants ride, or
    are put to the proofs of their forms.
    """

    work: str
    claims: tuple[str, ...] = ()
    false: tuple[str, ...] = ()
    pool: str = ""
    block: int = 0
    blocks: int = 1

    @property
    def told(self) -> tuple[tuple[str, str], ...]:
        """(claim, work) of all that it tells something of; a record names parts by these."""
        own = tuple((claim, self.work) for claim in self.claims)
        return own + tuple((claim, SABOTAGE) for claim in self.false)

    @property
    def name(self) -> str:
        """CLAIM+CLAIM/WORK+WORK, with the pool and the block where there is one."""
        who, works = (dict.fromkeys(names) for names in zip(*self.told, strict=True))
        block = str(self.block) if self.block else ""
        return "/".join(filter(None, ("+".join(who), "+".join(works), self.pool, block)))


class PartResult(msgspec.Struct, frozen=True, kw_only=True):
    """Results of one part: evidence by claim and form, ledgers, records of variants by claim, and
    outcomes of the variants' proofs by claim and variant."""

    part: Part
    evidence: dict[str, Seen] = {}
    ledgers: tuple[LedgerRecord, ...] = ()
    variants: dict[str, tuple[VariantRecord, ...]] = {}
    refused: dict[str, dict[str, Refused]] = {}
    seconds: float = 0.0


def encode_result(result: PartResult) -> bytes:
    """As JSON, to travel between processes."""
    return msgspec.json.encode(result)


def decode_result(data: bytes | str) -> PartResult:
    """Decode a part's result from the JSON of `encode_result`."""
    return msgspec.json.decode(data, type=PartResult)


def parts_of(claims: Sequence[Claim], attacks: Sequence[str], budget: Budget) -> list[Part]:
    """All parts of a run. What a claim is shown in them does not depend on the other claims."""
    found = [
        Part(PROOF, (entry.id,), (entry.id,) if entry.false_variants else ()) for entry in claims
    ]
    met: dict[tuple[str, str, int], list[str]] = {}
    rides: dict[str, list[str]] = {}
    for entry in claims:
        for pool, group in pools_of(entry, budget).items():
            for attack in attacks:
                for block in range(blocks_of(attack, group, budget)):
                    met.setdefault((attack, pool.name, block), []).append(entry.id)
        for pool in variant_groups(entry, entry.false_variants, budget):
            rides.setdefault(pool.name, []).append(entry.id)
    for (attack, name, block), ids in met.items():
        if every()[attack].directed:
            found += [Part(attack, (id,), (), name) for id in ids]
        else:
            ride = rides.pop(name, []) if (attack, block) == (ridden(), 0) else []
            found.append(Part(attack, tuple(ids), tuple(ride), name, block))
    return found + [Part(ridden(), (), tuple(ids), name) for name, ids in rides.items()]


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


@roomy
@isolated()
def run_part(part: Part, *, profile_name: str, seed: int, device: str = "cpu") -> PartResult:
    """Do one part of a run."""
    start = perf_counter()
    budget = profile(profile_name)
    found: dict[str, Any] = {}
    if part.work == PROOF:
        entry = claim(part.told[0][0])
        if part.claims:
            found["ledgers"] = ledger_records(entry, budget.minimal)
        if part.false:
            found["refused"] = {
                entry.id: {one.id: refused(entry, one) for one in entry.false_variants}
            }
    else:
        found["evidence"], found["variants"] = attacked(part, budget, seed, device)
        for block in range(part.block + 1, part.block + part.blocks):
            more, _ = attacked(replace(part, block=block, false=()), budget, seed, device)
            for id, seen in more.items():
                added(found["evidence"][id], seen)
    return PartResult(part=part, seconds=perf_counter() - start, **found)


def attacked(
    part: Part, budget: Budget, seed: int, device: str
) -> tuple[dict[str, Seen], dict[str, tuple[VariantRecord, ...]]]:
    """Attack a part's forms; return evidence by claim and form, and records of its variants."""
    groups: dict[tuple[Pool, str], Group] = {}
    riding: dict[tuple[Pool, str], VariantGroup] = {}
    for id in part.claims:
        groups |= {(pool, id): group for pool, group in pools_of(claim(id), budget).items()}
    for id in part.false:
        entry = claim(id)
        riding |= {
            (pool, id): herd
            for pool, herd in variant_groups(entry, entry.false_variants, budget).items()
        }
    (pool,) = {pool for pool, _ in (*groups, *riding) if pool.name == part.pool}
    herd = {id: riding[pool, id] for id in part.false}
    seen = attack_forms(
        pool, part.work, [groups[pool, id] for id in part.claims],
        [one.rider(pool, budget) for one in herd.values()],
        budget=budget, seed=seed, block=part.block, device=device,
    )  # fmt: skip
    return seen, {
        id: one.driven(budget=budget, seed=seed, device=device) for id, one in herd.items()
    }


def ledger_records(entry: Claim, minimal: bool = True) -> tuple[LedgerRecord, ...]:
    """The proofs of a claim's forms, as run now."""
    require_sound()
    found = []
    for form, ledger in zip(entry.forms, prove(entry, minimal), strict=True):
        rests = unsettled().get(f"{entry.id}/{form.name}", {})
        found.append(judged(entry, form, ledger_record(form.name, ledger, form.proof, rests)))
    return tuple(found)


def judged(entry: Claim, form: Form, record: LedgerRecord) -> LedgerRecord:
    """The record of a form's ledger, with what the form rests on if it is proved, and whether a
    test has a system that meets all its assumptions."""
    met = f"{entry.id}/{form.name}" not in NO_MODEL
    if not record.proved:
        return replace(record, met=met)
    found = basis(form)
    return replace(record, basis=found.kind, presupposed=found.assumptions, met=met)


def _detail(step: StepResult, rests: str) -> str:
    if step.verdict == "failed":
        return f"{step.location}: {step.detail}"
    return "; ".join(filter(None, (step.detail, rests and f"rests on {rests}")))


def unused(entry: Claim) -> dict[str, tuple[str, ...]]:
    """The assumptions of each form that no step of its ledger uses, where there are some."""
    forms = zip(entry.forms, prove(entry), strict=True)
    return {form.name: ledger.unused for form, ledger in forms if ledger.unused}


def ledger_record(
    form: str, ledger: Ledger, proof: Proof | None = None, rests: Mapping[str, str] | None = None
) -> LedgerRecord:
    """One ledger as a record; a human step keeps it from being proved, and a failed one says where
    it is written. The steps are typeset if the proof is given. `rests` says of steps that the
    second checker does not settle what they rest on."""
    written = {step.id: step for step in (() if proof is None else proof.steps)}
    steps = tuple(
        LedgerStep(
            id=step.id, statement=step.statement, kind=step.kind, method=step.method,
            uses=step.uses, verdict=step.verdict, redundant=step.redundant,
            detail=_detail(step, (rests or {}).get(step.id, "")),
            quantifier=step.quantifier,
            mathml=statement_mathml(written[step.id].conclusion) if step.id in written else "",
            scope=quantifier(written[step.id]) if step.id in written and step.quantifier else "",
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
            Definition(
                name=name, text=law_text(REGISTRY[name]), typeset=typeset_law(REGISTRY[name])
            )
            for name in ledger.definitions
        ),
    )


def failures(result: PartResult) -> list[str]:
    """Why a part fails, one line each; empty if it passes. A part that judged nothing does not fail
    here: whether a claim was tested in earnest is the whole run's question."""
    found = []
    forms = [item for seen in result.evidence.values() for item in seen.items()]
    for form, evidence in forms:
        tally = evidence.tally
        if tally.violated or tally.undecided:
            found.append(f"{form}: {tally.violated} VIOLATED, {tally.undecided} UNDECIDED")
        found += [f"  {c.verdict}: {c.replay}" for c in evidence.failing]
    for ledger in result.ledgers:
        if not ledger.stands:
            failed = (step for step in ledger.steps if step.verdict == "failed")
            found += [f"{ledger.form}: not proved", *(f"  {s.id}: {s.detail}" for s in failed)]
    for variant in chain.from_iterable(result.variants.values()):
        if not variant.convicted:
            found.append(f"{variant.id}: survived {variant.systems} systems")
    for name, told in chain.from_iterable(of.items() for of in result.refused.values()):
        if not told.fails:
            found.append(f"{name}: the ledger proves it")
        elif not told.why:
            found.append(f"{name}: its ledger fails without a reason")
    return found
