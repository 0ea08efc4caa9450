"""Deep transitions and stacks of two layers, as the cells that ship, with dyadic weights.

A transition of one size is φ = g_L ∘ … ∘ g_1, g_l(u) = ρ(W_l u + [l = 1] U x + b_l); a stack is

    s¹⁺ = ρ(W_1 s¹ + U x + b_1),  s²⁺ = ρ(W_2 s² + V s¹⁺ + b_2).

Weights are multiples of 1/8 times short numbers, so that norms of layers are known exactly and
equalities are decided in rationals; the certified factors of a stack's layers are judged in ‖·‖_∞.
Pairs of states lie anywhere. Source: Pascanu et al., How to construct deep recurrent neural
networks; Miller & Hardt, section 2.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from dataclasses import replace as with_parts
from functools import partial
from math import inf, prod
from typing import Any, Self

import numpy as np
import torch
from flint import fmpq
from hypothesis import strategies as st
from msgspec.structs import replace

from rnnbounds.impl.cells.stacks.stack import PREFIX, layer_weights
from rnnbounds.impl.cells.stacks.stack_analysis import analyse_layer
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.norms.weighted import perron_vector
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.properties.systems.batch import Batch, BatchParts, to_tensor
from rnnbounds.properties.systems.caching import cached_reading
from rnnbounds.properties.systems.draws import Array, stack_numbers
from rnnbounds.properties.systems.exact.members import member_random, nearest_floats, rational
from rnnbounds.properties.systems.exact.rational_draws import make_sequences
from rnnbounds.properties.systems.kind import (
    DrawRequest,
    Kind,
    cell_named,
    draw_choices,
    pick,
    seeds,
    spec_grid,
    vanilla_cell,
)
from rnnbounds.properties.systems.spec import SystemSpec, spec_of
from rnnbounds.properties.systems.vanilla.networks import Networks

Tensor = torch.Tensor
TRANSITION_FACTORS = (0.5, 0.75, 1.0, 0.25, 1.25, 1.5)
FACTORS = (0.5, 0.75, 0.25, 0.0, 1.0, 1.25)
COUPLINGS = (1.0, 0.5, 2.0, 4.0, 0.0)
WEIGHTS = (1.0, 2.0, 4.0, 0.5, 16.0)
NORM = "infinity"
ISOMETRIES = ("zero", "identity", "signed")


@dataclass(frozen=True, eq=False)
class LayeredCells(Networks):
    """B cells of one kind with pairs of states anywhere.

    known: numbers of each system (B,) by name, of its own construction. certify: the certified
    constants (B,) of a batch, by name.
    """

    cell: Any
    kind: str = field(kw_only=True)
    known: Mapping[str, Array] = field(kw_only=True)
    certify: Callable[[Batch], dict[str, Array]] = field(kw_only=True)

    @property
    def named_weights(self) -> dict[str, Tensor]:
        """The weights by name, (B, …) each."""
        return dict(self.cell.parameters)

    def constant(self, batch: Batch, name: str) -> Array:
        """A constant of each system, (B, 1, 1); infinite where nothing is known."""
        found = certified_constants(batch).get(name, np.full(len(self.h), np.inf))
        return found.reshape(-1, 1, 1)

    def parameter(self, batch: Batch, name: str) -> Array | None:
        """A number of each system, (B, 1, 1), in place of the spec's."""
        return self.known[name].reshape(-1, 1, 1) if name in self.known else None

    def member(self, i: int) -> Self:
        """One system of the batch, as a batch of one."""
        at = slice(i, i + 1)
        return with_parts(
            self,
            cell=kind_of(self.kind).build({name: A[at] for name, A in self.parameters.items()}),
            h=self.h[at], h_other=self.h_other[at],
            known={name: value[at] for name, value in self.known.items()},
        )  # fmt: skip


@cached_reading
def certified_constants(batch: Batch) -> dict[str, Array]:
    """The certified constants of a batch by name, (B,) each."""
    return layered_cells(batch).certify(batch)


def layered_cells(batch: Batch) -> LayeredCells:
    """The cells of a batch that has some."""
    assert isinstance(batch.systems, LayeredCells)
    return batch.systems


