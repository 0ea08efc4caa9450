"""A run in parts: the proof of a claim, its sabotage, and blocks of an attack in a pool of claims.

Parts share nothing, so they run in any order and in any process; merging them gives the same
record.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from time import perf_counter
from typing import Any

import msgspec

from rnnbounds import theory
from rnnbounds.impl.models.surroundings import isolated
from rnnbounds.properties.attacks.attack import attacks as every
from rnnbounds.properties.attacks.budget import Budget, profile
from rnnbounds.properties.attacks.campaign import (
    FormEvidence,
    attack_block_count,
    attack_forms,
    claim_pools,
)
from rnnbounds.properties.attacks.registry import check_registry
from rnnbounds.properties.attacks.sabotage import attack_variants
from rnnbounds.properties.frames import with_large_frame
from rnnbounds.properties.guarantees import GROUPS, attack_group
from rnnbounds.properties.runs.ledgers import ledger_records, named_claims
from rnnbounds.reports.records.checks import Tally
from rnnbounds.reports.records.record import Guarantee, LedgerRecord, VariantRecord
from rnnbounds.theory import CLAIMS, claim
from rnnbounds.theory.proof.claim import Claim

PROOF, SABOTAGE, GUARANTEED = "proof", "sabotage", "guarantees"


class Part(msgspec.Struct, frozen=True, order=True):
    """One piece of work: the proof of a claim, the attack on its false variants, a block of an
    attack in a pool, or the attack on the guarantees of certificates by the models of a group,
    which is then the pool.

    claims: those proved, or whose forms or variants are attacked.
    """

    work: str
    claims: tuple[str, ...] = ()
    pool: str = ""
    block: int = 0

    @property
    def claim_works(self) -> tuple[tuple[str, str], ...]:
        """(claim, work) of all that it tells something of; a record names parts by these."""
        if self.work == GUARANTEED:
            return ((GUARANTEED, self.pool),)
        return tuple((claim, self.work) for claim in self.claims)

    @property
    def name(self) -> str:
        """CLAIM+CLAIM/WORK, with the pool and the block where there is one."""
        block = str(self.block) if self.block else ""
        claims = "+".join(self.claims)
        return "/".join(filter(None, (claims, self.work, self.pool, block)))


class PartResult(msgspec.Struct, frozen=True, kw_only=True):
    """Results of one part: evidence by claim and form, ledgers, records of variants by claim,
    and guarantees."""

    part: Part
    evidence: dict[str, FormEvidence] = {}
    ledgers: tuple[LedgerRecord, ...] = ()
    variants: dict[str, tuple[VariantRecord, ...]] = {}
    guarantees: tuple[Guarantee, ...] = ()
    seconds: float = 0.0


def encode_result(result: PartResult) -> bytes:
    """Encode a part's result as JSON, to travel between processes."""
    return msgspec.json.encode(result)


def decode_result(data: bytes | str) -> PartResult:
    """Decode a part's result from the JSON of `encode_result`."""
    return msgspec.json.decode(data, type=PartResult)


def plan_parts(claims: Sequence[Claim], attacks: Sequence[str], budget: Budget) -> list[Part]:
    """All parts of a run, of all claims the guarantees too. What a claim is shown in them does not
    depend on the other claims."""
    parts = [Part(PROOF, (each_claim.id,)) for each_claim in claims]
    parts += [Part(SABOTAGE, (entry.id,)) for entry in claims if entry.false_variants]
    claims_by_block: dict[tuple[str, str, int], list[str]] = {}
    for each_claim in claims:
        for pool, group in claim_pools(each_claim, budget).items():
            for attack in attacks:
                for block in range(attack_block_count(attack, group, budget)):
                    claims_by_block.setdefault((attack, pool.name, block), []).append(each_claim.id)
    for (attack, name, block), ids in claims_by_block.items():
        if every()[attack].directed:
            parts += [Part(attack, (id,), name) for id in ids]
        else:
            parts.append(Part(attack, tuple(ids), name, block))
    return parts + guarantee_parts(claims)


