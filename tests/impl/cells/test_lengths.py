"""A number of one unit that meets n units is that number for each of them, in every arithmetic."""

import gc
import weakref
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnbounds.impl.cells.kind import fixed
from rnnbounds.impl.cells.program import ProgramCell, program_kind
from rnnbounds.impl.cells.table import CELLS, kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.errors import InputError

SHAPES = {"U": "n d", "W": "n n", "w": "1 n", "u": "1 d", "g": "n", "c": "1"}
OPTIONAL = ("W", "w", "u", "g", "c")


def step_of(tree, m, s, x):
    """The step that a tree of words says, over any numbers."""
    word, *parts = tree
    if word in ("W", "w"):
        return m.affine(word, None, s)
    if word in ("U", "u"):
        return m.affine(word, None, x)
    if word in ("g", "c"):
        return m.vector(word)
    told = [step_of(part, m, s, x) for part in parts]
    if word == "+":
        return told[0] + told[1]
    if word == "*":
        return told[0] * told[1]
    if word == "mix":
        return m.mix(told[0].sigmoid(), told[1], told[2])
    return getattr(told[0], word)()


def register(monkeypatch, name, step, shapes=SHAPES, **more):
    """A kind of cells whose program is a function."""

    class Own(ProgramCell):
        reads = "U"

        def program(self, m, s, x):
            return step(m, s, x)

    for field, value in more.items():
        setattr(Own, field, value)
    kind = program_kind(name, Own, fixed(shapes, OPTIONAL))
    monkeypatch.setitem(CELLS, name, kind)
    return kind


@dataclass(eq=False)
class Plain:
    """Values (units,) and their Jacobians in the state (units, n), by NumPy's own broadcasting."""

    value: np.ndarray
    slopes: np.ndarray

    def __add__(self, other):
        return Plain(self.value + other.value, self.slopes + other.slopes)

    def __mul__(self, other):
        ours, theirs = other.value[:, None] * self.slopes, self.value[:, None] * other.slopes
        return Plain(self.value * other.value, ours + theirs)

    def tanh(self):
        value = np.tanh(self.value)
        return Plain(value, (1 - value**2)[:, None] * self.slopes)

    def sigmoid(self):
        value = 1 / (1 + np.exp(-self.value))
        return Plain(value, (value * (1 - value))[:, None] * self.slopes)


@dataclass(eq=False)
class PlainArithmetic:
    """The same of parameters."""

    weights: dict
    n: int

    def affine(self, weight, bias, v):
        W = self.weights[weight]
        return Plain(W @ v.value, W @ v.slopes)

    def vector(self, name):
        value = self.weights[name]
        return Plain(value, np.zeros((len(value), self.n)))

    def mix(self, gate, a, b):
        one = Plain(np.ones(1), np.zeros((1, self.n)))
        less = Plain(np.full(1, -1.0), np.zeros((1, self.n)))
        return gate * a + (one + less * gate) * b


leaves = st.sampled_from([(word,) for word in SHAPES])
trees = st.recursive(
    leaves,
    lambda part: st.one_of(
        st.tuples(st.sampled_from(["+", "*"]), part, part),
        st.tuples(st.just("mix"), part, part, part),
        st.tuples(st.sampled_from(["tanh", "sigmoid"]), part),
    ),
    max_leaves=5,
)


