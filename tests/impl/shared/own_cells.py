"""Small cells of a user's own, drawn as formulas; and a model of them in NumPy alone.

A formula is a nested tuple: ("affine", name, "s" or "x"), ("vector", name), ("scaled", c, a),
(function, a), ("+", a, b), ("*", a, b), ("mix", gate, a, b). Parameters have a row a unit. The cell
is h⁺ = c∘f(formula) + tanh(U x)/8, so that |h_i| ≤ max|c| + 1/8.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st

import rnnbounds

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

        class Cell(rnnbounds.ProgramCell):
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
        return rnnbounds.program_kind(name, Cell, rnnbounds.fixed(shapes))

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