def guarantee_parts(claims: Sequence[Claim]) -> list[Part]:
    """The attack on the guarantees of certificates, in a run of all claims."""
    return [Part(GUARANTEED, pool=group) for group in GROUPS if len(claims) == len(theory.CLAIMS)]


def chosen_claims(ids: Iterable[str]) -> list[Claim]:
    """The claims of these ids in reading order; all of them for no ids.

    Raises:
        UnknownClaimError: one of them is unknown.
        InputError: a fault in the table, or in what one of them speaks of.
    """
    chosen = named_claims(ids) or list(CLAIMS)
    check_registry(CLAIMS, chosen)
    return chosen


@with_large_frame
@isolated()
def run_part(part: Part, *, profile_name: str, seed: int, device: str = "cpu") -> PartResult:
    """Do one part of a run."""
    start = perf_counter()
    budget = profile(profile_name)
    results: dict[str, Any] = {}
    if part.work == PROOF:
        results["ledgers"] = ledger_records(claim(part.claims[0]))
    elif part.work == SABOTAGE:
        entry = claim(part.claims[0])
        records = attack_variants(entry, budget=budget, seed=seed, device=device)
        results["variants"] = {entry.id: records}
    elif part.work == GUARANTEED:
        results["guarantees"] = attack_group(part.pool, budget.models, seed)
    else:
        groups = {
            (pool.name, id): (pool, group)
            for id in part.claims
            for pool, group in claim_pools(claim(id), budget).items()
        }
        pools, chosen = zip(*(groups[part.pool, id] for id in part.claims), strict=True)
        results["evidence"] = attack_forms(
            pools[0], part.work, chosen, budget=budget, seed=seed, block=part.block, device=device
        )
    return PartResult(part=part, seconds=perf_counter() - start, **results)


def failures(result: PartResult) -> list[str]:
    """Why a part fails, one line each; empty if it passes. A part that judged nothing does not fail
    here: whether a claim was tested in earnest is the whole run's question."""
    lines = []
    forms = [entry for seen in result.evidence.values() for entry in seen.items()]
    for form, evidence in forms:
        tally = evidence.tally
        if tally.violated or tally.undecided:
            lines.append(f"{form}: {tally.violated} VIOLATED, {tally.undecided} UNDECIDED")
        lines += [f"  {c.verdict}: {c.replay}" for c in evidence.failing]
    lines += [f"{g.name}: {line}" for g in result.guarantees for line in g.failing]
    for ledger in result.ledgers:
        if not ledger.proved:
            failed = (step for step in ledger.steps if step.verdict == "failed")
            lines += [f"{ledger.form}: not proved", *(f"  {s.id}: {s.detail}" for s in failed)]
    for variant in chain.from_iterable(result.variants.values()):
        if not variant.convicted:
            lines.append(f"{variant.id}: survived {variant.systems} systems")
        if not variant.ledger_fails:
            lines.append(f"{variant.id}: the ledger proves it")
        elif not variant.why:
            lines.append(f"{variant.id}: its ledger fails without a reason")
    return lines


def summarize_result(result: PartResult) -> list[tuple[str, object]]:
    """(name, number): checks by verdict and pairs of an attack, steps of a proof, variants."""
    numbers: list[tuple[str, object]] = [("seconds", round(result.seconds, 3))]
    evidence = [one for seen in result.evidence.values() for one in seen.values()]
    if evidence:
        together = Tally()
        for one in evidence:
            together = together.merge(one.tally)
        names = ("holds", "violated", "undecided", "vacuous")
        numbers += [(name, getattr(together, name)) for name in names]
        numbers.append(("pairs", sum(one.pairs for one in evidence)))
    if result.ledgers:
        steps = [step for ledger in result.ledgers for step in ledger.steps]
        numbers += [
            ("steps", len(steps)),
            ("failed steps", sum(s.verdict == "failed" for s in steps)),
        ]
    if variants := [variant for records in result.variants.values() for variant in records]:
        convicted = sum(variant.convicted for variant in variants)
        numbers += [("false variants", len(variants)), ("convicted", convicted)]
    return numbers
