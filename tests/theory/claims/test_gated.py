"""The claims on gated cells: proofs, axioms in numbers, and each variant against one small cell.

Cells of one unit are evaluated here in numpy, their constants by the formulas of the paper.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from sympy import tanh

from theory.axioms import gates as gate_axioms
from theory.axioms.base import AXIOMS
from theory.claims.contraction.gru import CONTRACTION_GRU
from theory.claims.contraction.lstm import CONTRACTION_LSTM
from theory.language import Statement
from theory.language.terms.gates import sigmoid
from theory.language.terms.variables import z
from theory.language.vocabulary import VOCABULARY
from theory.models.activations import SIGMOID
from theory.models.gates.gate import Gate
from theory.proof import Variant


def test_no_new_kind_of_axiom() -> None:
    """The lemmas on gates stand under names that the table had before."""
    others = {axiom.id for axiom in AXIOMS if axiom not in gate_axioms.GATE_AXIOMS}
    assert {axiom.id for axiom in gate_axioms.GATE_AXIOMS} <= others


def test_the_gate_is_the_sigmoid_of_the_table() -> None:
    """σ has one definition; a gate's steepest slope is that of its function at 0."""
    assert sigmoid(z) == SIGMOID
    for gate in (Gate("i", sigmoid), Gate("g", tanh)):
        assert gate.squash(z).diff(z).subs(z, 0) == gate.steepest


def test_axioms_in_numbers() -> None:
    """Entries and norms of a vector."""
    u = np.random.default_rng(5).normal(size=3)
    assert np.all(np.abs(u) <= np.abs(u).max())
    assert np.abs(u).max() <= np.linalg.norm(u) <= np.sqrt(3) * np.abs(u).max()


def open_gate(a: float) -> float:
    """σ."""
    return float(1 / (1 + np.exp(-a)))


Pair = tuple[float, float]


@dataclass(frozen=True)
class ScalarLSTM:
    """One unit and no more inputs than the biases: W and b by the names of the gates."""

    W: dict[str, float]
    b: dict[str, float]
    drive: float = 0.0  # U_i B_x = U_g B_x, both towards larger gates

    def bounds(self) -> dict[str, float]:
        """The constants, iterated."""
        h = 1.0
        for _ in range(60):
            most = {g: abs(self.W[g]) * h + self.b[g] for g in "ifo"}
            most["i"] += self.drive
            i, f, o = (open_gate(most[g]) for g in "ifo")
            g = np.tanh(abs(self.W["g"]) * h + abs(self.b["g"]) + self.drive)
            B_c = i * g / (1 - f)
            h = min(h, o * np.tanh(B_c))
        sizes = {g: abs(self.W[g]) for g in "ifgo"}
        theta = max(sizes["i"], sizes["o"], 4 * sizes["g"]) / (1 - f)
        return {
            "i_bar": i, "f_bar": f, "g_bar": g, "o_bar": o, "B_c": B_c, "tau": np.tanh(B_c),
            **{f"W_{gate}_inf": size for gate, size in sizes.items()}, "h_bar": h,
            "theta": max(theta, sizes["f"] / (1 - f) ** 2),
            "theta_plain": max(theta, sizes["f"] / (1 - f)),
        }  # fmt: skip

    def step(self, s: Pair, x: float = 0.0) -> Pair:
        """(c, h) after one step, x the input times its weight."""
        c, h = s
        a = {gate: self.W[gate] * h + self.b[gate] for gate in "ifgo"}
        cell = open_gate(a["f"]) * c + open_gate(a["i"] + x) * np.tanh(a["g"] + x)
        return cell, open_gate(a["o"]) * np.tanh(cell)

    def gaps(self, s: Pair, t: Pair, x: float = 0.0) -> dict[str, float]:
        """What one step makes of two states, in all names for it."""
        (c, h), (c_, h_) = self.step(s, x), self.step(t, x)
        after, before = max(abs(c - c_), abs(h - h_)), max(abs(s[0] - t[0]), abs(s[1] - t[1]))
        names = {"gate_gap": after, "gate_state_gap": before}
        return names | {"wide_gap": after, "wide_state_gap": before}


E = 1e-4