def transition_constants(batch: Batch) -> dict[str, Array]:
    """Certified factors, and the product of the layers' norms."""
    cell: Any = batch.cell
    lam = perron_vector(cell.euclidean(torch.full_like(batch.h[:, :, 0], inf))).factor.cpu().numpy()
    known = layered_cells(batch).known["W_product"]
    slope = np.full_like(lam, cell.activation.slope)
    return {"lam_deep": lam, "lam": lam, "L_rho": slope, "W_product": known}


def stack_constants(batch: Batch) -> dict[str, Array]:
    """λ_1, λ_2 and μ as a stack's analysis has them of its layers."""
    spec, kind, factors = batch.spec, kind_of(vanilla_cell(batch.spec)), []
    for i in range(len(batch.h)):
        model = load_model({name: A[i] for name, A in batch.weights.items()}, PREFIX + kind.name)
        lower, upper = (
            LoadedModel(cell, kind.name, model.dtype, layer_weights(model.weights, l), model.source)
            for l, cell in enumerate(model.cell.layers)
        )
        below = analyse_layer(kind, lower, (NORM,), spec.scale * spec.d)
        above = analyse_layer(kind, upper, (NORM,), below)
        norms = below.norm(NORM), above.norm(NORM)
        factors.append((norms[0].lam, norms[1].lam, above.coupling(norms[1], norms[0], below.n)))
    return dict(zip(("lam_1", "lam_2", "mu"), np.array(factors).T, strict=True))


def eighths(draw: random.Random, *shape: int) -> Array:
    """Multiples of 1/8 between −1 and 1."""
    return np.array([draw.randint(-8, 8) for _ in range(prod(shape))]).reshape(shape) / 8


def layer_matrix(regime: str, size: float, n: int, draw: random.Random) -> Array:
    """A matrix of n rows: size times the identity, a signed permutation or a shift, so that
    ‖A‖₂ = ‖A‖_∞ = size, but for a shift of one unit, or times multiples of 1/8 (gaussian)."""
    if regime == "gaussian":
        return size * eighths(draw, n, n) + 0.0
    if regime == "signed":
        columns = draw.sample(range(n), n)
        signs = np.array([[draw.choice((1, -1))] for _ in range(n)])
        return size * signs * np.eye(n)[columns] + 0.0
    return size * np.eye(n, k=int(regime == "nilpotent"))


def bounded_inputs(spec: SystemSpec, member: int) -> Array:
    """The chosen sequences x (S, T, d), every |x_ti| ≤ B; constant ones attain it."""

    def corner(draw: random.Random) -> tuple[fmpq, ...]:
        return tuple(B * draw.choice((1, -1)) for _ in range(spec.d))

    def any_input(draw: random.Random) -> tuple[fmpq, ...]:
        return tuple(B * fmpq(draw.randint(-8, 8), 8) for _ in range(spec.d))

    B = rational(spec.scale)
    return np.array(nearest_floats(make_sequences(spec, member, corner, any_input)))


def draw_transition(spec: SystemSpec, member: int) -> dict[str, Array]:
    """A transition of ``layers`` layers of ``n`` units, what is known of it, and pairs of states.

    identity: W_l = a_l I; signed: a_l times a signed permutation; nilpotent: a_l times a shift;
    gaussian: multiples of 1/8, of unknown norm; zero: one layer sees nothing.
    """
    draw, n = member_random(spec, member, "system"), spec.n
    W = [
        layer_matrix(spec.regime, draw.choice(TRANSITION_FACTORS), n, draw)
        for _ in range(spec.layers)
    ]
    if spec.regime == "zero":
        W[-1] = np.zeros((n, n))
    is_isometric = spec.activation == "identity" and spec.regime in ISOMETRIES
    found = {
        "depth": np.array(float(spec.layers)), "isometric": np.array(float(is_isometric)),
        "W_product": np.array(inf if spec.regime == "gaussian" else prod(abs(A).max() for A in W)),
        "input_weight": eighths(draw, n, spec.d),
    }  # fmt: skip
    for l, A in enumerate(W, 1):
        found |= {
            f"transition_{l}_weight": A,
            f"transition_{l}_bias": spec.bias * eighths(draw, n) + 0.0,
        }
    return found | drawn_pairs(spec, member, transition_states)


def transition_states(spec: SystemSpec, draw: random.Random) -> tuple[Array, Array]:
    """Two states, apart by powers of two."""
    h, size = eighths(draw, spec.n), 1 / draw.choice((1, 4, 256))
    if draw.randrange(4) == 0:
        h = 0.0 - size / 2 * eighths(draw, spec.n)
        return h, 0.0 - h
    return h, h + size * eighths(draw, spec.n)


