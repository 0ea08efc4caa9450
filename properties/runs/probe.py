"""A small fixed attack on a claim: a look at every cell of which its forms speak."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from math import isfinite

import torch
from msgspec.structs import replace

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.properties.attacks.campaign import empty_evidence
from rnnbounds.properties.attacks.extremal import extremal_specs
from rnnbounds.properties.attacks.pool import group_by_kind
from rnnbounds.properties.attacks.search import visit_random_specs
from rnnbounds.properties.judging.evidence import Evidence
from rnnbounds.properties.judging.judge import judge
from rnnbounds.properties.runs.executors.pool import local_executor
from rnnbounds.properties.runs.matrix import build_matrix
from rnnbounds.properties.runs.parts import (
    Part,
    PartResult,
    decode_result,
    encode_result,
    ledger_records,
)
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.columns import cell_name
from rnnbounds.properties.systems.kind import Kind, kind_of_spec
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.table import FAMILIES, kinds_about
from rnnbounds.reports.records.ledger import LedgerRecord
from rnnbounds.reports.records.matrix import Matrix
from rnnbounds.theory import claim as claim_of
from rnnbounds.theory.proof.claim import Claim

EXAMPLES, EXTREMAL = 8, 4
FAMILY_EXAMPLES = 3  # examples of each kind of a family
SEED = 0


def probe_matrix(claims: Sequence[Claim], workers: int, progress: Callable[[str], None]) -> Matrix:
    """The matrix of these claims, proved and probed now by so many processes; `progress` is called
    with each claim."""
    results = []
    with (
        local_executor(min(workers, len(claims))) as executor,
        closing(executor.map_calls(remote_probe, [(claim.id,) for claim in claims])) as answers,
    ):
        for answer in answers:
            results.append(decode_result(answer))
            progress(*results[-1].part.claims)
    evidence: dict[str, dict[str, Evidence]] = {}
    ledgers: dict[str, tuple[LedgerRecord, ...]] = {}
    for result in results:
        evidence |= result.evidence
        ledgers |= dict.fromkeys(result.part.claims, result.ledgers)
    return build_matrix(claims, evidence, ledgers)


def remote_probe(id: str) -> bytes:
    """Run `probe_part` and encode its result as bytes, which travel between processes."""
    return encode_result(probe_part(id))


def probe_part(id: str) -> PartResult:
    """One claim, proved and probed."""
    torch.set_num_threads(1)
    claim = claim_of(id)
    ledgers = ledger_records(claim)
    return PartResult(part=Part("probe", (id,)), evidence={id: probe(claim)}, ledgers=ledgers)


def probe(claim: Claim) -> dict[str, Evidence]:
    """The evidence of each form by its name, the same at every call."""
    evidence = empty_evidence(claim, claim.forms)
    for name, forms in group_by_kind(claim.forms):
        for spec in probe_specs(name):
            batch = build_batch(spec)
            for form in forms:
                evidence[form.name].add_batch(batch, judge(form.statement, form.assumptions, batch))
    return evidence


def probe_specs(name: str) -> Iterator[SystemSpec]:
    """A few systems of a kind, or of each kind of a family."""
    yield from extremal_probes(name)
    for kind in kinds_about(name):
        yield from random_probes(kind, name if name in FAMILIES else None)


def extremal_probes(name: str) -> Iterator[SystemSpec]:
    """The first extremal systems of each cell."""
    count_by_cell: dict[str, int] = {}
    for spec in extremal_specs(name):
        cell = cell_name(spec)
        count_by_cell[cell] = count_by_cell.get(cell, 0) + 1
        if count_by_cell[cell] <= EXTREMAL:
            yield spec


def random_probes(kind: Kind, family: str | None) -> Iterator[SystemSpec]:
    """A few drawn systems of a kind, one at least of each cell that it looks at."""
    specs: list[SystemSpec] = []
    visit_random_specs(
        kind.name, specs.append, examples=FAMILY_EXAMPLES if family else EXAMPLES, batch=2,
        sequences=1,
        seed=SEED, family=family,
    )  # fmt: skip
    yield from (with_activation(spec, spec.activation) for spec in specs)
    for i, fields in enumerate(kind.cell.field_changes):
        other_fields = {name: value for name, value in fields.items() if name != "activation"}
        spec = replace(specs[i % len(specs)], **other_fields)
        yield with_activation(spec, fields.get("activation", spec.activation))


def with_activation(spec: SystemSpec, name: str) -> SystemSpec:
    """The spec with another activation and the same factor λ; with a loss, away from the kinks of a
    kinked one, and for a linear system a loss that rationals know, since bounds are equalities."""
    old, new = ACTIVATIONS[spec.activation], ACTIVATIONS[name]
    if new != old:
        lam = {"lam": spec.lam * old.slope / new.slope} if spec.has("lam") else {}
        spec = replace(spec, activation=name, **lam)
    if kind_of_spec(spec).route.learning and not isfinite(new.curvature):
        return replace(spec, bias=0.5)
    if kind_of_spec(spec).route.learning and name == "identity":
        return replace(spec, loss="squared")
    return spec
