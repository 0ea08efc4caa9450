"""Own cells: certificates against a model in NumPy alone."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import rnnbounds
from rnnbounds.impl.errors import InputError

UNARY = ("tanh", "sigmoid", "sin", "softplus", "relu")


@dataclass(frozen=True)
class Own:
    """A formula with its numbers: matrices (n, ·) and vectors (n,) by name."""

    formula: Any
    bounded: str
    weights: dict[str, np.ndarray]

    @property
    def box(self) -> float:
        """|h_i| of all states from zero on, with room for roundings."""
        return float(np.abs(self.weights["c"]).max() + 0.125) * (1 + 1e-9)

    def kind(self, name: str = "own") -> Any:
        """The registered kind."""
        drawn, side = self, self.box

        class Cell(rnnbounds.cells.ProgramCell):
            reads = "U"

            def program(self, m, s, x):
                found = getattr(made(m, drawn.formula, {"s": s, "x": x}), drawn.bounded)()
                return m.vector("c") * found + 0.125 * m.affine("U", None, x).tanh()

            def box(self, B):
                return torch.full((self.batch, self.n), side, dtype=torch.float64)

        shapes = {"U": "n d"}
        for key, W in self.weights.items():
            columns = [] if W.ndim == 1 else ["d" if key.startswith("x") else "n"]
            rows = str(len(W)) if len(W) != len(self.weights["U"]) else "n"
            shapes.setdefault(key, " ".join([rows, *columns]))
        return rnnbounds.cells.program_kind(name, Cell, rnnbounds.cells.fixed(shapes))

    def tensors(self) -> dict[str, torch.Tensor]:
        """The weights as a model has them."""
        return {key: torch.from_numpy(W) for key, W in self.weights.items()}

    def cell(self) -> Any:
        """The cell, a batch of one."""
        return self.kind().cell_of(self.tensors())

    def step(self, s: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """φ(s, x) (n,) and its Jacobian in (s, x) (n, n + d)."""
        n, d = len(s), len(x)
        eye = np.eye(n + d)
        told = {"s": (s, eye[:n]), "x": (x, eye[n:])}
        value, slope = applied(self.bounded, *seen(self.formula, self.weights, told))
        fed, steep = applied("tanh", self.weights["U"] @ x, self.weights["U"] @ eye[n:])
        c = self.weights["c"]
        return c * value + fed / 8, c[:, None] * slope + steep / 8

    def run(self, s: np.ndarray, inputs: list[np.ndarray]) -> np.ndarray:
        """s_0, s_1, … under these inputs, (T + 1, n)."""
        found = [s]
        for x in inputs:
            found.append(self.step(found[-1], x)[0])
        return np.array(found)


def made(m: Any, formula: Any, terms: dict[str, Any]) -> Any:
    """A formula over any arithmetic."""
    match formula:
        case ("affine", name, of):
            return m.affine(name, None, terms[of])
        case ("vector", name):
            return m.vector(name)
        case ("scaled", c, a):
            return c * made(m, a, terms)
        case ("relu", a):
            return m.activate("relu", made(m, a, terms))
        case (name, a):
            return getattr(made(m, a, terms), name)()
        case ("mix", *parts):
            return m.mix(*(made(m, part, terms) for part in parts))
        case (sign, a, b):
            one, two = made(m, a, terms), made(m, b, terms)
            return one + two if sign == "+" else one * two


def seen(formula: Any, weights: dict[str, np.ndarray], terms: Any) -> Any:
    """A formula's value (m,) and Jacobian (m, n + d) at a point."""
    width = len(weights["U"]) + weights["U"].shape[1]
    match formula:
        case ("affine", name, of):
            return tuple(weights[name] @ part for part in terms[of])
        case ("vector", name):
            return weights[name], np.zeros((len(weights[name]), width))
        case ("scaled", c, a):
            return tuple(c * part for part in seen(a, weights, terms))
        case ("mix", *parts):
            (g, dg), (a, da), (b, db) = (seen(part, weights, terms) for part in parts)
            moved = g[:, None] * da + (1 - g)[:, None] * db + (a - b)[:, None] * dg
            return g * a + (1 - g) * b, moved
        case (name, a):
            return applied(name, *seen(a, weights, terms))
        case (sign, one, two):
            (a, da), (b, db) = (seen(part, weights, terms) for part in (one, two))
            if sign == "+":
                return a + b, da + db
            return a * b, a[:, None] * db + b[:, None] * da