def draw_stack(spec: SystemSpec, member: int) -> dict[str, Array]:
    """Two layers of n units each, the upper one's weight, and pairs of states (s¹, s²).

    positive: W_l = λ_l I, V = μ I and nothing negative, where the cascade is attained; signed:
    signed permutations in place of I; gaussian: multiples of 1/8.
    """
    draw, n = member_random(spec, member, "system"), spec.n
    sizes = (*draw.sample(FACTORS, 2), draw.choice(COUPLINGS))
    if spec.regime == "gaussian":
        sizes = tuple(size / (n if n in (1, 2, 4) else 4) for size in sizes)
    W_1, W_2, V = (layer_matrix(spec.regime, size, n, draw) for size in sizes)
    found, U = dict[str, Array](), eighths(draw, n, spec.d)
    for l, (W, inputs) in enumerate(((W_1, U), (W_2, V))):
        bias = spec.bias * eighths(draw, n) + 0.0
        found |= {f"weight_hh_l{l}": W, f"weight_ih_l{l}": inputs, f"bias_ih_l{l}": bias}
    found["v_top"] = np.array(draw.choice(WEIGHTS))
    return found | drawn_pairs(spec, member, stack_states)


def stack_states(spec: SystemSpec, draw: random.Random) -> tuple[Array, Array]:
    """Two states of both layers; where all is positive, the first is larger in every unit."""
    h, move = (eighths(draw, 2 * spec.n) for _ in range(2))
    scale = draw.choice((1.0, 0.25))
    return h + scale * (abs(move) if spec.regime == "positive" else move), h


def drawn_pairs(
    spec: SystemSpec, member: int,
    draw_states: Callable[[SystemSpec, random.Random], tuple[Array, Array]],
) -> dict[str, Array]:  # fmt: skip
    """The inputs x (S, T, d) and pairs of states (S, N) of the chosen sequences."""
    pairs = [
        draw_states(spec, member_random(spec, member, f"states {s}")) for s in spec.sequence_range
    ]
    h, h_other = (np.array(states) for states in zip(*pairs, strict=True))
    return {"x": bounded_inputs(spec, member), "h": h, "h_other": h_other}


def build_layered(
    draw: Callable[[SystemSpec, int], dict[str, Array]],
    certify: Callable[[Batch], dict[str, Array]],
    name: Callable[[SystemSpec], str],
    spec: SystemSpec, device: str = "cpu",
) -> BatchParts:  # fmt: skip
    """The cells that are drawn of all members; y = h of the upper layer."""
    numbers = stack_numbers([draw(spec, member) for member in spec.members])
    x, h, h_other = (
        to_tensor(device, numbers.pop(part), *axes)
        for part, axes in (("x", (2, 3, 1)), ("h", (2, 1)), ("h_other", (2, 1)))
    )
    known = {own: A for own, A in numbers.items() if A.ndim == 1}
    weights = {
        own: to_tensor(device, A, *range(1, A.ndim))
        for own, A in numbers.items()
        if own not in known
    }
    kind = kind_of(name(spec))
    cells = LayeredCells(
        kind.build(weights), h, h_other, kind=kind.name, known=known, certify=certify
    )  # fmt: skip
    C = torch.eye(spec.n, dtype=torch.float64, device=device).repeat(len(spec.members), 1, 1)
    return BatchParts(cells, C, x)


DRIVES = ("constant", "gaussian", "zero", "alternating", "impulse")
RATIONAL = ("identity", "relu", "leaky-relu")
SMOOTH = ("gelu", "silu", "tanh", "sigmoid", "erf")
LayeredSpec = spec_of(
    "layered", "activation n d T K regime inputs scale bias layers",
    limits={"n": 8, "d": 32, "T": 16, "layers": 8},
    regimes=("zero", "identity", "signed", "nilpotent", "gaussian"),
)  # fmt: skip
Cascade = spec_of(
    "cascade", "activation n d T K regime inputs scale bias",
    limits={"n": 8, "d": 32, "T": 32}, activations=("identity", "relu", "leaky-relu"),
    regimes=("positive", "signed", "gaussian"),
)  # fmt: skip
LINEAR = {"activation": "identity", "inputs": "constant"}
TRANSITION = LayeredSpec(regime="signed", T=3, K=3, batch=4, **LINEAR)
STACK = Cascade(regime="positive", T=4, K=4, batch=8, **LINEAR)