def ratio(statement: Statement, values: dict[str, float]) -> float:
    """lhs/rhs."""
    sides = statement.lhs, statement.rhs
    names = {VOCABULARY[name].symbol: v for name, v in values.items() if name in VOCABULARY}
    lhs, rhs = (float(side.subs(names).evalf()) for side in sides)
    return lhs / rhs


def lstm(variant: str) -> Variant:
    """By its name."""
    return CONTRACTION_LSTM.variant(variant)


ZEROS = dict.fromkeys("ifgo", 0.0)
SLOW = ScalarLSTM(ZEROS | {"g": 0.3}, {"i": 30.0, "f": 1.0, "g": 0.0, "o": 5.0}, 1.0)
FORGETFUL = ScalarLSTM(ZEROS | {"f": 0.5}, {"i": 6.0, "f": 2.0, "g": 0.0, "o": 6.0}, 3.0)
SHOWING = ScalarLSTM(ZEROS | {"o": 6.0}, {"i": -0.05, "f": 2.0, "g": 0.15, "o": -1.63})
PLAIN = ScalarLSTM(
    {"i": 0.124875, "f": 0.124875, "g": 0.999 / 32, "o": 0.124875},
    {"i": 0.0, "f": np.log(7) - 0.124875, "g": 20.0, "o": 20.0},
    20.0,
)
CORNERS = {
    "candidate-slope": (SLOW, False, 0.0),
    "one-thousandth": (SLOW, False, 0.0),
    "forget-gate-fixed": (FORGETFUL, True, 3.0),
    "output-of-new-cells": (SHOWING, True, 0.0),
    "square-dropped": (PLAIN, True, 0.0),
}


@pytest.mark.parametrize("name", CORNERS)
def test_one_step_variants_in_numbers(name: str) -> None:
    """Two states near 0, or near the corner of the box, refute the variant and not the claim."""
    cell, corner, x = CORNERS[name]
    bounds = cell.bounds()
    c, h = (bounds["B_c"], bounds["h_bar"]) if corner else (E / 2, E / 2)
    assert bounds["B_c"] >= E / 2
    assert bounds["h_bar"] >= E / 2
    values = bounds | cell.gaps((c, h), (c - E, h - E), x)
    assert ratio(lstm(name).statement, values) > 1
    assert ratio(CONTRACTION_LSTM.statement, values) <= 1


def test_all_cells_in_numbers() -> None:
    """A cell of 1000 feels a forget gate that moves."""
    cell = FORGETFUL
    assert ratio(lstm("all-cells").statement, cell.bounds() | cell.gaps((1e3, 0), (1e3, E))) > 10


def test_sizes_in_numbers() -> None:
    """A run on a constant input leaves what one step reaches, and reaches the box's corner."""
    cell = ScalarLSTM(ZEROS, {"i": 2.0, "f": 2.0, "g": 1.0, "o": 0.0})
    s = (0.0, 0.0)
    for _ in range(200):
        s = cell.step(s)
    values = cell.bounds() | {"c_size": s[0], "h_size": s[1]}
    assert ratio(lstm("one-step-size").statement, values) > 5
    assert ratio(lstm("squared-output-gate").statement, values) > 1.9
    for form in ("invariant-cell", "invariant-output"):
        assert ratio(CONTRACTION_LSTM.form(form).statement, values) == pytest.approx(1)


def test_weights_in_numbers() -> None:
    """The weight that balances c and h makes the factor smaller than the plain gap."""
    cell = ScalarLSTM(SLOW.W, SLOW.b | {"o": -2.0}, SLOW.drive)
    values = cell.bounds() | cell.gaps((E / 2, E / 2), (-E / 2, -E / 2)) | {"omega": 0.12}
    assert ratio(lstm("without-weight").statement, values) > 1.3


