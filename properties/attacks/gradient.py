"""Gradient search: ascent on lhs/rhs through the model, inside the contractive set.

The search may round as it likes: what it finds is written out as explicit specs, and the judge
decides about those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, reduce

import sympy
import torch
from msgspec.structs import replace

from impl.cells.activation import ACTIVATIONS
from impl.cells.rnn import RNN
from properties.attacks.estimates import estimates
from properties.judging.judge import free_names
from properties.measures.table import MEASURES
from properties.systems.batch import Batch, build, explicit, with_cells
from properties.systems.gated.ascent import GatedAscent, gated_starts
from properties.systems.kinds import GATED
from properties.systems.limits.fitted import candidate_fits, scalar_fits
from properties.systems.spec import Kind, SystemSpec
from theory.language.claim import Statement
from theory.language.vocabulary import VOCABULARY

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
# Exact kinds of which optimisation finds members: fits(count, steps, seed).
FITS: dict[str, Callable[[int, int, int], Iterator[SystemSpec]]] = {
    "candidate": candidate_fits,
    "sigmoid": scalar_fits,
}


def applicable(statement: Statement) -> str:
    """Why ascent cannot run on a statement; empty where it can."""
    for name in sorted(free_names(statement)):
        if VOCABULARY[name].role == "measured" and MEASURES[name].value is None:
            return f"{name} has no differentiable reading"
    return ""


@dataclass
class Ascent:
    """Free parameters of a batch and the projection of them onto contractive systems."""

    spec: SystemSpec
    parameters: dict[str, Tensor]
    radius: Tensor

    @classmethod
    def start(cls, spec: SystemSpec) -> Ascent:
        """The drawn batch as free parameters, with ‖W‖₂ held at the spec's ``lam``."""
        batch = build(spec)
        free = {"W": batch.cell.W, "U": batch.cell.U, "b": batch.cell.b, "C": batch.C, "x": batch.x,
                "h": batch.h, "h_other": batch.h_other}  # fmt: skip
        if batch.y is not None:
            # Small inputs keep a cell in its linear range: a bias is as small.
            free |= {"y": batch.y, "b": batch.cell.b / spec.scale, "x": batch.x / spec.scale}
        if batch.other is not None:
            other = batch.other
            free |= {"V": other.W, "dU": other.U - batch.cell.U, "db": other.b - batch.cell.b}
        parameters = {name: tensor.clone().requires_grad_() for name, tensor in free.items()}
        radius = torch.full((batch.cell.batch, 1, 1), spec.lam, dtype=torch.float64)
        return cls(spec, parameters, radius)

    def batch(self) -> Batch:
        """The systems at the current parameters: ‖W‖₂ = λ/L_ρ, ‖U‖₂ = ‖C‖₂ = 1, ‖x_t‖₂ ≤ B_x."""
        p = self.parameters

        def unit(A: Tensor) -> Tensor:
            size: Tensor = torch.linalg.matrix_norm(A, 2, keepdim=True)
            return A / size.clamp(min=1e-30)

        size = torch.linalg.vector_norm(p["x"], dim=2, keepdim=True)
        if "y" in p:
            # Smooth up to the bound, so that a scalar input can change its sign.
            x = p["x"] * self.spec.scale * torch.rsqrt(1 + size * size)
        else:
            x = p["x"] * (self.spec.scale / size.clamp(min=self.spec.scale))
        cell = RNN(
            W=self.radius * unit(p["W"]), U=unit(p["U"]),
            b=p["b"] * (self.spec.scale if "y" in p else 1.0),
            activation=ACTIVATIONS[self.spec.activation],
        )  # fmt: skip
        other = self.other(cell, unit(p["V"])) if "V" in p else None
        return Batch(
            self.spec, cell, unit(p["C"]), x, p["h"], p["h_other"], y=p.get("y"), other=other
        )

    def other(self, cell: RNN, direction: Tensor) -> RNN:
        """The second weights, about the spec's distance away, the recurrent ones in the same set;
        what is not trained stays."""
        tau, p, trained = self.spec.distance, self.parameters, self.spec.trained
        moved = {
            "W": (1 - tau) * cell.W + tau * self.radius * direction,
            "U": cell.U + tau * p["dU"],
            "b": cell.b + tau * p["db"],
        }
        parts = {name: moved[name] if name in trained else getattr(cell, name) for name in moved}
        return RNN(**parts, activation=cell.activation)


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
    gain = torch.where(torch.isfinite(gain) & (rhs > tiny), gain, -1e3)
    return gain.expand(batch.cell.batch, -1, -1).flatten(1).amax(dim=1)


