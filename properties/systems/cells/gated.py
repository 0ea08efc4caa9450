"""LSTMs and GRUs: what is certified, said and drawn of them, their worst instances, their records.

The certified constants, by the names of the vocabulary, are the largest over the units of what
`impl.cells.gated` certifies. What is chosen (θ and the unit weights) is a number that stands for
itself: statements hold for any choice.
Source: Miller & Hardt, Proposition 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from math import log
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st
from msgspec.structs import replace

from rnnbounds.impl.cells.gated import GRU, LSTM, magnitude
from rnnbounds.impl.cells.table import CELLS
from rnnbounds.impl.numbers.ball_functions import tanh_up
from rnnbounds.impl.numbers.outward import div_up, subtract_down
from rnnbounds.impl.training.stable_gates import StableGates, StableGRU, StableLSTM
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.caching import per_system
from rnnbounds.properties.systems.cells.batch import CELL_FIELDS, make_cells
from rnnbounds.properties.systems.cells.constants import CertifiedCells
from rnnbounds.properties.systems.draws import (
    Array,
    cached_generator,
    draw_each_member,
    draw_inputs,
    draw_loss,
    grid_normals,
    truncate_bits,
)
from rnnbounds.properties.systems.kind import (
    DrawRequest,
    Kind,
    cell_named,
    draw_choices,
    pick,
    seeds,
    spec_grid,
)
from rnnbounds.properties.systems.spec import SpecType, SystemSpec, Values, spec_of

Tensor = torch.Tensor
# Above the least θ, so that the conditions hold beyond rounding.
THETA_ROOM = 1 + 2.0**-40
# What moves a state to a corner of any box.
CORNER = 1024.0
# torch's order: the candidate is the third gate of both; the last of an LSTM is o.
CANDIDATE = 2
FORGET = 1
# With constant gates a cell is linear but for its candidate.
LINEAR = ("candidate", "driven")
# How gated cells are drawn, the simplest first.
REGIMES = ("zero", "candidate", "driven", "signs", "gaussian", "stable")
Lstm, Gru, GruCho = (
    spec_of(
        kind,
        f"{CELL_FIELDS} values",
        regimes=REGIMES,
        stacked=(CELLS[kind].gates, CELLS[kind].width),
    )
    for kind in ("lstm", "gru", "gru-cho")
)


@dataclass(frozen=True, eq=False)
class GatedCells(CertifiedCells):
    """LSTMs, whose states are (c, h) with N = 2n, or GRUs, whose states are h with N = n."""

    cell: LSTM | GRU

    @per_system
    def constants(self) -> dict[str, Tensor]:
        """Every certified constant of the cells' kind, (B,) each."""
        cell = self.cell
        own = lstm_constants(self, cell) if isinstance(cell, LSTM) else gru_constants(self, cell)
        return own | {"B_x": self.B_x}

    @staticmethod
    def driving_matrices(cell: Any) -> tuple[Array, Array]:
        """W and U of the candidate, g of an LSTM and n of a GRU."""
        rows = slice(CANDIDATE * cell.n, (CANDIDATE + 1) * cell.n)
        return cell.W[:, rows].numpy(), cell.U[:, rows].numpy()

    @property
    def named_weights(self) -> dict[str, Tensor]:
        """The stacked weights by name, as a spec writes them out."""
        cell = self.cell
        return {"W": cell.W, "U": cell.U, "b": cell.b_ih, "b_hh": cell.b_hh}


def gated_cells_of(batch: Batch) -> GatedCells | None:
    """The systems of a batch if they are cells with gates."""
    return batch.systems if isinstance(batch.systems, GatedCells) else None


def gate_norms(gated: GatedCells, gates: str) -> dict[str, Tensor]:
    """‖W‖_∞ of each gate."""
    return {f"W_{gate}_inf": size for gate, size in gated.cell.row_sums(gates).items()}


def lstm_constants(gated: GatedCells, cell: LSTM) -> dict[str, Tensor]:
    """ī, f̄, ḡ, ō, B_c, τ, the norms and θ."""
    B_c = gated.box[:, : gated.n].amax(1)
    gate_bounds = cell.gates(gated.box, gated.B_x[:, None])
    constants = {
        f"{name}_bar": gate_bounds[gate].amax(1) for name, gate in zip("ifgo", "ifzo", strict=True)
    }
    constants |= {"B_c": B_c, "tau": tanh_up(B_c)} | gate_norms(gated, "ifgo")
    return constants | {"theta": lstm_theta(constants)}


