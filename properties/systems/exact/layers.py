"""Deep transitions and stacks of two layers in dyadic rationals, as the cells that ship.

A transition of one size is φ = g_L ∘ … ∘ g_1, g_l(u) = ρ(W_l u + [l = 1] U x + b_l); a stack is

    s¹⁺ = ρ(W_1 s¹ + U x + b_1),  s²⁺ = ρ(W_2 s² + V s¹⁺ + b_2).

All weights are dyadic, so that they are floats and rationals at once. What ships is run, in
rationals where ρ is piecewise linear, and in balls elsewhere; the certified factors of a stack's
layers are judged in ‖·‖_∞, so that all norms are rational. Source: Pascanu et al., How to construct
deep recurrent neural networks; Miller & Hardt, section 2.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from dataclasses import replace as with_parts
from functools import cached_property, partial, reduce
from math import inf
from operator import mul
from typing import Any, cast

import torch
from flint import fmpq, fmpq_mat
from hypothesis import strategies as st
from msgspec.structs import replace

from rnnbounds.impl.arithmetic.entries import Rationals
from rnnbounds.impl.cells.deep import DeepCell
from rnnbounds.impl.cells.stacks.stack import PREFIX, layer_weights
from rnnbounds.impl.cells.stacks.stack_analysis import analyse_layer
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.norms.weighted import perron_vector
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.properties.systems.exact.members import (
    EXACT_LIMITS,
    ExactMember,
    Table,
    Vector,
    check_exact,
    member_random,
    rational,
    recurrence_tables,
    upper_float,
)
from rnnbounds.properties.systems.exact.networks import exact_networks
from rnnbounds.properties.systems.exact.rational_draws import (
    ONE,
    ZERO,
    bounded_inputs,
    exact_floats,
    random_eighths,
    random_eighths_matrix,
)
from rnnbounds.properties.systems.kind import (
    DrawRequest,
    Instances,
    Kind,
    cell_named,
    draw_choices,
    pick,
    seeds,
    spec_grid,
    vanilla_cell,
)
from rnnbounds.properties.systems.spec import SystemSpec, spec_of

TRANSITION_FACTORS = (fmpq(1, 2), fmpq(3, 4), ONE, fmpq(1, 4), fmpq(5, 4), fmpq(3, 2))
FACTORS = (fmpq(1, 2), fmpq(3, 4), fmpq(1, 4), ZERO, ONE, fmpq(5, 4))
COUPLINGS = (ONE, fmpq(1, 2), fmpq(2), fmpq(4), ZERO)
WEIGHTS = (ONE, fmpq(2), fmpq(4), fmpq(1, 2), fmpq(16))
NORM = "infinity"


@dataclass(frozen=True, eq=False)
class ShippedMember(ExactMember):
    """A cell, a batch of one, with its inputs x (S, T, d) and pairs of states (S, N)."""

    spec: SystemSpec
    cell: Any
    x: list[list[Vector]]
    h: list[Vector]
    h_other: list[Vector]

    @cached_property
    def weights(self) -> dict[str, torch.Tensor]:
        """The weights of this one system."""
        return {name: part[0] for name, part in self.cell.parameters.items()}

    @cached_property
    def exact_weights(self) -> Rationals:
        """The weights as rationals."""
        return Rationals(self.weights)

    def exact_vector(self, name: str) -> Vector:
        """A weight that is a vector."""
        return tuple(v for (v,) in self.exact_weights.rows(name))


def dyadic_tensor(A: fmpq_mat) -> torch.Tensor:
    """(1, m, n) of a dyadic matrix."""
    return torch.tensor([exact_floats(A)], dtype=torch.float64)


def dyadic_row(v: Sequence[fmpq]) -> torch.Tensor:
    """(1, n) of a dyadic vector."""
    return dyadic_tensor(fmpq_mat(1, len(v), list(v)))[:, 0]


@dataclass(frozen=True, eq=False)
class Layered(ShippedMember):
    """One transition, whose certified factor is the one that is judged.

    ``layer_norms`` are ‖W_l‖₂ where these are known exactly, ``is_isometric`` says that every W_l
    is a multiple of an isometry.
    """

    cell: DeepCell
    layer_norms: tuple[fmpq, ...] | None
    is_isometric: bool

    def tables(self) -> dict[str, Table]:
        """The first layer stands for the weights."""
        W, U = map(self.exact_weights.rows, ("transition_1_weight", "input_weight"))
        b = self.exact_vector("transition_1_bias")
        return recurrence_tables(W, U, b, self.x, self.h, self.h_other)

    @staticmethod
    def constants_of(members: Sequence[Layered]) -> list[dict[str, float]]:
        """Certify constants of each transition; add the product of its layers' norms."""
        cells = [member.cell for member in members]
        weights = {name: torch.cat([cell.parameters[name] for cell in cells])
                for name in cells[0].parameters}  # fmt: skip
        cell = with_parts(cells[0], parameters=weights)
        lam = perron_vector(cell.euclidean(cell.U.new_full((len(cells), cell.n), inf))).factor
        certified = {
            "lam_deep": lam,
            "lam": lam,
            "L_rho": torch.full_like(lam, cell.activation.slope),
        }
        columns = zip(*(value.tolist() for value in certified.values()), strict=True)
        by_member = (dict(zip(certified, values, strict=True)) for values in columns)
        return [
            one | {"W_product": own.product_of_norms}
            for one, own in zip(by_member, members, strict=True)
        ]

    @property
    def product_of_norms(self) -> float:
        """Π‖W_l‖₂ where these are known exactly, else infinity."""
        return inf if self.layer_norms is None else upper_float(reduce(mul, self.layer_norms))

    def constants(self) -> dict[str, float]:
        """Certified constants of this transition alone."""
        return self.constants_of([self])[0]

    def parameters(self) -> dict[str, float]:
        """The depth, and whether all layers are isometries up to a factor."""
        linear = self.spec.activation == "identity"
        return {"depth": float(self.cell.depth), "isometric": float(linear and self.is_isometric)}


