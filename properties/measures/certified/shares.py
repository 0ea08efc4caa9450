"""How much of each printed constant a model uses, beside those of its norm.

A share is what was seen over what is printed, at a state of the stated set, at another one and at
an input within the bound; of what bounds from below, what is printed over what was seen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flint import arb, fmpq

from rnnbounds.impl.arithmetic.entries.balls import Columns
from rnnbounds.impl.arithmetic.inputs.sets import InputSet
from rnnbounds.impl.cells.stacks.stack import PREFIX
from rnnbounds.impl.models.readout import Readout
from rnnbounds.impl.numbers.spectra.exact_norm import rational_norm_at_most
from rnnbounds.properties.measures.certified.attack_numbers import recomputed_and_printed
from rnnbounds.properties.measures.certified.matrix_norms import MatrixNorm, ScaledNorm
from rnnbounds.properties.measures.certified.point import (
    ModelPoint,
    RecomputedValue,
    column_values,
    euclidean_norm,
    largest_modulus,
    least_value,
)
from rnnbounds.properties.systems.unitary.exact import rational

# Where the slopes and the values of an activation are looked at.
ACTIVATION_GRID = [arb(i) / 8 for i in range(-128, 129)]
RUN_STEPS = 4  # steps from zero


def largest_slope(p: ModelPoint) -> arb:
    """The largest slope of ρ on the grid."""
    return largest_modulus([p.rho.ball_derivative(z) for z in ACTIVATION_GRID])


def largest_activation(p: ModelPoint) -> arb:
    """The largest |ρ(z)| on the grid."""
    return largest_modulus([p.rho.ball(z) for z in ACTIVATION_GRID])


def input_lipschitz(p: ModelPoint) -> RecomputedValue:
    """L_ρ‖U‖₂."""
    steepness, norm = p.cached(largest_slope), p.weight_norm("weight_ih")
    return norm if steepness == 1 else steepness * norm.ball


def largest_gate(place: int, f: Callable[[Columns], Columns]) -> Callable[[ModelPoint], arb]:
    """The largest value of a gate."""
    return lambda p: largest_modulus(column_values(f(p.gates[place])))


def proposition_constants(p: ModelPoint) -> dict[str, arb]:
    """Proposition 1's constants of an LSTM by what is seen of its gates."""
    W = [arb(p.row_sum(place)) for place in range(4)]
    i, f, z = (RECOMPUTATIONS[f"{name}_bar"](p) for name in "ifz")
    c = largest_modulus([arb(a) for a in p.s[: p.n]])
    margin = 1 - f
    return {
        "a": W[0] * z / 4 + i * W[2] + W[1] * c / 4,
        "q": W[3] * c.tanh() / 4,
        "theta": largest_modulus([W[0], W[3], 4 * W[2], W[1] / margin]) / margin,
    }


def candidate_lipschitz(p: ModelPoint) -> arb:
    """How far a GRU's candidate moves for each unit of its state."""
    state, other_state = p.s[-p.n :], p.other_state[-p.n :]
    if p.row_sum(0) == p.row_sum(2) == 0:
        return arb(0)
    distance = largest_modulus([arb(a) - arb(b) for a, b in zip(state, other_state, strict=True)])
    candidates = zip(p.candidate(state), p.candidate(other_state), strict=True)
    return (
        arb(0) if distance.is_zero() else largest_modulus([a - b for a, b in candidates]) / distance
    )


def is_gru(p: ModelPoint) -> bool:
    """True if the cell is a GRU, with gates r, z, n; those of an LSTM are i, f, g, o."""
    return p.certificate.cell.startswith("gru")


def gate_row_sum(lstm_gate: int, gru_gate: int) -> Callable[[ModelPoint], fmpq]:
    """‖W‖_∞ of the gate at one of two places."""
    return lambda p: p.row_sum(gru_gate if is_gru(p) else lstm_gate)