def starts(kind: Kind, count: int, seed: int) -> Iterator[SystemSpec]:
    """Small systems of the regimes in which bounds are tight, one input sequence each."""
    if kind in GATED:
        yield from gated_starts(kind, count, seed)
        return
    if kind in ("gradient", "smooth"):
        yield from learning_starts(kind, count, seed)
        return
    activations = (
        ("identity",) if kind == "linear" else ("tanh", "identity", "relu", "gelu", "sin", "elu")
    )
    for i in range(count):
        activation = activations[i % len(activations)]
        n, T = 1 + i % 3, (3, 6, 12)[i % 3]
        yield SystemSpec(
            kind=kind,
            activation=activation,
            regime=("orthogonal", "gaussian", "similar")[(i // 2) % 3],
            inputs=("constant", "gaussian")[i % 2],
            n=n,
            d=1,
            T=T,
            K=min(3, T),
            lam=(0.75, 0.5, 0.9)[i % 3] / ACTIVATIONS[activation].slope,
            bias=(0.0, 0.25)[(i // 3) % 2],
            scale=(1.0, 0.125)[(i // 2) % 2],
            seed=seed + i,
            batch=4,
            sequences=1,
        )


def learning_starts(kind: Kind, count: int, seed: int) -> Iterator[SystemSpec]:
    """Small systems with a loss, long enough for the bounds that no length passes."""
    for i in range(count):
        activation = ("identity", "tanh", "sin", "arctan")[i % 4]
        yield SystemSpec(
            kind=kind,
            activation=activation,
            regime=("diagonal", "orthogonal", "similar")[i % 3],
            inputs="constant",
            n=(1, 1, 2)[i % 3],
            T=(24, 32)[i % 2],
            K=4,
            lam=(0.5, 0.75)[(i // 2) % 2],
            scale=1.0 if activation == "identity" else 2.0**-10,
            trained=("W", "W", "U", "WU")[(i // 2) % 4],
            loss=("linear", "squared", "cross-entropy")[(i // 2) % 3],
            target=0.0,
            distance=2.0**-6,
            seed=seed + i,
            batch=2,
        )


def climb(statement: Statement, spec: SystemSpec, steps: int) -> list[SystemSpec]:
    """Explicit specs of the systems that ``steps`` steps of Adam reach from a drawn batch."""
    ascent = (GatedAscent if spec.kind in GATED else Ascent).start(spec)
    optimiser = torch.optim.Adam(ascent.parameters.values(), lr=LEARNING_RATE)
    for _ in range(steps):
        optimiser.zero_grad()
        gain = objective(statement, ascent.batch())
        if not gain.requires_grad:
            break
        (-gain.sum()).backward()  # type: ignore[no-untyped-call]
        for tensor in ascent.parameters.values():
            if tensor.grad is not None:
                tensor.grad.nan_to_num_(0.0, 0.0, 0.0)
        optimiser.step()
    with torch.no_grad():
        end = ascent.batch()
        return [explicit(one(end, i)) for i in range(spec.batch)]


def one(batch: Batch, member: int) -> Batch:
    """One member of a batch, as a batch."""
    at = slice(member, member + 1)
    if batch.gated is not None:
        gated, x = batch.gated.member(member), batch.x[at]
        return with_cells(replace(batch.spec, inputs="gaussian"), gated, batch.C[at], x)
    return Batch(
        replace(batch.spec, regime="orthogonal", inputs="gaussian"),
        batch.cell.member(member), batch.C[at], batch.x[at], batch.h[at], batch.h_other[at],
        y=None if batch.y is None else batch.y[at],
        other=None if batch.other is None else batch.other.member(member),
    )  # fmt: skip


def gradient_specs(
    statement: Statement, kind: Kind, *, count: int, steps: int, seed: int
) -> Iterator[SystemSpec]:
    """The systems that ascent on one statement finds."""
    if not applicable(statement):
        for spec in starts(kind, count, seed):
            yield from climb(statement, spec, steps)
