"""How much of each printed constant a model uses, beside those of its norm.

A share is what was seen over what is printed, at a state of the stated set, at another one and at
an input within the bound; of what bounds from below, what is printed over what was seen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import hypot, lcm
from typing import Any

from flint import arb, arb_mat, fmpq, fmpq_mat
from torch import Tensor

from impl.arithmetic.balls import Balls, Columns
from impl.cells.activation import Activation, activation
from impl.cells.stacks.stack import PREFIX
from impl.certificate.certify import Certificate
from impl.convert.unitary import UnitaryModel
from impl.gradients.criterion import Loss
from impl.numbers.exact_norm import ball_norm, positive_semidefinite, rational_norm_at_most
from properties.measures.readings.rationals import exact
from properties.measures.runs.ball_runs import BallRuns
from properties.measures.runs.ball_runs import Step as Local
from properties.systems.cells.build import INWARD
from properties.systems.certified.norms import ball_norm as norm_of
from properties.systems.certified.norms import of_layer

ONE = fmpq(1)
# Where the slopes and the values of an activation are looked at.
GRID = [arb(i) / 8 for i in range(-128, 129)]


@dataclass(frozen=True, eq=False)
class Norm:
    """‖A‖₂ of a matrix of floats."""

    matrix: Tensor


@dataclass(frozen=True, eq=False)
class Secant:
    """‖A‖₂ of a matrix of balls, over the root of a rational."""

    matrix: arb_mat
    square: fmpq = ONE

    @property
    def ball(self) -> arb:
        """The number."""
        size = ball_norm(self.matrix)
        return size if self.square == 1 else size / arb(self.square).sqrt()

    def at_most(self, limit: fmpq) -> bool | None:
        """Whether it is at most a number; exactly, of a matrix that is known exactly."""
        entries = self.matrix.entries()
        if not all(entry.is_exact() for entry in entries):
            size, most = self.ball, arb(limit)
            return True if size <= most else False if size > most else None
        shape = self.matrix.nrows(), self.matrix.ncols()
        A = fmpq_mat(*shape, [entry.fmpq() for entry in entries])
        least = A * A.transpose() if shape[0] <= shape[1] else A.transpose() * A
        bound = limit * limit * self.square
        rows = [
            [bound * (i == j) - least[i, j] for j in range(least.ncols())]
            for i in range(least.nrows())
        ]
        scale = lcm(*(int(a.q) for row in rows for a in row))
        return positive_semidefinite([[int((a * scale).p) for a in row] for row in rows])


Seen = arb | fmpq | Norm | Secant


@dataclass(frozen=True, eq=False)
class Point:
    """One model at two states and an input, in balls of the precision that is current.

    widths: the sizes of the states of its layers; n: how many outputs there are.
    """

    program: Any
    weights: Mapping[str, Tensor]
    certificate: Certificate
    widths: Sequence[int]
    n: int
    s: Sequence[float]
    other: Sequence[float]
    x: Sequence[float]
    near: Mapping[str, Tensor]
    loss: Loss
    unitary: UnitaryModel | None = None

    @cached_property
    def made(self) -> Balls:
        """The arithmetic."""
        return Balls(self.weights)

    def step(self, s: Sequence[float]) -> list[arb]:
        """φ(s, x)."""
        told: list[arb] = self.program(self.made, column(s), column(self.x)).matrix.entries()
        return told

    @property
    def rho(self) -> Activation:
        """ρ, by the end of the cell's name."""
        name = self.certificate.cell.rpartition("-")[2]
        return activation("identity" if name == "linear" else name)

    @cached_property
    def gates(self) -> tuple[Columns, ...]:
        """What the gates of the model are functions of, at s."""
        return self.fed(self.s[-self.n :])

    def fed(self, h: Sequence[float]) -> tuple[Columns, ...]:
        """The same at another output."""
        driven = self.made.affine("weight_ih", "bias_ih", column(self.x))
        whole = driven + self.made.affine("weight_hh", "bias_hh", column(h))
        return whole.chunk(len(self.weights["weight_hh"]) // self.n)

    def candidate(self, h: Sequence[float]) -> list[arb]:
        """ν of a GRU."""
        m, rows = self.made, slice(2 * self.n, 3 * self.n)
        driven = m.affine("weight_ih", "bias_ih", column(self.x)).chunk(3)[2]
        reset = self.fed(h)[0].sigmoid()
        if self.certificate.cell == "gru-cho":
            recurrent = m.affine("weight_hh", "bias_hh", reset * column(h), rows)
        else:
            recurrent = reset * m.affine("weight_hh", "bias_hh", column(h), rows)
        return values((driven + recurrent).tanh())

    @cached_property
    def decays(self) -> list[arb]:
        """By how much each unit of a cell that is linear in its state is kept."""
        units, rest = len(self.s), self.step([0.0] * len(self.s))
        moved = (self.step([float(i == j) for i in range(units)]) for j in range(self.n))
        return [root([a - b for a, b in zip(one, rest, strict=True)]) for one in moved]

    @cached_property
    def small(self) -> tuple[Sequence[float], Sequence[float]]:
        """Both states, cut to the bound within which training goes on."""
        assert self.certificate.training is not None
        bound = self.certificate.training.constants.B_h * INWARD
        found = [cut(s, bound) for s in (self.s, self.other)]
        return found[0], found[1]

    def local(self, s: Sequence[float], weights: Mapping[str, Tensor] | None = None) -> Local:
        """The derivatives of one step."""
        held = {name: part[None] for name, part in (weights or self.weights).items()}
        runs = BallRuns(self.program, held, len(s), [list(self.x)])
        return runs.local(column(s), column(self.x))

    def loss_gradient(self, s: Sequence[float]) -> arb_mat:
        """∇p(h)."""
        return arb_mat([[a] for a in self.loss.ball_gradient([arb(v) for v in s])])

    def changed(self, f: Callable[[Sequence[float]], arb_mat]) -> Seen:
        """The secant slope of something in the state."""
        one, two = self.small
        return secant(f(one) - f(two), one, two)

    def moved_weights(self) -> Seen:
        """The secant slope of ∂φ/∂w in the weights."""
        own, other = (
            [a for name in self.weights for a in part[name].flatten().tolist()]
            for part in (self.weights, self.near)
        )
        s = self.small[0]
        return secant(self.local(s).B - self.local(s, self.near).B, own, other)

    def row_sum(self, place: int) -> fmpq:
        """‖W‖_∞ of a gate's recurrent weights."""
        rows = self.weights["weight_hh"].split(self.n)[place].tolist()
        return max(sum((abs(exact(a)) for a in row), fmpq(0)) for row in rows)

    def coupled(self, layer: int) -> arb:
        """μ: how much of a layer's move is of the layer below, for each unit of that one's."""
        told, rows = self.certificate, self.certificate.weights or ()
        after = [a - b for a, b in zip(self.step(self.s), self.step(self.other), strict=True)]
        before = [arb(a) - arb(b) for a, b in zip(self.s, self.other, strict=True)]
        starts = [sum(self.widths[:l]) for l in range(len(self.widths))]
        if layer == 0:
            return arb(0)

        def size(v: Sequence[arb], l: int) -> arb:
            row = rows[l]
            assert isinstance(row, tuple)
            found = of_layer(told.norm, row[1:], starts[l], self.widths[l], 1.0)
            return arb("nan") if found is None else norm_of(found, v)

        below = size(after, layer - 1)
        left = size(after, layer) - arb(told.constants[f"lam_l{layer}"]) * size(before, layer)
        return arb(0) if not below > 0 or left < 0 else left / below


def secant(moved: arb_mat, one: Sequence[float], two: Sequence[float]) -> Seen:
    """The norm of a change over that of what changed."""
    square = sum(((exact(a) - exact(b)) ** 2 for a, b in zip(one, two, strict=True)), fmpq(0))
    return fmpq(0) if square == 0 else Secant(moved, square)


def cut(s: Sequence[float], bound: float) -> list[float]:
    """A state cut to a norm."""
    size = hypot(*s)
    return [a * (bound / size * INWARD) for a in s] if size > bound else list(s)


def column(values: Sequence[float]) -> Columns:
    """One column of floats."""
    return Columns([[arb(value)] for value in values])


def values(one: Columns) -> list[arb]:
    """The numbers of one column."""
    return [row[0] for row in one.units]


def root(v: Sequence[arb]) -> arb:
    """‖v‖₂, exact of one number."""
    rest = [a for a in v if not a.is_zero()]
    return abs(rest[0]) if len(rest) == 1 else sum((a * a for a in rest), arb(0)).sqrt()


def largest(found: Sequence[arb]) -> arb:
    """The largest |v|."""
    most = arb(0)
    for value in found:
        most = most.max(abs(value))
    return most


def least(found: Sequence[arb]) -> arb:
    """The smallest v."""
    few = found[0]
    for value in found[1:]:
        few = few.min(value)
    return few


def slope(p: Point) -> arb:
    """The largest slope of ρ on the grid."""
    return largest([p.rho.ball_derivative(z) for z in GRID])


def lipschitz(p: Point) -> Seen:
    """L_ρ‖U‖₂."""
    steep = slope(p)
    return Norm(p.weights["weight_ih"]) if steep == 1 else steep * ball_norm(p.weights["weight_ih"])


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
    """Whether it is one: its gates are r, z, n, and those of an LSTM i, f, g, o."""
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
    "L_rho": slope,
    "M_rho": lambda p: largest([p.rho.ball(z) for z in GRID]),
    "W_norm": lambda p: Norm(p.weights["weight_hh" if "weight_hh" in p.weights else "W"]),
    "U_norm": lambda p: Norm(p.weights["weight_ih"]),
    "L_x": lipschitz,
    "L_w": lambda p: Secant(p.local(p.small[0]).B),
    "beta_hh": lambda p: p.changed(lambda s: p.local(s).A),
    "beta_wh": lambda p: p.changed(lambda s: p.local(s).B),
    "beta_ww": lambda p: p.moved_weights(),
    "L_p": lambda p: Secant(p.loss_gradient(p.small[0])),
    "beta_p": lambda p: p.changed(lambda s: p.loss_gradient(s)),
    "B_x": lambda p: root([arb(a) for a in p.x]),
    "leak_high": lambda p: max(map(exact, p.weights["leak"].tolist())),
    "leak_low": lambda p: min(map(exact, p.weights["leak"].tolist())),
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
    **{name: lambda p, name=name: proposition(p)[name] for name in ("a", "q", "theta")},
    "W_i_norm": row_sum(0, 0),
    "W_f_norm": row_sum(1, 1),
    "W_z_norm": row_sum(2, 1),
    "W_o_norm": row_sum(3, 3),
    "W_r_norm": row_sum(0, 0),
    "W_n_norm": row_sum(2, 2),
}
BELOW = ("z_low", "leak_low")  # what is printed bounds from below