@pytest.mark.slow
@settings(max_examples=150)
@given(trees, st.integers(2, 4), st.integers(0, 2**32 - 1), st.sampled_from([0.2, 0.6, 1.0]))
def test_no_factor_is_below_what_one_step_does(tree, n, seed, scale):
    """λ of each norm bounds ‖∂h⁺/∂h‖ in it, wherever a NumPy model of the same cell looks."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        register(monkeypatch, "own", lambda m, s, x: step_of(("tanh", tree), m, s, x))
        generator = np.random.default_rng(seed)
        sizes = {"n": n, "d": 1, "1": 1}
        weights = {
            name: generator.uniform(-scale, scale, [sizes[part] for part in shape.split()])
            for name, shape in SHAPES.items()
        }
        if seed % 2:  # equal weights, where one row for all units is the furthest off
            weights = {name: np.full_like(part, scale) for name, part in weights.items()}
        stored = {name: torch.tensor(part) for name, part in weights.items()}
        found = certify(stored, 0.5, cell="own")
        m, eye = PlainArithmetic(weights, n), np.eye(n)
        still = np.zeros((1, n))
        for _ in range(20):
            s, x = generator.uniform(-1, 1, n), generator.uniform(-0.5, 0.5, 1)
            h = np.zeros(n)
            for _ in range(3):  # a state that the cell reaches
                h = at(tree, m, Plain(h, eye), Plain(x, still), n).value
            for state in (h, h * np.abs(s)):
                J = at(tree, m, Plain(state, eye), Plain(x, still), n).slopes
                for name, factor, _ in found.tried:
                    if name == "spectral":
                        assert np.linalg.norm(J, 2) <= factor * (1 + 1e-9) + 1e-12
                    elif name == "infinity":
                        assert np.abs(J).sum(1).max() <= factor * (1 + 1e-9) + 1e-12


def at(tree, m, s, x, n):
    """One step of the NumPy model, for n units."""
    told = step_of(("tanh", tree), m, s, x)
    return Plain(np.broadcast_to(told.value, n), np.broadcast_to(told.slopes, (n, n)))


def test_one_row_for_two_units_is_bistable(monkeypatch):
    """tanh(w h + x) of two units with w = (.6, .6) is tanh(1.2 h) on equal states: no norm
    certifies what was once certified with λ = .8485."""
    register(
        monkeypatch, "own", lambda m, s, x: (m.affine("w", None, s) + m.affine("U", None, x)).tanh()
    )
    weights = {"w": torch.tensor([[0.6, 0.6]]), "U": torch.ones(2, 1)}
    found = certify(weights, 0.1, cell="own")
    assert found.verdict == "refuted"
    assert min(factor for _, factor, _ in found.tried) >= 1.2


def test_one_gate_for_four_units(monkeypatch):
    """(w h) g of four units with w = g = .6 grows by 1.44 a step, in every norm."""
    register(
        monkeypatch,
        "own",
        lambda m, s, x: m.affine("w", None, s) * m.vector("g") + m.affine("U", None, x),
    )
    weights = {"w": torch.full((1, 4), 0.6), "g": torch.full((4,), 0.6), "U": torch.ones(4, 1)}
    assert min(factor for _, factor, _ in certify(weights, 0.1, cell="own").tried) >= 1.44


def branches(m, s, x):
    """A step that asks which number is larger."""
    return s if s > 0 else m.affine("U", None, x)


@pytest.mark.parametrize(
    ("step", "told"),
    [
        (branches, "raises TypeError"),
        (lambda m, s, x: m.affine("W", None, s) + m.affine("V", None, x), "reads 'V'"),
        (lambda m, s, x: s.part(0, 2) + s, "combines 2 and 3 units"),
        (lambda m, s, x: m.join(s, s), "combines 6 and 3 units"),
        (lambda m, s, x: m.join(*s.chunk(2)), "cuts 3 units into 2 equal parts"),
        (lambda m, s, x: s.part(1, 5), "takes the units 1 to 5 of 3"),
        (lambda m, s, x: s * None, "raises"),
        (lambda m, s, x: torch.relu(s), "raises TypeError"),
        (lambda m, s, x: m.activate("relu6", s), "unknown activation 'relu6'"),
    ],
)
def test_what_no_arithmetic_can_run_is_one_line(monkeypatch, step, told):
    """At the door, before any arithmetic has begun."""
    register(monkeypatch, "own", step)
    with pytest.raises(InputError, match=told) as error:
        certify({"U": torch.ones(3, 2), "W": torch.eye(3) / 2}, 1.0, cell="own")
    assert "\n" not in str(error.value)


def test_no_weights_are_kept_alive():
    """What is remembered of a step are lengths: no weights of a cell or of its layers."""
    stack = kind_of("stacked-gru")
    weights = torch.nn.GRU(2, 3, 2).double().state_dict()
    cell = stack.build({name: part[None].clone() for name, part in weights.items()})
    cell.step(torch.zeros(1, 6, 1).double(), torch.zeros(1, 2, 1).double())
    held = [weakref.ref(part) for layer in cell.layers for part in layer.parameters.values()]
    del cell
    gc.collect()
    assert [ref() for ref in held if ref() is not None] == []