def largest_z(p: ModelPoint) -> arb:
    """An LSTM's candidate, or a GRU's update gate."""
    if is_gru(p):
        return largest_modulus(column_values(p.gates[1].sigmoid()))
    return largest_modulus(column_values(p.gates[2].tanh()))


RECOMPUTATIONS: dict[str, Callable[[ModelPoint], Any]] = {
    "L_rho": lambda p: p.cached(largest_slope),
    "M_rho": lambda p: p.cached(largest_activation),
    "W_norm": lambda p: p.weight_norm("weight_hh" if "weight_hh" in p.weights else "W"),
    "U_norm": lambda p: p.weight_norm("weight_ih"),
    "L_x": input_lipschitz,
    "B_x": lambda p: euclidean_norm([arb(a) for a in p.x]),
    "leak_high": lambda p: max(map(rational, p.weights["leak"].tolist())),
    "leak_low": lambda p: min(map(rational, p.weights["leak"].tolist())),
    "depth": lambda p: fmpq(sum(name.endswith("_weight") for name in p.weights) - 1),
    "layers": lambda p: fmpq(len(p.widths)),
    "i_bar": largest_gate(0, Columns.sigmoid),
    "f_bar": largest_gate(1, Columns.sigmoid),
    "o_bar": largest_gate(3, Columns.sigmoid),
    "r_bar": largest_gate(0, Columns.sigmoid),
    "z_bar": largest_z,
    "z_low": lambda p: least_value(column_values(p.gates[1].sigmoid())),
    "B_c": lambda p: largest_modulus([arb(a) for a in p.s[: -p.n]]),
    "tau": lambda p: largest_modulus([arb(a) for a in p.s[: -p.n]]).tanh(),
    "h_bar": lambda p: largest_modulus([arb(a) for a in p.s[-p.n :]]),
    "nu_bar": lambda p: largest_modulus(p.candidate(p.s[-p.n :])),
    "kappa": candidate_lipschitz,
    "a": lambda p: proposition_constants(p)["a"],
    "q": lambda p: proposition_constants(p)["q"],
    "theta": lambda p: proposition_constants(p)["theta"],
    "W_i_norm": gate_row_sum(0, 0),
    "W_f_norm": gate_row_sum(1, 1),
    "W_z_norm": gate_row_sum(2, 1),
    "W_o_norm": gate_row_sum(3, 3),
    "W_r_norm": gate_row_sum(0, 0),
    "W_n_norm": gate_row_sum(2, 2),
}
LOWER_BOUNDS = ("z_low", "leak_low", "gap", "eps")  # what bounds from below


def recomputed_constants(p: ModelPoint) -> dict[str, tuple[RecomputedValue, float]]:
    """Pair each printed constant, by name, with its value at the point: (value, printed)."""
    certificate = p.certificate
    pairs = {
        name: (RECOMPUTATIONS[name](p), value)
        for name, value in certificate.constants.items()
        if name in RECOMPUTATIONS and value < float("inf")
    }
    pairs |= {"n": (fmpq(p.n), certificate.n), "d": (fmpq(len(p.x)), certificate.d)}
    pairs |= p.cached(recomputed_readout)
    pairs["input_bound"] = euclidean_norm([arb(a) for a in p.x]), certificate.input_bound
    pairs |= recomputed_boxes(p)
    if certificate.inputs is not None:
        pairs |= recomputed_inputs(p, certificate.inputs)
    if p.attack is not None:
        pairs |= recomputed_and_printed(p, p.attack)
    if p.unitary is not None:
        named = p.unitary.certificate["constants"]
        pairs |= {f"unitary {n}": (RECOMPUTATIONS[n](p), named[n]) for n in ("W_norm", "U_norm")}
        rows = fmpq(len(p.unitary.weights["weight_hh_l0"]))
        pairs["unitary states"] = rows, p.unitary.certificate["states"]
    if certificate.cell.startswith(PREFIX):
        for l, row in enumerate(certificate.weights or ()):
            assert isinstance(row, tuple)
            pairs[f"t_l{l}"] = rational(row[0]), certificate.constants[f"t_l{l}"]
            pairs[f"mu_l{l}"] = p.layer_coupling(l), certificate.constants[f"mu_l{l}"]
    return pairs