def layered_member(spec: SystemSpec, member: int) -> Layered:
    """The member of a ``layered`` spec with ``layers`` layers of ``n`` units.

    identity: W_l = a_l I; signed: a_l times a signed permutation; nilpotent: a_l times a shift;
    gaussian: multiples of 1/8, of unknown norm; zero: one layer sees nothing.
    """
    draw, n = member_random(spec, member, "system"), spec.n
    W = [
        layer_matrix(spec.regime, draw.choice(TRANSITION_FACTORS), n, draw)
        for _ in range(spec.layers)
    ]
    if spec.regime == "zero":
        W[-1] = fmpq_mat(n, n)
    weights = {"input_weight": dyadic_tensor(random_eighths_matrix(n, spec.d, draw))}
    scale = rational(spec.bias)
    for i, A in enumerate(W, 1):
        b = [scale * v for v in random_eighths(n, draw)]
        weights |= {
            f"transition_{i}_weight": dyadic_tensor(A),
            f"transition_{i}_bias": dyadic_row(b),
        }
    cell = cast(DeepCell, kind_of(f"deep-{spec.activation}").build(weights))
    pairs = [
        layered_states(n, member_random(spec, member, f"states {s}")) for s in spec.sequence_range
    ]
    return Layered(
        spec, cell, bounded_inputs(spec, member), [first for first, _ in pairs],
        [second for _, second in pairs],
        layer_norms=None
        if spec.regime == "gaussian"
        else tuple(max(abs(v) for v in A.entries()) for A in W),
        is_isometric=spec.regime in ("zero", "identity", "signed"),
    )  # fmt: skip


def layered_states(n: int, draw: random.Random) -> tuple[Vector, Vector]:
    """Two states, apart by powers of two."""
    h, size = random_eighths(n, draw), fmpq(1, draw.choice((1, 4, 256)))
    if draw.randrange(4) == 0:
        h = tuple(-size * v / 2 for v in random_eighths(n, draw))
        return h, tuple(-v for v in h)
    return h, tuple(v + size * w for v, w in zip(h, random_eighths(n, draw), strict=True))


@dataclass(frozen=True, eq=False)
class StackMember(ShippedMember):
    """Two layers of n units each as they ship, pairs of states (s¹, s²) and the weight v."""

    model: LoadedModel[Any]
    v: fmpq

    def tables(self) -> dict[str, Table]:
        """The lower layer stands for the cell, the upper one, driven by it, for the other."""
        n, rows = self.spec.n, self.exact_weights.rows
        h, other = ([state[:n] for state in states] for states in (self.h, self.h_other))
        low = rows("weight_hh_l0"), rows("weight_ih_l0"), self.exact_vector("bias_ih_l0")
        return recurrence_tables(*low, self.x, h, other) | {
            "W2": rows("weight_hh_l1"), "U2": rows("weight_ih_l1"),
            "b2": self.exact_vector("bias_ih_l1"),
        }  # fmt: skip

    def constants(self) -> dict[str, float]:
        """λ_1, λ_2 and μ as a stack's analysis has them of its layers."""
        kind, model = kind_of(vanilla_cell(self.spec)), self.model
        lower, upper = (
            LoadedModel(cell, kind.name, model.dtype, layer_weights(model.weights, l), model.source)
            for l, cell in enumerate(model.cell.layers)
        )
        lower_analysis = analyse_layer(kind, lower, (NORM,), self.spec.scale * self.spec.d)
        upper_analysis = analyse_layer(kind, upper, (NORM,), lower_analysis)
        norms = lower_analysis.norm(NORM), upper_analysis.norm(NORM)
        mu = upper_analysis.coupling(norms[1], norms[0], lower_analysis.n)
        return {"lam_1": norms[0].lam, "lam_2": norms[1].lam, "mu": mu}

    def parameters(self) -> dict[str, float]:
        """The weight v of the upper layer."""
        return {"v_top": upper_float(self.v)}