def test_two_norm_in_numbers() -> None:
    """One column that feeds all n cells: the 2-norm grows by nearly √(2n) λ at the first step."""
    n, W = 64, 0.5
    values = {"i_bar": 1.0, "f_bar": 0.0, "g_bar": 1.0, "o_bar": 1.0, "B_c": 1.0, "tau": 1.0}
    values |= dict.fromkeys(("W_i_inf", "W_f_inf", "W_o_inf"), 0.0) | {"W_g_inf": W, "T": 1, "n": n}
    grown = np.sqrt(2 * n) * np.tanh(W * E)
    assert ratio(lstm("two-norm").statement, values | {"run_gap": grown, "start_gap": E}) > 10
    iterated = CONTRACTION_LSTM.form("iterated").statement
    assert ratio(iterated, values | {"run_gap": grown, "start_gap": E}) <= 1


@dataclass(frozen=True)
class ScalarGRU:
    """One unit, torch's convention unless `cho`; x is added to the candidate's argument."""

    W: dict[str, float]
    b: dict[str, float]
    c_n: float = 0.0
    cho: bool = False

    def bounds(self) -> dict[str, float]:
        """The constants on |h| ≤ 1."""
        sizes = {f"W_{g}_inf": abs(self.W[g]) for g in "rzn"}
        r, z = (open_gate(abs(self.W[g]) + self.b[g]) for g in "rz")
        least = open_gate(-abs(self.W["z"]) + self.b["z"])
        return {"r_bar": r, "z_bar": z, "z_low": least, "c_n_inf": abs(self.c_n), **sizes}

    def step(self, h: float, x: float = 0.0) -> float:
        """h after one step."""
        r, z = (open_gate(self.W[g] * h + self.b[g]) for g in "rz")
        hidden = self.W["n"] * r * h if self.cho else r * (self.W["n"] * h + self.c_n)
        return z * h + (1 - z) * float(np.tanh(self.b["n"] + x + hidden))

    def ratio(self, statement: Statement, h: float, x: float = 0.0) -> float:
        """Of one step from two states near h."""
        gap = abs(self.step(h + E / 2, x) - self.step(h - E / 2, x))
        return ratio(statement, self.bounds() | {"gate_gap": gap, "gate_state_gap": E})


STILL = {"r": 30.0, "z": 0.0, "n": 0.0}
GRUS = {
    "update-gate-fixed": (ScalarGRU({"r": 0, "z": -0.5, "n": 0}, STILL), -0.9, 5.0),
    "update-gate-half": (ScalarGRU({"r": 0, "z": -0.5, "n": 0}, STILL), -0.9, 5.0),
    "cho-factor": (ScalarGRU({"r": 1, "z": 0, "n": 0}, {"r": 0, "z": 0, "n": -2}, 4.0), 0.0, 0.0),
    "reset-gate-fixed": (
        ScalarGRU({"r": 1, "z": 0, "n": 0}, {"r": 0, "z": 0, "n": -2}, 4.0),
        0.0,
        0.0,
    ),
    "update-gate-low": (ScalarGRU({"r": 0, "z": 0.2, "n": 0}, STILL), 0.9, 0.0),
    "one-thousandth": (ScalarGRU({"r": 0, "z": 0, "n": 0.9}, STILL), 0.0, 0.0),
    "cho-reset-gate-fixed": (
        ScalarGRU({"r": 1, "z": 0, "n": 3}, {"r": -0.9, "z": -30, "n": -1.35}, cho=True),
        0.9,
        0.0,
    ),
}


@pytest.mark.parametrize("name", GRUS)
def test_gru_variants_in_numbers(name: str) -> None:
    """One step of a small cell refutes the variant and not the claim."""
    cell, h, x = GRUS[name]
    form = CONTRACTION_GRU.form("cho" if cell.cho else "torch")
    assert cell.ratio(CONTRACTION_GRU.variant(name).statement, h, x) > 1
    assert cell.ratio(form.statement, h, x) <= 1


def test_gru_size_in_numbers() -> None:
    """A slow update gate lets the output grow for many steps."""
    cell, h = ScalarGRU({"r": 0, "z": 0, "n": 0}, {"r": 0, "z": 2.0, "n": 3.0}), 0.0
    for _ in range(50):
        h = cell.step(h)
    values = cell.bounds() | {"h_size": h}
    assert ratio(CONTRACTION_GRU.variant("one-step-size").statement, values) > 5
    assert ratio(CONTRACTION_GRU.form("invariant").statement, values) <= 1
