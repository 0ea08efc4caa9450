"""A small fixed attack on a claim: a look at every cell of which its forms speak."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from math import isfinite

import torch
from msgspec.structs import replace

from impl.cells.activation import ACTIVATIONS
from properties.attacks.campaign import by_kind
from properties.attacks.extremal import extremal_specs
from properties.attacks.search import random_specs
from properties.judging.evidence import Evidence
from properties.judging.judge import judge
from properties.runs.matrix import matrix
from properties.runs.parts import Part, PartResult, decode_result, encode_result, ledger_records
from properties.runs.workers import each
from properties.systems.batch import build
from properties.systems.columns import CELL_OF, LAYERED, ONLY, cell_of
from properties.systems.drawing.draws import LEARNING
from properties.systems.kinds import FAMILIES
from properties.systems.spec import Kind, SystemSpec
from reports.records.matrix import Matrix
from theory import claim as claim_of
from theory.language.claim import Claim

EXAMPLES, EXTREMAL = 8, 4
SHARED = 3  # examples of each kind of a family
SEED = 0


def probed(claims: Sequence[Claim], workers: int, progress: Callable[[str], None]) -> Matrix:
    """The matrix of these claims, proved and probed now, here or in fresh processes; `progress`
    hears of each."""
    results = []
    if workers <= 1:
        for claim in claims:
            results.append(probe_part(claim.id))
            progress(claim.id)
    else:
        with closing(each(remote_probe, [(claim.id,) for claim in claims], workers)) as answers:
            for answer in answers:
                results.append(decode_result(answer))
                progress(results[-1].part.claim)
    evidence = {result.part.claim: result.evidence for result in results}
    return matrix(claims, evidence, {result.part.claim: result.ledgers for result in results})


def remote_probe(id: str) -> bytes:
    """One claim in another process, as bytes."""
    return encode_result(probe_part(id))


def probe_part(id: str) -> PartResult:
    """One claim, proved and probed."""
    torch.set_num_threads(1)
    claim = claim_of(id)
    ledgers = ledger_records(claim, minimal=False)
    return PartResult(part=Part(id, "probe"), evidence=probe(claim), ledgers=ledgers)


def probe(claim: Claim) -> dict[str, Evidence]:
    """The evidence of each form by its name, the same at every call."""
    evidence = {form.name: Evidence.of(claim, form) for form in claim.forms}
    for about, forms in by_kind(claim.forms):
        for spec in specs_about(about):
            batch = build(spec)
            for form in forms:
                evidence[form.name].add(batch, judge(form.statement, form.assumptions, batch))
    return evidence


def specs_about(about: Kind) -> Iterator[SystemSpec]:
    """A few systems of a kind, or of each kind of a family."""
    yield from few_extremal(about)
    for kind in FAMILIES.get(about, (about,)):
        yield from few_drawn(kind, about in FAMILIES)


def few_extremal(about: Kind) -> Iterator[SystemSpec]:
    """The first extremal systems of each cell."""
    seen: dict[str, int] = {}
    for spec in extremal_specs(about):
        cell = cell_of(spec)
        seen[cell] = seen.get(cell, 0) + 1
        if seen[cell] <= EXTREMAL:
            yield spec


def few_drawn(kind: Kind, family: bool) -> Iterator[SystemSpec]:
    """A few drawn systems of a kind, one at least of each activation."""
    drawn: list[SystemSpec] = []

    def visit(spec: SystemSpec) -> None:
        drawn.append(spec)

    examples = SHARED if family else EXAMPLES
    random_specs(kind, visit, examples=examples, batch=2, sequences=1, seed=SEED, family=family)
    yield from (activated(spec, spec.activation) for spec in drawn)
    if CELL_OF.get(kind, kind) is None and kind != "unstable":
        for i, name in enumerate(ONLY.get(kind, tuple(ACTIVATIONS))):
            yield activated(drawn[i % len(drawn)], name)
    if kind == LAYERED:
        for spec, name in zip(drawn, ("identity", "relu", "tanh"), strict=False):
            yield activated(replace(spec, layers=1), name)


def activated(spec: SystemSpec, name: str) -> SystemSpec:
    """The spec with another activation and the same factor λ; with a loss, away from the kinks of a
    kinked one, and for a linear system a loss that rationals know, since bounds are equalities."""
    old, new = ACTIVATIONS[spec.activation], ACTIVATIONS[name]
    if new != old:
        spec = replace(spec, activation=name, lam=spec.lam * old.slope / new.slope)
    if spec.kind in LEARNING and not isfinite(new.curvature):
        return replace(spec, bias=0.5)
    if spec.kind in LEARNING and name == "identity":
        return replace(spec, loss="squared")
    return spec