@st.composite
def draw_layered_spec(draw: st.DrawFn, wanted: DrawRequest) -> SystemSpec:
    """One to four layers of one to four units; smooth activations, which balls decide, are few."""
    activation = draw(pick((*RATIONAL[:2], *SMOOTH, *RATIONAL[:2], *RATIONAL)))
    T = draw(pick((2, 3, 1)))
    is_smooth = activation in SMOOTH
    likely_regime = "signed" if activation == "identity" else "gaussian"
    choices = draw_choices(
        draw, regime=(likely_regime, *LayeredSpec.regimes), inputs=DRIVES,
        n=(1, 2) if is_smooth else (2, 1, 3, 2), scale=(1.0, 0.25, 2.0), bias=(0.5, 0.0, 2.0),
        layers=(2, 1, 3, 4),
    )  # fmt: skip
    return LayeredSpec(
        activation=activation, d=1, T=T, K=T, seed=draw(seeds()),
        batch=min(wanted.batch, 6 if is_smooth else 12), sequences=min(wanted.sequences, 4),
        **choices,
    )  # fmt: skip


@st.composite
def draw_cascade_spec(draw: st.DrawFn, wanted: DrawRequest) -> SystemSpec:
    """A stack of one to four units a layer, over one to eight steps: few where all layers are met
    with equality, which exact arithmetic decides."""
    T = draw(pick((3, 1, 5, 8)))
    choices = draw_choices(
        draw, activation=("identity", "relu"), regime=("gaussian", *Cascade.regimes),
        inputs=DRIVES, n=(1, 2, 1, 4), d=(1, 2), scale=(1.0, 0.25), bias=(0.5, 0.0),
    )  # fmt: skip
    is_tight = choices["n"] == 1 or choices["regime"] != "gaussian"
    return Cascade(
        T=T, K=T, seed=draw(seeds()), batch=min(wanted.batch, 4 if is_tight else 12),
        sequences=min(wanted.sequences, 2), **choices,
    )  # fmt: skip


TRANSITIONS: dict[str, SystemSpec] = {
    # A = (0 1; 0 0) in every layer: the gradient vanishes after two of them.
    "nilpotent-layers": replace(TRANSITION, regime="nilpotent", n=2, layers=2, seed=1),
    # Every layer near the point where GELU is steepest.
    "steep-layers": replace(TRANSITION, activation="gelu", regime="identity", layers=4, bias=2.0),
}


def worst_transitions() -> Iterator[SystemSpec]:
    """Every constructor at every depth, linear and piecewise linear, and steep ones."""
    yield from TRANSITIONS.values()
    linear = {"activation": ("identity", "relu")}
    base = replace(TRANSITION, n=2, bias=0.5)
    yield from spec_grid(base, {"regime": LayeredSpec.regimes}, {"layers": (1, 2, 4)}, linear)
    steep = replace(TRANSITION, regime="signed", layers=3, bias=2.0, T=2, K=2, seed=3)
    yield from spec_grid(steep, {"activation": ("gelu", "silu", "erf", "tanh")})


def worst_stacks() -> Iterator[SystemSpec]:
    """Every constructor, alone and with units that cut off."""
    yield STACK  # nothing negative: what each layer hands on adds up
    linear = {"activation": ("identity", "relu")}
    yield from spec_grid(
        replace(STACK, bias=0.25), {"regime": Cascade.regimes}, linear, {"n": (1, 2)}
    )


def layered_cell(spec: SystemSpec) -> str:
    """The name of the cell: a vanilla network of one layer, a deep transition of more."""
    return vanilla_cell(spec) if spec.layers == 1 else cell_named("deep")(spec)


def stack_name(spec: SystemSpec) -> str:
    """The name of the stack of such networks."""
    return PREFIX + vanilla_cell(spec)


KINDS = (
    Kind(
        LayeredSpec, draw_layered_spec,
        partial(build_layered, draw_transition, transition_constants, cell_named("deep")),
        layered_cell, worst_transitions, family="exact",
    ),
    Kind(
        Cascade, draw_cascade_spec,
        partial(build_layered, draw_stack, stack_constants, stack_name), cell_named("stack"),
        worst_stacks, family="exact",
    ),
)  # fmt: skip
