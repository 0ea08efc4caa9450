"""How much of each printed constant a model uses, beside those of its norm.

A share is what was seen over what is printed, at a state of the stated set, at another one and at
an input within the bound; of what bounds from below, what is printed over what was seen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flint import arb, arb_mat, fmpq
from torch import Tensor

from rnnbounds.impl.arithmetic.entries.balls import Columns
from rnnbounds.impl.arithmetic.inputs.sets import InputSet
from rnnbounds.impl.cells.stacks.stack import PREFIX
from rnnbounds.impl.gradients.loss import Squared
from rnnbounds.impl.numbers.spectra.exact_norm import rational_norm_at_most
from rnnbounds.impl.reading.readout import Readout
from rnnbounds.properties.measures.certified.attacked import of_attack
from rnnbounds.properties.measures.certified.point import Point, Seen, largest, least, root, values
from rnnbounds.properties.measures.certified.spectral import Norm, Secant
from rnnbounds.properties.systems.unitary.exact import rational

# Where the slopes and the values of an activation are looked at.
GRID = [arb(i) / 8 for i in range(-128, 129)]
RUN = 4  # steps from zero


def slope(p: Point) -> arb:
    """The largest slope of ρ on the grid."""
    return largest([p.rho.ball_derivative(z) for z in GRID])


def highest(p: Point) -> arb:
    """The largest value of ρ there."""
    return largest([p.rho.ball(z) for z in GRID])


def lipschitz(p: Point) -> Seen:
    """L_ρ‖U‖₂."""
    steep, size = p.once(slope), p.norm("weight_ih")
    return size if steep == 1 else steep * size.ball


def gate(place: int, f: Callable[[Columns], Columns]) -> Callable[[Point], arb]:
    """The largest value of a gate."""
    return lambda p: largest(values(f(p.gates[place])))


def proposition(p: Point) -> dict[str, arb]:
    """Proposition 1's constants of an LSTM by what is seen of its gates."""
    W = [arb(p.row_sum(place)) for place in range(4)]
    i, f, z = (SHARES[f"{name}_bar"](p) for name in "ifz")
    c = largest([arb(a) for a in p.s[: p.n]])
    room = 1 - f
    return {
        "a": W[0] * z / 4 + i * W[2] + W[1] * c / 4,
        "q": W[3] * c.tanh() / 4,
        "theta": largest([W[0], W[3], 4 * W[2], W[1] / room]) / room,
    }


def kappa(p: Point) -> arb:
    """How far a GRU's candidate moves for each unit of its state."""
    one, two = p.s[-p.n :], p.other[-p.n :]
    if p.row_sum(0) == p.row_sum(2) == 0:
        return arb(0)
    apart = largest([arb(a) - arb(b) for a, b in zip(one, two, strict=True)])
    moved = zip(p.candidate(one), p.candidate(two), strict=True)
    return arb(0) if apart.is_zero() else largest([a - b for a, b in moved]) / apart


def gru(p: Point) -> bool:
    """True if the cell is a GRU, with gates r, z, n; those of an LSTM are i, f, g, o."""
    return p.certificate.cell.startswith("gru")


def row_sum(lstm: int, of_gru: int) -> Callable[[Point], fmpq]:
    """‖W‖_∞ of the gate at one of two places."""
    return lambda p: p.row_sum(of_gru if gru(p) else lstm)


def z_bar(p: Point) -> arb:
    """An LSTM's candidate, or a GRU's update gate."""
    if gru(p):
        return largest(values(p.gates[1].sigmoid()))
    return largest(values(p.gates[2].tanh()))


SHARES: dict[str, Callable[[Point], Any]] = {
    "L_rho": lambda p: p.once(slope),
    "M_rho": lambda p: p.once(highest),
    "W_norm": lambda p: p.norm("weight_hh" if "weight_hh" in p.weights else "W"),
    "U_norm": lambda p: p.norm("weight_ih"),
    "L_x": lipschitz,
    "L_w": lambda p: Secant(p.local(p.small[0]).B),
    "beta_hh": lambda p: p.changed(lambda s: p.local(s).A),
    "beta_wh": lambda p: p.changed(lambda s: p.local(s).B),
    "beta_ww": lambda p: p.moved_weights(),
    "L_p": lambda p: Secant(p.loss_gradient(p.small[0])),
    "beta_p": lambda p: p.changed(lambda s: p.loss_gradient(s)),
    "B_x": lambda p: root([arb(a) for a in p.x]),
    "leak_high": lambda p: max(map(rational, p.weights["leak"].tolist())),
    "leak_low": lambda p: min(map(rational, p.weights["leak"].tolist())),
    "depth": lambda p: fmpq(sum(name.endswith("_weight") for name in p.weights) - 1),
    "layers": lambda p: fmpq(len(p.widths)),
    "decay_high": lambda p: largest(p.decays),
    "decay_low": lambda p: least(p.decays),
    "i_bar": gate(0, Columns.sigmoid),
    "f_bar": gate(1, Columns.sigmoid),
    "o_bar": gate(3, Columns.sigmoid),
    "r_bar": gate(0, Columns.sigmoid),
    "z_bar": z_bar,
    "z_low": lambda p: least(values(p.gates[1].sigmoid())),
    "B_c": lambda p: largest([arb(a) for a in p.s[: -p.n]]),
    "tau": lambda p: largest([arb(a) for a in p.s[: -p.n]]).tanh(),
    "h_bar": lambda p: largest([arb(a) for a in p.s[-p.n :]]),
    "nu_bar": lambda p: largest(p.candidate(p.s[-p.n :])),
    "kappa": kappa,
    "a": lambda p: proposition(p)["a"],
    "q": lambda p: proposition(p)["q"],
    "theta": lambda p: proposition(p)["theta"],
    "W_i_norm": row_sum(0, 0),
    "W_f_norm": row_sum(1, 1),
    "W_z_norm": row_sum(2, 1),
    "W_o_norm": row_sum(3, 3),
    "W_r_norm": row_sum(0, 0),
    "W_n_norm": row_sum(2, 2),
}
BELOW = ("z_low", "leak_low", "gap", "eps")  # what bounds from below