def recomputed_readout(p: ModelPoint) -> dict[str, tuple[RecomputedValue, float]]:
    """The norm and the size that are printed of a readout C."""
    printed = Readout("C", p.C).to_json()
    return {
        "readout": (MatrixNorm(p.C), printed["norm"]),
        "outputs": (fmpq(len(p.C)), printed["outputs"]),
    }


def recomputed_boxes(p: ModelPoint) -> dict[str, tuple[RecomputedValue, float]]:
    """How far a run from zero under one input comes in the boxes that are printed of the states."""
    layers = p.certificate.proof.get("layers") or [p.certificate.proof]
    if len(layers) != len(p.widths):  # of a layer alone the boxes of the stack are not printed
        return {}
    widths = zip(layers, p.widths, strict=True)
    half_widths = [
        half_width for layer, width in widths for half_width in layer.get("box") or [None] * width
    ]
    s = largest_reached = [arb(0)] * len(half_widths)
    for _ in range(RUN_STEPS):
        s = p.step(s)
        largest_reached = [largest_modulus([a, b]) for a, b in zip(s, largest_reached, strict=True)]
    pairs = enumerate(zip(largest_reached, half_widths, strict=True))
    return {
        f"box {j}": (reached, half_width)
        for j, (reached, half_width) in pairs
        if half_width is not None
    }


def is_lower_bound(name: str) -> bool:
    """True if the printed number of this name is a lower bound."""
    return name.partition(" ")[0] in LOWER_BOUNDS


def recomputed_inputs(p: ModelPoint, inputs: InputSet) -> dict[str, tuple[RecomputedValue, float]]:
    """How far an input is from the middle of its box over how far an end is, channel by channel;
    and how many rows differ."""
    pairs: dict[str, tuple[RecomputedValue, float]] = {}
    if inputs.rows is not None:
        pairs["inputs rows"] = fmpq(len(set(map(tuple, inputs.rows.tolist())))), len(inputs.rows)
    ends = zip(p.x, inputs.low.tolist(), inputs.high.tolist(), strict=True)
    for j, (x, low, high) in enumerate(ends):
        middle = (rational(low) + rational(high)) / 2
        radius, deviation = rational(high) - middle, abs(rational(x) - middle)
        share_of_radius = (
            deviation / radius if radius != 0 else fmpq(0) if deviation == 0 else fmpq(2)
        )
        pairs[f"inputs {j}"] = share_of_radius, 1.0
    return pairs


def used_share(name: str, recomputed: RecomputedValue, printed: float) -> arb:
    """recomputed/printed, or printed/recomputed for lower bounds; 0 if recomputed is 0."""
    size = recomputed.ball if isinstance(recomputed, MatrixNorm | ScaledNorm) else arb(recomputed)
    if size.is_zero():
        return arb(0)
    if not size.is_finite():
        return size
    return arb(printed) / size if is_lower_bound(name) else size / arb(printed)


def is_share_at_most(
    name: str, recomputed: RecomputedValue, printed: float, bound: fmpq
) -> bool | None:
    """True if the share (see `used_share`) is ≤ bound, False if not; None if the balls are too
    wide."""
    limit = bound * rational(printed)
    if isinstance(recomputed, MatrixNorm):
        return rational_norm_at_most(recomputed.matrix, limit)
    if isinstance(recomputed, ScaledNorm):
        return recomputed.is_at_most(limit)
    if isinstance(recomputed, fmpq):
        return bool(
            rational(printed) <= bound * recomputed if is_lower_bound(name) else recomputed <= limit
        )
    low, high = (
        (arb(rational(printed)), arb(bound) * recomputed)
        if is_lower_bound(name)
        else (recomputed, arb(limit))
    )
    return True if low <= high else False if low > high else None
