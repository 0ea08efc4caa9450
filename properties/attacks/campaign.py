"""One attack on one claim: specs in, evidence out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from itertools import groupby
from math import ceil, inf

import numpy as np
import torch

from impl.certificate.torch_machine import require_sound
from properties.attacks.budget import Budget, apart, batch_size
from properties.attacks.extremal import extremal_specs
from properties.attacks.gradient import applicable, gradient_specs
from properties.attacks.search import Enough, random_specs
from properties.judging.evidence import Evidence
from properties.judging.judge import Judgement, Patience, free_names, judge
from properties.measures.readings.needs import Needs
from properties.measures.table import needs_of
from properties.systems.batch import Batch, build
from properties.systems.spec import SystemSpec
from properties.systems.table import FAMILIES, KINDS, kind_named, kinds_about
from theory.language.claim import Assumption, Claim, Form, Statement
from theory.language.vocabulary import VOCABULARY

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

    needs = asked(targets)
    if attack in ("random", "targeted"):
        # The kinds of a family have a share each, under a seed of their own.
        members, family = kinds_about(kind), kind if kind in FAMILIES else None
        share = SHARE / len(members) if family else 1.0
        examples = factor * budget.random if attack == "random" else budget.targeted
        for place, member in enumerate(members):
            more = random_specs(
                member.name, visit, batch=size[0], sequences=size[1], seed=seed + place,
                target=attack == "targeted", examples=ceil(share * examples),
                wide=any(one.wide for one in needs),
                stepwise=any(of_single_steps(statement) for statement, _ in targets),
                family=family, descends=any(one.trained for one in needs),
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
    needs = asked(targets)
    if attack == "extremal":
        longest = min((one.longest for one in needs if one.longest), default=inf)
        predicts = any(one.predicts for one in needs)
        for spec in extremal_specs(kind, rounding=any(one.rounding for one in needs)):
            if longest >= spec.T and not (predicts and spec.kind == "quadratic"):
                yield spec
    elif kind in KINDS and (fits := KINDS[kind].fits) is not None:
        yield from fits(budget.gradient, budget.ascent, seed % 2**32)
    elif kind in KINDS:
        by_quantity = {statement.lhs: statement for statement, _ in reversed(targets)}
        for statement in reversed(by_quantity.values()):
            yield from gradient_specs(
                statement, KINDS[kind], count=budget.gradient, steps=budget.ascent,
                seed=seed % 2**32,
                slow=any(one.slow for one in needs),
            )  # fmt: skip


def asked(targets: Sequence[Target]) -> tuple[Needs, ...]:
    """What the quantities of these statements ask."""
    return needs_of(free_names(*(statement for statement, _ in targets)))


def of_single_steps(statement: Statement) -> bool:
    """Whether all that is measured is of single steps, and of no run."""
    spoken = (VOCABULARY[name] for name in free_names(statement))
    measured = [quantity for quantity in spoken if quantity.role == "measured"]
    return bool(measured) and all(quantity.of_single_steps for quantity in measured)


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
            factor=1 if slow or kind in FAMILIES else claim.emphasis,
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