def shares(p: Point) -> dict[str, tuple[Seen, float]]:
    """Pair each printed constant, by name, with its value at the point: (value, printed)."""
    told = p.certificate
    found = {
        name: (SHARES[name](p), value)
        for name, value in told.constants.items()
        if name in SHARES and value < float("inf")
    }
    found |= {"n": (fmpq(p.n), told.n), "d": (fmpq(len(p.x)), told.d)}
    found |= p.once(of_readout)
    found["input_bound"] = root([arb(a) for a in p.x]), told.input_bound
    found |= of_boxes(p)
    if told.inputs is not None:
        found |= of_inputs(p, told.inputs)
    if told.training is not None:
        found |= p.once(of_training)
    if p.attacked is not None:
        found |= of_attack(p, p.attacked)
    if p.unitary is not None:
        named = p.unitary.certificate["constants"]
        found |= {f"unitary {n}": (SHARES[n](p), named[n]) for n in ("W_norm", "U_norm")}
        rows = fmpq(len(p.unitary.weights["weight_hh_l0"]))
        found["unitary states"] = rows, p.unitary.certificate["states"]
    if told.cell.startswith(PREFIX):
        for l, row in enumerate(told.weights or ()):
            assert isinstance(row, tuple)
            found[f"t_l{l}"] = rational(row[0]), told.constants[f"t_l{l}"]
            found[f"mu_l{l}"] = p.coupled(l), told.constants[f"mu_l{l}"]
    return found


def of_boxes(p: Point) -> dict[str, tuple[Seen, float]]:
    """How far a run from zero under one input comes in the boxes that are printed of the states."""
    layers = p.certificate.proof.get("layers") or [p.certificate.proof]
    if len(layers) != len(p.widths):  # of a layer alone the boxes of the stack are not printed
        return {}
    widths = zip(layers, p.widths, strict=True)
    sides = [side for one, width in widths for side in one.get("box") or [None] * width]
    s = most = [arb(0)] * len(sides)
    for _ in range(RUN):
        s = p.step(s)
        most = [largest([a, b]) for a, b in zip(s, most, strict=True)]
    pairs = enumerate(zip(most, sides, strict=True))
    return {f"box {j}": (seen, side) for j, (seen, side) in pairs if side is not None}


def of_readout(p: Point) -> dict[str, tuple[Seen, float]]:
    """The norm and the size that are printed of a readout."""
    C = p.loss.C[0]
    told = Readout("C", C).to_json()
    return {"readout": (Norm(C), told["norm"]), "outputs": (fmpq(len(C)), told["outputs"])}


def below(name: str) -> bool:
    """True if the printed number of this name is a lower bound."""
    return name.partition(" ")[0] in BELOW


def of_inputs(p: Point, inputs: InputSet) -> dict[str, tuple[Seen, float]]:
    """How far an input is from the middle of its box over how far an end is, channel by channel;
    and how many rows differ."""
    found: dict[str, tuple[Seen, float]] = {}
    if inputs.rows is not None:
        found["inputs rows"] = fmpq(len(set(map(tuple, inputs.rows.tolist())))), len(inputs.rows)
    ends = zip(p.x, inputs.low.tolist(), inputs.high.tolist(), strict=True)
    for j, (x, low, high) in enumerate(ends):
        middle = (rational(low) + rational(high)) / 2
        half, off = rational(high) - middle, abs(rational(x) - middle)
        used = off / half if half != 0 else fmpq(0) if off == 0 else fmpq(2)
        found[f"inputs {j}"] = used, 1.0
    return found


def of_training(p: Point) -> dict[str, tuple[Seen, float]]:
    """The readout, the target of a squared loss, and the weights that training goes on among."""
    training = p.certificate.training
    assert training is not None
    task = training.task
    found: dict[str, tuple[Seen, float]] = {"readout_norm": (Norm(p.loss.C[0]), task.readout)}
    if isinstance(p.loss, Squared):
        found["target_bound"] = of_rows(p.loss.y[0]), training.target
    for name, size in training.constants.radii.items():
        part = p.weights[name]
        found[name] = p.norm(name) if name == "weight_hh" else of_rows(part), size
    return {name: told for name, told in found.items() if told[1] < float("inf")}


def of_rows(part: Tensor) -> Secant:
    """The root of all squares."""
    return Secant(arb_mat([[arb(a) for a in part.flatten().tolist()]]))


def share(name: str, seen: Seen, told: float) -> arb:
    """Seen over told, or the other way round; 0 where nothing is seen."""
    size = seen.ball if isinstance(seen, Norm | Secant) else arb(seen)
    if size.is_zero():
        return arb(0)
    if not size.is_finite():
        return size
    return arb(told) / size if below(name) else size / arb(told)


def at_most(name: str, seen: Seen, told: float, bound: fmpq) -> bool | None:
    """True if the share (see `share`) is ≤ bound, False if not; None if the balls are too wide."""
    limit = bound * rational(told)
    if isinstance(seen, Norm):
        return rational_norm_at_most(seen.matrix, limit)
    if isinstance(seen, Secant):
        return seen.at_most(limit)
    if isinstance(seen, fmpq):
        return bool(rational(told) <= bound * seen if below(name) else seen <= limit)
    low, high = (arb(rational(told)), arb(bound) * seen) if below(name) else (seen, arb(limit))
    return True if low <= high else False if low > high else None