def shares(p: Point) -> dict[str, tuple[Seen, float]]:
    """What is seen of each printed constant, and that constant, by its name."""
    told = p.certificate
    found = {
        name: (SHARES[name](p), value)
        for name, value in told.constants.items()
        if name in SHARES and value < float("inf")
    }
    if p.unitary is not None:
        named = p.unitary.certificate["constants"]
        found |= {f"unitary {n}": (SHARES[n](p), named[n]) for n in ("W_norm", "U_norm")}
        rows = fmpq(len(p.unitary.weights["weight_hh_l0"]))
        found["unitary states"] = rows, p.unitary.certificate["states"]
    if told.cell.startswith(PREFIX):
        for l, row in enumerate(told.weights or ()):
            assert isinstance(row, tuple)
            found[f"t_l{l}"] = exact(row[0]), told.constants[f"t_l{l}"]
            found[f"mu_l{l}"] = p.coupled(l), told.constants[f"mu_l{l}"]
    return found


def share(name: str, seen: Seen, told: float) -> arb:
    """Seen over told, or the other way round; 0 where nothing is seen."""
    if isinstance(seen, Norm):
        seen = ball_norm(seen.matrix)
    size = seen.ball if isinstance(seen, Secant) else arb(seen)
    if size.is_zero():
        return arb(0)
    if not size.is_finite():
        return size
    return arb(told) / size if name in BELOW else size / arb(told)


def at_most(name: str, seen: Seen, told: float, bound: fmpq) -> bool | None:
    """Whether the share is at most a number, None where these balls do not say."""
    limit = bound * exact(told)
    if isinstance(seen, Norm):
        return rational_norm_at_most(seen.matrix, limit)
    if isinstance(seen, Secant):
        return seen.at_most(limit)
    if isinstance(seen, fmpq):
        return bool(exact(told) <= bound * seen if name in BELOW else seen <= limit)
    low, high = (arb(exact(told)), arb(bound) * seen) if name in BELOW else (seen, arb(limit))
    return True if low <= high else False if low > high else None