def gru_constants(gated: GatedCells, cell: GRU) -> dict[str, Tensor]:
    """r̄, z̄ and the least z, the norms, ‖b_hn‖_∞ and θ."""
    r, z, _ = cell.gates(*cell.intervals(gated.box, gated.B_x[:, None]))
    constants = {
        "r_bar": magnitude(r).amax(1), "z_bar": z.range.high.amax(1), "z_low": z.range.low.amin(1),
        "c_n_inf": gated.cell.b_hh.detach()[:, 2 * gated.cell.n :].abs().amax(1),
    }  # fmt: skip
    constants |= gate_norms(gated, "rzn")
    return constants | {"theta_gru": gru_theta(constants)}


def gru_theta(constants: dict[str, Tensor]) -> Tensor:
    """The least θ < 1 with 2‖W_n‖, (3/2)‖W_r‖ ≤ θ and 2‖W_z‖ ≤ θ(1 − z̄); infinite where there is
    none, or ‖c_n‖ > 1."""
    theta = least_theta(StableGRU, constants, constants["z_bar"])
    return torch.where(constants["c_n_inf"] <= 1, theta, torch.inf)


def lstm_theta(constants: dict[str, Tensor]) -> Tensor:
    """The least θ < 1 with ‖W_i‖, ‖W_o‖, 4‖W_g‖ ≤ θ(1 − f̄) and ‖W_f‖ ≤ θ(1 − f̄)²; infinite where
    there is none."""
    by_gate = constants | {"W_z_inf": constants["W_g_inf"]}
    return least_theta(StableLSTM, by_gate, constants["f_bar"])


def least_theta(
    stable: type[StableGates], constants: dict[str, Tensor], gate_bound: Tensor
) -> Tensor:
    """The least θ < 1 for which the rows of all gates are in the set that ships, or infinity."""
    radii = stable.sizes(torch.ones_like(gate_bound), subtract_down(1.0, gate_bound))
    sizes = [div_up(constants[f"W_{gate}_inf"], radius) for gate, radius in radii.items()]
    least = torch.stack(sizes).amax(0) * THETA_ROOM
    return torch.where(least < 1, least, torch.inf)


def draw_gated_cell(spec: SystemSpec, member: int) -> dict[str, Array]:
    """W (g n, n), U (g n, d), b, b_hh (g n), C, y, what is random in x, and the states (S, N)."""
    kind, n, S = CELLS[spec.kind], spec.n, spec.sequences
    g, N = kind.gates, kind.width * n
    rng = cached_generator(spec, member, 1)
    U, b = grid_normals(rng, g, n, spec.d) / 2, spec.bias * grid_normals(rng, g, n)
    # Gates that hold: each is mostly open, mostly shut, or half open.
    b += np.array((0.0, 2.0, -2.0, 4.0))[rng.integers(0, 4, g)][:, None] * (spec.bias > 0)
    b[CANDIDATE] *= 0.25
    b_hh = spec.bias * grid_normals(rng, g, n) / 4
    targets = draw_loss(spec, member, grid_normals(rng, min(n, 2), n))
    if spec.regime == "candidate":
        # Constant gates, and a candidate in the middle of its range: what is bounded is attained.
        U, b[CANDIDATE], b_hh[CANDIDATE] = 0 * U, 0, 0
    if spec.regime == "driven":
        # The same for all units, and inputs that drive the candidate alone.
        U, b, b_hh = (np.repeat(part[:, :1], n, axis=1) for part in (U, b, b_hh))
        U[[gate for gate in range(g) if gate != CANDIDATE]] = 0
        b[CANDIDATE], b_hh[CANDIDATE] = 0, 0
    W = draw_gated_recurrent(spec, cached_generator(spec, member), U, b + b_hh)
    rng = cached_generator(spec, member, 2)
    arrays: dict[str, Array] = {"W": W.reshape(g * n, n), "U": U.reshape(g * n, -1)} | targets
    arrays |= {"b": b.reshape(-1), "b_hh": b_hh.reshape(-1)}
    arrays["x"] = draw_inputs(spec, rng, len(arrays["C"]))
    h, h_other = draw_state_pairs(rng, S, N)
    return arrays | {"h": h, "h_other": h_other}


