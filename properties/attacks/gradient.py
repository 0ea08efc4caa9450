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

from rnnbounds.properties.adam import Adam
from rnnbounds.properties.attacks.attack import Attack, Case, Visit
from rnnbounds.properties.attacks.estimates import estimates
from rnnbounds.properties.judging.judge import free_names
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.systems.batch import Batch, explicit
from rnnbounds.properties.systems.kind import Climb, Fits, Kind, about
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.table import KINDS
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.proof.claim import Form, Statement

Tensor = torch.Tensor


def on_tensors(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The function for arguments that may be plain numbers."""
    return lambda *terms: function(*(torch.as_tensor(term, dtype=torch.float64) for term in terms))


TORCH = {
    "sqrt": on_tensors(torch.sqrt),
    "log": on_tensors(torch.log),
    "exp": on_tensors(torch.exp),
    "Abs": on_tensors(torch.abs),
    "Max": lambda *terms: reduce(on_tensors(torch.maximum), terms),
    "Min": lambda *terms: reduce(on_tensors(torch.minimum), terms),
}
LEARNING_RATE = 0.05
NOWHERE = -1e3  # the gain of a member that nothing leads on


def applicable(statement: Statement) -> str:
    """Why ascent cannot run on a statement; empty where it can."""
    for name in sorted(free_names(statement)):
        if VOCABULARY[name].role == "measured" and MEASURES[name].value is None:
            return f"{name} has no differentiable reading"
    return ""


@cache
def compiled(statement: Statement, names: tuple[str, ...]) -> tuple[Callable[..., Tensor], ...]:
    """Both sides as functions of tensors, derived from the statement."""
    symbols = [VOCABULARY[name].symbol for name in names]
    return tuple(
        sympy.lambdify(symbols, side, modules=[TORCH]) for side in (statement.lhs, statement.rhs)
    )


def objective(statement: Statement, batch: Batch) -> Tensor:
    """log(lhs/rhs) of every member at its best window, (B,)."""
    guesses = estimates(batch)
    env: dict[str, Tensor] = {}
    for name in sorted(free_names(statement)):
        role = VOCABULARY[name].role
        if role == "parameter":
            env[name] = torch.from_numpy(batch.parameters[name]).to(batch.x)
        elif role == "measured":
            value = MEASURES[name].value
            assert value is not None
            env[name] = value(batch)
        else:
            known = torch.from_numpy(batch.constant(name).hi) if name not in guesses else None
            env[name] = guesses[name]().reshape(-1, 1, 1) if known is None else known.to(batch.x)
    lhs, rhs = (torch.as_tensor(side(*env.values())) for side in compiled(statement, tuple(env)))
    tiny = 1e-280
    gain = torch.log(lhs.clamp(min=tiny)) - torch.log(rhs.clamp(min=tiny))
    gain = torch.where(torch.isfinite(gain) & (rhs > tiny), gain, NOWHERE)
    return gain.expand(batch.cell.batch, -1, -1).flatten(1).amax(dim=1)


def climb(statement: Statement, spec: SystemSpec, steps: int) -> list[SystemSpec]:
    """Explicit specs of the highest systems that ``steps`` steps of Adam meet, one a member."""
    climbed = about(spec).search
    assert isinstance(climbed, Climb)
    ascent = climbed.ascent(spec)
    free = list(ascent.parameters.values())
    optimiser, there = Adam(free), [part.detach().clone() for part in free]
    highest = torch.full((spec.batch,), -inf, dtype=torch.float64)
    for _ in range(steps):
        gain = objective(statement, ascent.batch())
        if not gain.requires_grad or (gain == NOWHERE).all():
            break
        if (risen := gain.detach() > highest).any():
            highest = torch.where(risen, gain.detach(), highest)
            for kept, part in zip(there, free, strict=True):
                kept[risen] = part.detach()[risen]
        optimiser.step(-gain.sum(), LEARNING_RATE)
    with torch.no_grad():
        for kept, part in zip(there, free, strict=True):
            part.copy_(kept)
        end = ascent.batch()
        return [explicit(one(end, i)) for i in range(spec.batch)]


def one(batch: Batch, member: int) -> Batch:
    """One member of a batch, as a batch."""
    at, y = slice(member, member + 1), batch.y
    spec = replace(batch.spec, inputs="gaussian")
    if batch.vanilla:
        spec = replace(spec, regime="orthogonal")
    y = None if y is None else y[at]
    return Batch(spec, batch.systems.member(member), batch.C[at], batch.x[at], y)


def gradient_specs(
    statement: Statement, kind: Kind, *, count: int, steps: int, seed: int, slow: bool = False
) -> Iterator[SystemSpec]:
    """The systems that ascent on one statement finds; ``slow`` where a step takes long."""
    if not isinstance(kind.search, Climb) or applicable(statement):
        return
    slowness = max(kind.search.slowness, 5 if slow else 1)
    for spec in kind.search.starts(-(-count // kind.search.fewer), seed):
        yield from climb(statement, spec, steps // slowness)


def gradient(case: Case, visit: Visit) -> None:
    """Ascent on one statement of each quantity; of kinds that are fitted, what is fitted."""
    kind, budget, seed = KINDS.get(case.kind), case.budget, case.seed % 2**32
    if kind is None:
        return
    if isinstance(kind.search, Fits):
        for spec in kind.search.find(budget.gradient, budget.ascent, seed):
            visit(spec)
        return
    by_quantity = {statement.lhs: statement for statement in reversed(case.statements)}
    for statement in reversed(by_quantity.values()):
        for spec in gradient_specs(
            statement, kind, count=budget.gradient, steps=budget.ascent, seed=seed,
            slow=any(one.slow for one in case.needs),
        ):  # fmt: skip
            visit(spec)


def unclimbed(form: Form) -> str:
    """Why optimisation finds nothing for a form; empty where it may."""
    kind = KINDS.get(form.about)
    if kind is not None and isinstance(kind.search, Fits):
        return ""
    if kind is not None and kind.route.rational:
        return f"{form.about}: decided in exact rationals, there is nothing to ascend"
    climbed = "" if kind and kind.search else f"a {form.about} has no gradient"
    return applicable(form.statement) or climbed


ATTACKS = (Attack("gradient", gradient, idle=unclimbed, turn=3, directed=True),)
