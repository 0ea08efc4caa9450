"""One attack on one claim: specs in, evidence out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from itertools import groupby

import numpy as np
import torch

from impl.models.torch_machine import require_sound
from properties.attacks.attack import Case, Enough
from properties.attacks.budget import Budget, apart, batch_size
from properties.attacks.table import attacks
from properties.judging.agreement import require_agreement
from properties.judging.evidence import Evidence
from properties.judging.judge import Judgement, judge
from properties.systems.batch import Batch, build
from properties.systems.spec import SystemSpec
from properties.systems.table import FAMILIES, parse_spec
from theory.proof.claim import Claim, Form, Statement

Judge = Callable[[Batch], Sequence[Judgement]]
KEPT = 256  # batches, of one system each


def derived_seed(seed: int, *names: str) -> int:
    """A seed of its own for every part of a run, the same in every process."""
    text = "/".join((str(seed), *names))
    return int.from_bytes(sha256(text.encode()).digest()[:6], "big")


def by_kind(forms: Sequence[Form]) -> Iterator[tuple[str, list[Form]]]:
    """The forms of a claim by the kind of system that they speak of, costly ones apart."""

    def key(form: Form) -> tuple[str, bool]:
        return form.about, apart(form)

    for (kind, _), group in groupby(sorted(forms, key=key), key=key):
        yield kind, list(group)


def show(attack: str, case: Case, judged: Judge, device: str = "cpu") -> None:
    """Run one attack; ``judged`` judges each batch that it comes to."""
    torch.set_num_threads(1)
    require_sound(device)
    chosen = attacks()[attack]
    built = build if chosen.seeded else kept

    def visit(spec: SystemSpec) -> float | None:
        ratios = np.concatenate([j.ratio.ravel() for j in judged(built(spec, device))])
        ratios = ratios[np.isfinite(ratios)]
        return float(ratios.max()) if ratios.size else None

    with suppress(Enough):
        chosen.search(case, visit)


def kept(spec: SystemSpec, device: str = "cpu") -> Batch:
    """The batch of a spec that many claims and their variants meet, with all that was measured of
    it so far."""
    return _kept(spec.text, device)


@lru_cache(maxsize=KEPT)
def _kept(text: str, device: str) -> Batch:
    return build(parse_spec(text), device)


def comparable(one: Statement, other: Statement) -> bool:
    """Whether the right sides of two statements bound the same quantity, neither by a target."""
    bounds = all(not side.is_Symbol for side in (one.rhs, other.rhs))
    return bounds and one.relation == other.relation == "<=" and one.lhs == other.lhs


def attack_claim(
    claim: Claim, attack: str, *, budget: Budget, seed: int, device: str = "cpu"
) -> dict[str, Evidence]:
    """Attack every form of a claim; the evidence by the form's name."""
    evidence = {form.name: Evidence.of(claim, form) for form in claim.forms}
    for kind, forms in by_kind(claim.forms):

        def judged(batch: Batch, forms: list[Form] = forms) -> list[Judgement]:
            main = claim.forms[0]
            found = [judge(form.statement, form.assumptions, batch) for form in forms]
            for form, judgement in zip(forms, found, strict=True):
                require_agreement(form.statement, batch, judgement)
                evidence[form.name].add(batch, judgement)
                same = form.statement.lhs == main.statement.lhs
                if main in forms and form is not main and same:
                    evidence[form.name].compare(judgement, found[forms.index(main)])
                if form is not forms[0] and comparable(form.statement, forms[0].statement):
                    evidence[form.name].compare(judgement, found[0])
            return found

        slow = apart(forms[0])
        case = Case(
            kind, [form.statement for form in forms], budget, batch_size(budget, forms),
            seed=derived_seed(seed, claim.id, attack, kind, *(["apart"] if slow else [])),
            factor=1 if slow or kind in FAMILIES else claim.emphasis,
        )  # fmt: skip
        show(attack, case, judged, device)
    return evidence


def not_applicable(claim: Claim, attack: str) -> str:
    """Why an attack has nothing to do for a claim; empty where it has."""
    reasons = {attacks()[attack].idle(form) for form in claim.forms}
    return "" if "" in reasons else "; ".join(sorted(reasons))
