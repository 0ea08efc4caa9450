"""A run in parts: the proof of a claim, and the blocks of an attack in a pool of claims.

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
from rnnbounds.properties.attacks.budget import Budget, profile
from rnnbounds.properties.attacks.campaign import (
    FormEvidence,
    attack_block_count,
    attack_forms,
)
from rnnbounds.properties.attacks.pool import FormGroup, Pool, claim_pools
from rnnbounds.properties.attacks.registry import check_registry
from rnnbounds.properties.attacks.sabotage import (
    ProofOutcome,
    VariantGroup,
    shared_attack,
    try_proof,
    variant_groups,
)
from rnnbounds.properties.attacks.table import attacks as every
from rnnbounds.properties.frames import with_large_frame
from rnnbounds.properties.guarantees import GROUPS, attack_group
from rnnbounds.properties.runs.ledgers import ledger_records, named_claims
from rnnbounds.reports.records.record import Guarantee, LedgerRecord, VariantRecord
from rnnbounds.theory import CLAIMS, claim
from rnnbounds.theory.proof.claim import Claim

PROOF, SABOTAGE, GUARANTEED = "proof", "sabotage", "guarantees"


class Part(msgspec.Struct, frozen=True, order=True):
    """One piece of work: the proof of a claim, a block of an attack in a pool, or the attack on the
    guarantees of certificates by the models of a group, which is then the pool.

    claims: those proved, or whose forms are attacked. variant_claims: those whose false variants
    ride, or are put to the proofs of their forms.
    """

    work: str
    claims: tuple[str, ...] = ()
    variant_claims: tuple[str, ...] = ()
    pool: str = ""
    block: int = 0

    @property
    def claim_works(self) -> tuple[tuple[str, str], ...]:
        """(claim, work) of all that it tells something of; a record names parts by these."""
        if self.work == GUARANTEED:
            return ((GUARANTEED, self.pool),)
        claim_pairs = tuple((claim, self.work) for claim in self.claims)
        return claim_pairs + tuple((claim, SABOTAGE) for claim in self.variant_claims)

    @property
    def name(self) -> str:
        """CLAIM+CLAIM/WORK+WORK, with the pool and the block where there is one."""
        who, works = (dict.fromkeys(names) for names in zip(*self.claim_works, strict=True))
        block = str(self.block) if self.block else ""
        pool = "" if self.work == GUARANTEED else self.pool
        return "/".join(filter(None, ("+".join(who), "+".join(works), pool, block)))


class PartResult(msgspec.Struct, frozen=True, kw_only=True):
    """Results of one part: evidence by claim and form, ledgers, records of variants by claim,
    outcomes of the variants' proofs by claim and variant, and guarantees."""

    part: Part
    evidence: dict[str, FormEvidence] = {}
    ledgers: tuple[LedgerRecord, ...] = ()
    variants: dict[str, tuple[VariantRecord, ...]] = {}
    refused: dict[str, dict[str, ProofOutcome]] = {}
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
    parts = [
        Part(PROOF, (each_claim.id,), (each_claim.id,) if each_claim.false_variants else ())
        for each_claim in claims
    ]
    claims_by_block: dict[tuple[str, str, int], list[str]] = {}
    variants_by_pool: dict[str, list[str]] = {}
    for each_claim in claims:
        for pool, group in claim_pools(each_claim, budget).items():
            for attack in attacks:
                for block in range(attack_block_count(attack, group, budget)):
                    claims_by_block.setdefault((attack, pool.name, block), []).append(each_claim.id)
        for pool in variant_groups(each_claim, each_claim.false_variants, budget):
            variants_by_pool.setdefault(pool.name, []).append(each_claim.id)
    for (attack, name, block), ids in claims_by_block.items():
        if every()[attack].directed:
            parts += [Part(attack, (id,), (), name) for id in ids]
        else:
            variants = (
                variants_by_pool.pop(name, []) if (attack, block) == (shared_attack(), 0) else []
            )
            parts.append(Part(attack, tuple(ids), tuple(variants), name, block))
    parts += guarantee_parts(claims)
    return parts + [
        Part(shared_attack(), (), tuple(ids), name) for name, ids in variants_by_pool.items()
    ]


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
        entry = claim(part.claim_works[0][0])
        if part.claims:
            results["ledgers"] = ledger_records(entry)
        if part.variant_claims:
            results["refused"] = {
                entry.id: {
                    variant.id: try_proof(entry, variant) for variant in entry.false_variants
                }
            }
    elif part.work == GUARANTEED:
        results["guarantees"] = attack_group(part.pool, max(1, budget.random // 56), seed)
    else:
        results["evidence"], results["variants"] = attack_part(part, budget, seed, device)
    return PartResult(part=part, seconds=perf_counter() - start, **results)


def attack_part(
    part: Part, budget: Budget, seed: int, device: str
) -> tuple[dict[str, FormEvidence], dict[str, tuple[VariantRecord, ...]]]:
    """Attack a part's forms; return evidence by claim and form, and records of its variants."""
    groups: dict[tuple[Pool, str], FormGroup] = {}
    riders: dict[tuple[Pool, str], VariantGroup] = {}
    for id in part.claims:
        groups |= {(pool, id): group for pool, group in claim_pools(claim(id), budget).items()}
    for id in part.variant_claims:
        entry = claim(id)
        riders |= {
            (pool, id): part_variants
            for pool, part_variants in variant_groups(entry, entry.false_variants, budget).items()
        }
    (pool,) = {pool for pool, _ in (*groups, *riders) if pool.name == part.pool}
    part_variants = {id: riders[pool, id] for id in part.variant_claims}
    evidence = attack_forms(
        pool, part.work, [groups[pool, id] for id in part.claims],
        [variants.observer(pool, budget) for variants in part_variants.values()],
        budget=budget, seed=seed, block=part.block, device=device,
    )  # fmt: skip
    return evidence, {
        id: variants.attack_remaining(budget=budget, seed=seed, device=device)
        for id, variants in part_variants.items()
    }


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
    for name, outcome in chain.from_iterable(
        outcomes.items() for outcomes in result.refused.values()
    ):
        if not outcome.fails:
            lines.append(f"{name}: the ledger proves it")
        elif not outcome.why:
            lines.append(f"{name}: its ledger fails without a reason")
    return lines