def draw_state_pairs(rng: np.random.Generator, S: int, N: int) -> tuple[Array, Array]:
    """Pairs: antipodal with entries of one size, at random, and at corners of the box and near
    them; each four sequences by 8 smaller, but for the corners."""
    shrink = np.ldexp(np.ones(S), -3 * (np.arange(S) // 4))[:, None]
    h, h_other = shrink * grid_normals(rng, S, N), shrink * grid_normals(rng, S, N)
    signs = np.where(h < 0, -1.0, 1.0)
    h[::4] = (shrink * signs)[::4] / 8
    h_other[::4] = -h[::4]
    h[2::4] = CORNER * signs[2::4]
    h[3::4] = CORNER * signs[3::4]
    h_other[3::4] = -h[3::4]
    return h, h_other


def draw_gated_recurrent(spec: SystemSpec, rng: np.random.Generator, U: Array, b: Array) -> Array:
    """W (g, n, n) of the spec's regime, with largest row sums about ``lam``.

    candidate, driven: of that gate alone. signs: all entries of a gate of one size. stable: in
    Miller and Hardt's set for θ = lam.
    """
    g, n = b.shape
    draws = grid_normals(rng, g, n, n)
    if spec.regime == "zero":
        return 0 * draws
    if spec.regime in (*LINEAR, "signs"):
        draws = np.where(draws < 0, -1.0, 1.0)
    if spec.regime == "driven":
        draws = np.repeat(np.repeat(draws[:, :1, :1], n, axis=1), n, axis=2)
    sizes = np.abs(draws).sum(axis=2).max(axis=1)
    factors = np.array([truncate_bits(spec.lam / size) if size else 0.0 for size in sizes])
    W: Array = draws * factors[:, None, None]
    if spec.regime in LINEAR:
        W[[gate for gate in range(g) if gate != CANDIDATE]] = 0
    if spec.regime == "stable":
        W *= stable_factors(spec, U, b)[:, None, None]
    return W


def stable_factors(spec: SystemSpec, U: Array, b: Array) -> Array:
    """Scale ‖W_i‖, ‖W_o‖, 4‖W_g‖ below θ(1 − f̄), ‖W_f‖ below θ(1 − f̄)²; the factors (g,).

    For a GRU the update gate takes the place of the forget gate.
    """
    reach = np.sqrt((U[FORGET] ** 2).sum(axis=1)) * spec.scale + b[FORGET]
    room = truncate_bits(1 / (1 + float(np.exp(min(float(reach.max()) + 0.25, 30.0)))), 12)
    sizes = np.full(len(b), room)
    sizes[CANDIDATE] = room / 4
    sizes[FORGET] = min(room * room, 0.25)
    return sizes


# torch's order of the gates.
GATE_ORDER = {"lstm": "ifgo", "gru": "rzn", "gru-cho": "rzn"}
Weights = Mapping[str, float]


def one_unit_spec(
    make: SpecType, W: Weights, b: Weights, h: list[float], other_state: list[float],
    U: Weights | None = None, b_hh: Weights | None = None, x: float = 0.0, T: int = 1,
) -> SystemSpec:  # fmt: skip
    """One unit; gates that are not named have weight 0. States beyond the box are its corners."""
    u, c = U or {}, b_hh or {}
    order = GATE_ORDER[make.kind]
    values = Values(
        W=[[W.get(gate, 0.0)] for gate in order], U=[[u.get(gate, 0.0)] for gate in order],
        b=[b.get(gate, 0.0) for gate in order], b_hh=[c.get(gate, 0.0) for gate in order],
        C=[[1.0]], x=[[x]] * T, h=h, h_other=other_state,
    )  # fmt: skip
    return make(T=T, values=values)


THETA = 0.999
SMALL_STATE = [2.0**-12]
# A bias that opens the reset gate, and one that leaves the update gate a quarter open.
OPEN_RESET = {"r": 20.0, "z": -1.0}
GATED_SPECIAL: dict[str, SystemSpec] = {
    # ‖W_f‖ = θ(1 − f̄), but above θ(1 − f̄)²: cells of B_c = 8 are forgotten too fast or too slowly.
    # An input that the box must allow for, but that is not there, leaves the input gate half open.
    # The candidate stays short of 1, so that the proved box has room below 1/(1 − f̄).
    "forget-without-square": one_unit_spec(
        Lstm, {"i": THETA / 8, "f": THETA / 8, "g": THETA / 32, "o": THETA / 8},
        {"f": log(7) - THETA / 8, "g": 12.0, "o": 20.0}, [CORNER, CORNER], [7.99, 0.99],
        U={"i": 40.0},
    ),
    # A constant input that keeps the input gate open: c_T comes near B_c.
    "full-cell": one_unit_spec(
        Lstm, {}, {"i": 20.0, "f": 1.0, "g": 20.0, "o": 20.0}, [0.0, 0.0], [1.0, 0.5], T=48
    ),
    # As steep as θ = 0.9 of the stable set lets the candidate be.
    "stable-candidate": one_unit_spec(Gru, {"n": 0.45}, OPEN_RESET, SMALL_STATE, [-SMALL_STATE[0]]),
    # h = 1 against ν = −1, half way between them: what the update gate moves counts in full.
    "steep-update": one_unit_spec(Gru, {"z": 3.0}, {"z": -3.0, "n": -20.0}, [CORNER], [0.96875]),
    # A large bias inside of the reset gate's reach, and a candidate that it leaves in its middle: h
    # moves ν by the reset gate alone.
    "steep-reset": one_unit_spec(
        Gru, {"r": 2.0, "n": 0.5}, {"z": -10.0, "n": -4.0}, [2.0**-8], [-(2.0**-8)],
        b_hh={"n": 8.0},
    ),
    # Cho's reset gate half open beside a large state.
    "steep-reset-cho": one_unit_spec(
        GruCho, {"r": 2.0, "n": 2.0}, {"z": -10.0, "r": -2.0, "n": -0.875}, [0.96], [0.92]
    ),
}  # fmt: skip


def worst_gated_specs(make: SpecType) -> Iterator[SystemSpec]:
    """The named ones, every regime with and without biases, and long runs."""
    yield from (spec for spec in GATED_SPECIAL.values() if spec.kind == make.kind)
    base = make(T=2, batch=4, sequences=8, seed=3)
    constant_base = replace(base, inputs="constant")
    yield from spec_grid(constant_base, {"regime": make.regimes}, {"n": (1, 2), "bias": (0.0, 1.0)})
    yield replace(base, regime="signs", T=24, lam=0.25, inputs="alternating", bias=0.5)


DRAWN_INPUTS = ("zero", "constant", "gaussian", "alternating", "impulse", "resonant")
FACTORS = (0.5, 0.25, 1.0, 0.9, 2.0, 0.0625, 0.99, 0.75)


@st.composite
def draw_gated_spec(draw: st.DrawFn, make: SpecType, wanted: DrawRequest) -> SystemSpec:
    """A gated cell of 1 to 6 units, with runs of 1 to 8 steps."""
    n = draw(pick((1, 2, 3, 1, 2, 4, 6, 1)))
    regime = draw(pick(("candidate", "signs", "stable", *make.regimes)))
    batch, sequences = wanted.batch, wanted.sequences
    if regime in ("candidate", "zero"):
        # Bounds are met with equality: exact arithmetic decides those.
        batch, sequences = min(batch, 2), min(sequences, 4)
    inputs, d = draw(pick(DRAWN_INPUTS)), min(draw(pick((1, 2, 3))), n)
    choices = draw_choices(
        draw, T=(2, 1, 4, 8), lam=FACTORS, scale=(1.0, 0.25, 4.0), bias=(0.5, 0.0, 1.0, 2.0)
    )  # fmt: skip
    return make(
        regime=regime, inputs=inputs, n=n, d=d, seed=draw(seeds()), batch=batch,
        sequences=sequences, **choices,
    )  # fmt: skip


def gated_kind(make: SpecType) -> Kind:
    """The kind of gated cells of that struct."""
    cell = cell_named(make.kind)
    return Kind(
        make,
        partial(draw_gated_spec, make),
        partial(make_cells, draw_each_member(draw_gated_cell), cell, GatedCells),
        cell,
        partial(worst_gated_specs, make),
        family="cell",
    )


LSTM_KIND = gated_kind(Lstm)
GRU_KINDS = (gated_kind(Gru), gated_kind(GruCho))
