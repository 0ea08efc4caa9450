"""Gradient search: ascent on lhs/rhs through the model, inside the contractive set.

The search may round as it likes: what it finds is written out as explicit specs, and the judge
decides about those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, reduce
from math import inf

import sympy
import torch
from msgspec.structs import replace
from torch.optim.adam import adam

from rnnbounds.properties.attacks.attack import Attack, Case, Visit
from rnnbounds.properties.judging.judge import quantity_names
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.systems.batch import Batch, explicit_spec
from rnnbounds.properties.systems.exact.networks import is_vanilla
from rnnbounds.properties.systems.kind import Kind
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.table import KINDS
from rnnbounds.properties.systems.vanilla.ascent import Ascent
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.proof.claim import Form, Statement

Tensor = torch.Tensor


def with_tensor_arguments(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The function for arguments that may be plain numbers."""
    return lambda *terms: function(*(torch.as_tensor(term, dtype=torch.float64) for term in terms))


TORCH_FUNCTIONS = {
    "sqrt": with_tensor_arguments(torch.sqrt),
    "log": with_tensor_arguments(torch.log),
    "exp": with_tensor_arguments(torch.exp),
    "Abs": with_tensor_arguments(torch.abs),
    "Max": lambda *terms: reduce(with_tensor_arguments(torch.maximum), terms),
    "Min": lambda *terms: reduce(with_tensor_arguments(torch.minimum), terms),
}
LEARNING_RATE = 0.05
NO_GAIN = -1e3  # the gain of a member that nothing leads on


def ascent_obstacle(statement: Statement) -> str:
    """Why ascent cannot run on a statement; empty where it can."""
    for name in sorted(quantity_names(statement)):
        if VOCABULARY[name].role == "measured" and MEASURES[name].value is None:
            return f"{name} has no differentiable reading"
    return ""


@cache
def compile_sides(
    statement: Statement, names: tuple[str, ...]
) -> tuple[Callable[..., Tensor], ...]:
    """Both sides as functions of tensors, derived from the statement."""
    symbols = [VOCABULARY[name].symbol for name in names]
    return tuple(
        sympy.lambdify(symbols, side, modules=[TORCH_FUNCTIONS])
        for side in (statement.lhs, statement.rhs)
    )


def log_ratio(statement: Statement, ascent: Ascent) -> Tensor:
    """log(lhs/rhs) of every member at its best window, (B,): what is certified is a number there,
    without a slope."""
    batch = ascent.batch()
    with torch.no_grad():
        certified = ascent.batch()
    values: dict[str, Tensor] = {}
    for name in sorted(quantity_names(statement)):
        role = VOCABULARY[name].role
        if role == "measured":
            value = MEASURES[name].value
            assert value is not None
            values[name] = value(batch)
        else:
            is_parameter = role == "parameter"
            known = batch.parameters[name] if is_parameter else certified.constant(name).hi
            values[name] = torch.from_numpy(known).to(batch.x)
    lhs, rhs = (
        torch.as_tensor(side(*values.values())) for side in compile_sides(statement, tuple(values))
    )
    tiny = 1e-280
    gain = torch.log(lhs.clamp(min=tiny)) - torch.log(rhs.clamp(min=tiny))
    gain = torch.where(torch.isfinite(gain) & (rhs > tiny), gain, NO_GAIN)
    return gain.expand(batch.cell.batch, -1, -1).flatten(1).amax(dim=1)


def ascend(statement: Statement, spec: SystemSpec, steps: int) -> list[SystemSpec]:
    """Explicit specs of the highest systems that ``steps`` steps of Adam meet, one a member."""
    ascent = Ascent.start(spec)
    parameters = list(ascent.parameters.values())
    best_points = [parameter.detach().clone() for parameter in parameters]
    means, squares = ([torch.zeros_like(point) for point in best_points] for _ in range(2))
    counts = [torch.tensor(0.0) for _ in parameters]
    best_gains = torch.full((spec.batch,), -inf, dtype=torch.float64)
    for _ in range(steps):
        gain = log_ratio(statement, ascent)
        if not gain.requires_grad or (gain == NO_GAIN).all():
            break
        if (improved := gain.detach() > best_gains).any():
            best_gains = torch.where(improved, gain.detach(), best_gains)
            for best, parameter in zip(best_points, parameters, strict=True):
                best[improved] = parameter.detach()[improved]
        slopes = torch.autograd.grad(
            -gain.sum(), parameters, allow_unused=True, materialize_grads=True
        )
        known = [slope.nan_to_num(0.0, 0.0, 0.0) for slope in slopes]  # NaN counts as no slope
        with torch.no_grad():  # as torch.optim.Adam, which imports torch's compiler: two seconds
            adam(
                parameters, known, means, squares, [], counts, lr=LEARNING_RATE, amsgrad=False,
                beta1=0.9, beta2=0.999, weight_decay=0.0, eps=1e-8, maximize=False,
            )  # fmt: skip
    with torch.no_grad():
        for best, parameter in zip(best_points, parameters, strict=True):
            parameter.copy_(best)
        final_batch = ascent.batch()
        return [explicit_spec(member_batch(final_batch, i)) for i in range(spec.batch)]


def member_batch(batch: Batch, member: int) -> Batch:
    """One member of a batch, as a batch."""
    at, y = slice(member, member + 1), batch.y
    spec = replace(batch.spec, inputs="gaussian")
    if is_vanilla(batch):
        spec = replace(spec, regime="orthogonal")
    y = None if y is None else y[at]
    return Batch(spec, batch.systems.member(member), batch.C[at], batch.x[at], y)


def gradient_specs(
    statement: Statement, kind: Kind, *, count: int, steps: int, seed: int, slow: bool = False
) -> Iterator[SystemSpec]:
    """The systems that ascent on one statement finds; ``slow`` where a step takes long."""
    if kind.starts is None or ascent_obstacle(statement):
        return
    slowness = max(kind.slowness, 5 if slow else 1)
    for spec in kind.starts(count, seed):
        yield from ascend(statement, spec, steps // slowness)


def visit_ascents(case: Case, visit: Visit) -> None:
    """Ascent on one statement of each quantity."""
    kind, budget, seed = KINDS.get(case.kind), case.budget, case.seed % 2**32
    if kind is None:
        return
    by_quantity = {statement.lhs: statement for statement in reversed(case.statements)}
    for statement in reversed(by_quantity.values()):
        for spec in gradient_specs(
            statement, kind, count=budget.gradient, steps=budget.ascent, seed=seed,
            slow=any(need.slow for need in case.needs),
        ):  # fmt: skip
            visit(spec)


def idle_reason(form: Form) -> str:
    """Why optimisation finds nothing for a form; empty where it may."""
    kind = KINDS.get(form.about)
    if kind is not None and kind.family == "exact":
        return f"{form.about}: decided in exact rationals, there is nothing to ascend"
    no_gradient = "" if kind and kind.starts else f"a {form.about} has no gradient"
    return ascent_obstacle(form.statement) or no_gradient


ATTACKS = (Attack("gradient", visit_ascents, idle_reason=idle_reason, directed=True),)