def applied(name: str, v: np.ndarray, slope: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A function of each unit, by the chain rule."""
    sigmoid = 1 / (1 + np.exp(-v))
    value, steep = {
        "tanh": (np.tanh(v), 1 - np.tanh(v) ** 2),
        "sigmoid": (sigmoid, sigmoid * (1 - sigmoid)),
        "sin": (np.sin(v), np.cos(v)),
        "softplus": (np.log1p(np.exp(v)), sigmoid),
        "relu": (np.maximum(v, 0), (v > 0) * 1.0),
    }[name]
    return value, steep[:, None] * slope


@st.composite
def own_cells(draw: Any) -> Own:
    """Cells of one to four units: sums, products, functions and gates of terms."""
    n, d = draw(st.integers(1, 4)), draw(st.integers(1, 2))
    numbers = np.random.default_rng(draw(st.integers(0, 2**16)))
    alike = draw(st.booleans())  # all of one sign, which add up
    weights: dict[str, np.ndarray] = {}

    def parameter(prefix: str, *columns: int) -> str:
        name = f"{prefix}{len(weights)}"
        shape = (n, *columns)
        value = numbers.uniform(0.2, 1.2, shape) / max(1, *columns, 1) ** 0.5
        weights[name] = value if alike else value * numbers.choice([-1.0, 1.0], shape)
        return name

    def leaf() -> Any:
        kind = draw(st.sampled_from(("s", "s", "x", "vector")))
        if kind == "vector":
            return ("vector", parameter("v"))
        return ("affine", parameter(f"{kind}W", n if kind == "s" else d), kind)

    def formula(depth: int) -> Any:
        how = draw(st.sampled_from(("leaf", *UNARY, "scaled", "+", "*", "mix")))
        if how == "leaf" or not depth:
            return leaf()
        if how == "scaled":
            return ("scaled", draw(st.sampled_from((-1.0, 0.5, 0.75))), formula(depth - 1))
        if how == "mix":
            gate = ("sigmoid", formula(depth - 1))
            return ("mix", gate, formula(depth - 1), formula(depth - 1))
        parts = 1 if how in UNARY else 2
        return (how, *(formula(depth - 1) for _ in range(parts)))

    found = formula(draw(st.integers(0, 3)))
    weights["c"] = numbers.uniform(0.3, 1.0, n)
    weights["U"] = numbers.normal(size=(n, d)) / 2
    return Own(found, draw(st.sampled_from(("tanh", "sin"))), weights)


ROUNDING = 1 + 1e-9  # of the model's floats


def size(J, norm, weights):
    """The operator norm of a Jacobian in the norm of a certificate."""
    if norm == "spectral":
        return np.linalg.norm(J, 2)
    v = np.ones(len(J)) if weights is None else np.array(weights)
    return float((np.abs(J) @ v / v).max())


def states(cell, count=24):
    """States of the box and inputs of the unit ball: corners, equal units, points inside."""
    numbers, (n, d) = np.random.default_rng(0), cell.weights["U"].shape
    for i in range(count):
        s = numbers.uniform(-1, 1, n if i % 3 else 1) * np.ones(n)
        s = np.sign(s) if i % 4 == 3 else s * 0.5 ** (i % 5)
        x = numbers.normal(size=d)
        yield cell.box * s, x / np.linalg.norm(x) * (i % 2)


@pytest.mark.slow
@settings(max_examples=30)
@given(own_cells())
def test_certificates_against_jacobians(drawn: Own):
    """In each norm no Jacobian in the states is larger than λ and none in the inputs than `fed`;
    the step is that of the model and stays in the box."""
    cell = drawn.cell()
    found, n = cell.comparison(1.0), len(drawn.weights["U"])
    box = found.box[0].numpy()
    norms = [found.norm(name) for name in ("spectral", "infinity", "perron", "comparison")]
    for s, x in states(drawn):
        s = s.clip(-box, box)
        value, J = drawn.step(s, x)
        assert (np.abs(value) <= box * ROUNDING).all()
        moved = cell.step(*(torch.from_numpy(v)[None, :, None] for v in (s, x)))[0, :, 0].numpy()
        assert np.allclose(moved, value, rtol=1e-12, atol=1e-12)
        for norm in norms:
            assert size(J[:, :n], norm.name, norm.weights) <= norm.lam * ROUNDING
            v = np.ones(n) if norm.name == "spectral" else np.array(norm.weights or [1.0] * n)
            rows = np.linalg.norm(J[:, n:], axis=1) / v
            fed = np.linalg.norm(J[:, n:], 2) if norm.name == "spectral" else rows.max()
            assert fed <= norm.input_lipschitz * ROUNDING


@pytest.mark.slow
@settings(max_examples=30)
@given(own_cells())
def test_certificates_against_runs(drawn: Own):
    """Two runs under the same inputs come together by λ a step in each norm, and one from zero and
    one from any state that is reached are no farther apart than what the comparison leaves."""
    found, zero = drawn.cell().comparison(1.0), np.zeros(len(drawn.weights["U"]))
    box, inputs = found.box[0].numpy(), [x for _, x in states(drawn, 12)]
    norms = [found.norm(name) for name in ("spectral", "infinity", "perron")]
    reached = drawn.run(zero, inputs[::-1])[-1]
    pairs = [(s.clip(-box, box), box) for s, _ in states(drawn, 6)]
    for one, two in [*pairs, (zero, reached)]:
        gaps = drawn.run(one, inputs) - drawn.run(two, inputs)
        for norm in norms:
            v = np.array(norm.weights or [1.0] * len(zero))
            sizes = [np.linalg.norm(gap) if norm.name == "spectral" else (np.abs(gap) / v).max()
                     for gap in gaps]  # fmt: skip
            for before, after in pairwise(sizes):
                assert after <= norm.lam * before * ROUNDING + 1e-14
            if two is reached and np.isfinite(norm.lam):
                left = np.array(norm.remaining.bounds(len(gaps))[: len(gaps)])
                assert (np.linalg.norm(gaps, axis=1) <= left * ROUNDING + 1e-14).all()


def test_one_unit_that_meets_several_is_refused():
    """tanh(1.2 h) of two equal units is bistable, and 0.6 Σ 0.6 h_j of four grows by 1.44: whoever
    takes one unit for n of them certifies each."""
    U, w = np.ones((2, 1)), np.full((1, 2), 0.6)
    sum_ = ("+", ("affine", "sw", "s"), ("affine", "xU", "x"))
    one = Own(sum_, "tanh", {"sw": w, "xU": U, "c": np.ones(2), "U": 0 * U})
    rows = {"sw": np.full((1, 4), 0.6), "c": np.full(4, 0.6), "U": np.zeros((4, 1))}
    gate = ("mix", ("sigmoid", ("affine", "sw", "s")), ("vector", "va"), ("vector", "vb"))
    shared = rows | {"va": np.ones(4), "vb": -np.ones(4), "c": np.ones(4)}
    four = Own(("affine", "sw", "s"), "sin", rows)
    for cell in (one, four, Own(gate, "sin", shared)):
        with pytest.raises(
            InputError, match=r"combines \d and \d units; write it with .* of equal"
        ):
            cell.cell().comparison(0.1)