def stack_member(spec: SystemSpec, member: int) -> StackMember:
    """The member of a ``cascade`` spec.

    positive: W_l = λ_l I, V = μ I and nothing negative, where the cascade is attained; signed:
    signed permutations in place of I; gaussian: multiples of 1/8.
    """
    draw, n = member_random(spec, member, "system"), spec.n
    factors = (*draw.sample(FACTORS, 2), draw.choice(COUPLINGS))
    if spec.regime == "gaussian":
        factors = tuple(size / (n if n in (1, 2, 4) else 4) for size in factors)
    W_1, W_2, V = (layer_matrix(spec.regime, size, n, draw) for size in factors)
    U, scale = random_eighths_matrix(n, spec.d, draw), rational(spec.bias)
    weights: dict[str, torch.Tensor] = {}
    for l, (W, input_matrix) in enumerate(((W_1, U), (W_2, V))):
        bias = [scale * v for v in random_eighths(n, draw)]
        weights |= {
            f"weight_hh_l{l}": dyadic_tensor(W)[0],
            f"weight_ih_l{l}": dyadic_tensor(input_matrix)[0],
        }
        weights[f"bias_ih_l{l}"] = dyadic_row(bias)[0]
    model = load_model(weights, PREFIX + vanilla_cell(spec))
    pairs = [
        stack_states(n, member_random(spec, member, f"states {s}"), spec.regime == "positive")
        for s in spec.sequence_range
    ]
    return StackMember(
        spec, model.cell, bounded_inputs(spec, member), [h for h, _ in pairs],
        [other for _, other in pairs], model, draw.choice(WEIGHTS),
    )  # fmt: skip


def layer_matrix(regime: str, size: fmpq, n: int, draw: random.Random) -> fmpq_mat:
    """A matrix of n rows: size times the identity, a signed permutation or a shift, so that
    ‖A‖₂ = ‖A‖_∞ = size, but for a shift of one unit, or times multiples of 1/8 (gaussian)."""
    if regime == "gaussian":
        return size * random_eighths_matrix(n, n, draw)
    places, signs = list(range(n)), [1] * n
    if regime == "signed":
        places, signs = draw.sample(places, n), [draw.choice((1, -1)) for _ in range(n)]
    if regime == "nilpotent":
        places = [i + 1 for i in range(n)]
    A = fmpq_mat(n, n)
    for i, j in enumerate(places):
        if j < n:
            A[i, j] = size * signs[i]
    return A


def stack_states(n: int, draw: random.Random, positive: bool) -> tuple[Vector, Vector]:
    """Two states of both layers; where all is ``positive``, the first is larger in every unit."""
    h, moves = (random_eighths(n, draw) + random_eighths(n, draw) for _ in range(2))
    scale = draw.choice((ONE, fmpq(1, 4)))
    move = (abs(v) for v in moves) if positive else moves
    return tuple(p + scale * q for p, q in zip(h, move, strict=True)), h


DRIVES = ("constant", "gaussian", "zero", "alternating", "impulse")
RATIONAL = ("identity", "relu", "leaky-relu")
SMOOTH = ("gelu", "silu", "tanh", "sigmoid", "erf")
LayeredSpec = spec_of(
    "layered", "activation n d T K regime inputs scale bias layers", check=check_exact,
    limits=EXACT_LIMITS | {"n": 8, "T": 16, "layers": 8},
    regimes=("zero", "identity", "signed", "nilpotent", "gaussian"),
)  # fmt: skip
Cascade = spec_of(
    "cascade", "activation n d T K regime inputs scale bias", check=check_exact,
    limits=EXACT_LIMITS | {"n": 8, "T": 32}, activations=("identity", "relu", "leaky-relu"),
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
    """A stack of one to four units a layer, over one to eight steps."""
    T = draw(pick((3, 1, 5, 8)))
    choices = draw_choices(
        draw, activation=("identity", "relu"), regime=("gaussian", *Cascade.regimes),
        inputs=DRIVES, n=(1, 2, 1, 4), d=(1, 2), scale=(1.0, 0.25), bias=(0.5, 0.0),
    )  # fmt: skip
    return Cascade(
        T=T, K=T, seed=draw(seeds()), batch=min(wanted.batch, 12),
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


KINDS = (
    Kind(
        LayeredSpec, draw_layered_spec, partial(exact_networks, layered_member), layered_cell,
        Instances(worst_transitions, TRANSITIONS), family="exact",
    ),
    Kind(
        Cascade, draw_cascade_spec, partial(exact_networks, stack_member), cell_named("stack"),
        Instances(worst_stacks), family="exact",
    ),
)  # fmt: skip
