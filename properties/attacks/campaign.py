"""One attack on one claim: specs in, evidence out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from itertools import groupby
from math import ceil

import numpy as np
import torch

from impl.numbers.torch_machine import require_sound
from properties.attacks.budget import EMPHASIS, Budget, apart, batch_size
from properties.attacks.extremal import extremal_specs
from properties.attacks.gradient import applicable, gradient_specs
from properties.attacks.search import Enough, random_specs
from properties.judging.evidence import Evidence
from properties.judging.judge import Judgement, Patience, free_names, judge
from properties.systems.batch import Batch, build
from properties.systems.spec import SystemSpec
from properties.systems.table import FAMILIES, KINDS, kind_named, kinds_about
from theory.language.claim import Assumption, Claim, Form, Statement

# Speaking of these, a statement is worth attacking where ‖W‖₂ itself certifies nothing.
WEIGHTED = {
    "lam_P",
    "kappa",
    "lam_D",
    "lam_v",
    "W_radius",
    "step_gap_P",
    "step_gap_D",
    "step_gap_v",
    "L_w_P",
    "L_w_v",
}
STEPWISE = {
    "step_gap", "step_gap_P", "step_gap_D", "step_gap_v",
    "dphi_w", "dphi_w_gap", "dphi_h_gap", "dp", "dp_gap",
}  # fmt: skip
# How much of the random budget all kinds of a family share.
SHARE = 0.25
Seen = Callable[[Batch, Sequence[Judgement]], None]
Target = tuple[Statement, tuple[Assumption, ...]]


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


def show(
    attack: str, kind: str, targets: Sequence[Target], seen: Seen,
    *, budget: Budget, size: tuple[int, int], seed: int, factor: float = 1.0, device: str = "cpu",
    patience: Patience | None = None,
) -> None:  # fmt: skip
    """Run one attack on statements about one kind of system; ``seen`` gets each judged batch."""
    torch.set_num_threads(1)
    require_sound(device)

    def visit(spec: SystemSpec) -> float | None:
        batch = build(spec, device)
        judged = [judge(*target, batch, patience) for target in targets]
        seen(batch, judged)
        ratios = np.concatenate([j.ratio.ravel() for j in judged])
        ratios = ratios[np.isfinite(ratios)]
        return float(ratios.max()) if ratios.size else None

    names = free_names(*(statement for statement, _ in targets))
    if attack in ("random", "targeted"):
        # The kinds of a family have a share each, under a seed of their own.
        members, family = kinds_about(kind), kind if kind in FAMILIES else None
        share = SHARE / len(members) if family else 1.0
        examples = factor * budget.random if attack == "random" else budget.targeted
        for place, member in enumerate(members):
            more = random_specs(
                member.name, visit, batch=size[0], sequences=size[1], seed=seed + place,
                target=attack == "targeted", examples=ceil(share * examples),
                wide=bool(WEIGHTED & names), stepwise=bool(STEPWISE & names),
                family=family, descends="w_gap" in names,
            )  # fmt: skip
            if not more:
                return
        return
    try:
        if patience is not None and attack == "extremal":  # typed: nothing is known of its worst
            for spec in kind_named(kind).corners():
                visit(spec)
        for spec in chosen_specs(attack, kind, targets, budget, seed):
            visit(spec)
    except Enough:
        return


def chosen_specs(
    attack: str, kind: str, targets: Sequence[Target], budget: Budget, seed: int
) -> Iterator[SystemSpec]:
    """What the attacks that need no drawing look at."""
    if attack == "extremal":
        names = free_names(*(statement for statement, _ in targets))
        for spec in extremal_specs(kind, rounding="h_rounding" in names):
            # The quadratic instance has weights, but no predictions; means are slow to read.
            silent = spec.kind == "quadratic" and "trained_gap" in names
            if not silent and ("grad_gap_mean" not in names or spec.T <= 64):
                yield spec
    elif kind in KINDS and (fits := KINDS[kind].fits) is not None:
        yield from fits(budget.gradient, budget.ascent, seed % 2**32)
    elif kind in KINDS:
        # Weighted norms are certified anew at every step of the ascent.
        slow = WEIGHTED | {"grad_gap_mean"}
        by_quantity = {statement.lhs: statement for statement, _ in reversed(targets)}
        for statement in reversed(by_quantity.values()):
            yield from gradient_specs(
                statement, KINDS[kind], count=budget.gradient, steps=budget.ascent,
                seed=seed % 2**32,
                slow=bool(slow & free_names(*(statement for statement, _ in targets))),
            )  # fmt: skip


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

        def seen(batch: Batch, judged: Sequence[Judgement], forms: list[Form] = forms) -> None:
            main = claim.forms[0]
            for form, judgement in zip(forms, judged, strict=True):
                evidence[form.name].add(batch, judgement)
                same = form.statement.lhs == main.statement.lhs
                if main in forms and form is not main and same:
                    evidence[form.name].compare(judgement, judged[forms.index(main)])
                if form is not forms[0] and comparable(form.statement, forms[0].statement):
                    evidence[form.name].compare(judgement, judged[0])

        slow = apart(forms[0])
        show(
            attack, kind, [(form.statement, form.assumptions) for form in forms], seen,
            budget=budget, size=batch_size(budget, forms), device=device,
            seed=derived_seed(seed, claim.id, attack, kind, *(["apart"] if slow else [])),
            factor=1 if slow or kind in FAMILIES else EMPHASIS.get(claim.id, 1),
        )  # fmt: skip
    return evidence


def not_applicable(claim: Claim, attack: str) -> str:
    """Why an attack has nothing to do for a claim; empty where it has."""
    if attack != "gradient":
        return ""
    reasons = {unclimbed(form) for form in claim.forms}
    return "" if "" in reasons else "; ".join(sorted(reasons))


def unclimbed(form: Form) -> str:
    """Why optimisation finds nothing for a form; empty where it may."""
    kind = KINDS.get(form.about)
    if kind is not None and kind.fits is not None:
        return ""
    if kind is not None and kind.exact is not None:
        return f"{form.about}: decided in exact rationals, there is nothing to ascend"
    climbed = "" if kind and kind.climb else f"a {form.about} has no gradient"
    return applicable(form.statement) or climbed
