"""An independent program: one system, one sequence, one window at a time, in plain NumPy."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from flint import arb, ctx

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.systems.batch import Batch, build_batch
from rnnbounds.properties.systems.spec import INPUTS, REGIMES, Values
from rnnbounds.properties.systems.table import make_spec

Array = np.ndarray
erf = np.vectorize(math.erf)
RHO: dict[str, Callable[[Array], Array]] = {
    "identity": lambda z: z,
    "relu": lambda z: np.maximum(z, 0),
    "leaky-relu": lambda z: np.where(z > 0, z, 0.01 * z),
    "tanh": np.tanh,
    "sigmoid": lambda z: 1 / (1 + np.exp(-z)),
    "softplus": lambda z: np.logaddexp(0, z),
    "gelu": lambda z: 0.5 * z * (1 + erf(z / math.sqrt(2))),
    "silu": lambda z: z / (1 + np.exp(-z)),
    "elu": lambda z: np.where(z > 0, z, np.expm1(np.minimum(z, 0))),
    "erf": erf,
    "sin": np.sin,
    "arctan": np.arctan,
}


class Loop:
    """One system and one input sequence, stepped by hand."""

    def __init__(self, batch: Batch, member: int, sequence: int) -> None:
        cell = batch.cell
        self.rho = RHO[cell.activation.name]
        self.W, self.U, self.b = (a[member].numpy() for a in (cell.W, cell.U, cell.b))
        self.C = batch.C[member].numpy()
        self.x = batch.x[member, :, :, sequence].numpy()
        self.h, self.other = (a[member, :, sequence].numpy() for a in (batch.h, batch.h_other))
        known = batch.constants
        self.D, self.v = known.D[member].numpy(), known.v[member].numpy()

    def step(self, h: Array, x: Array) -> Array:
        return self.rho(self.W @ h + self.U @ x + self.b)

    def run(self, x: Array) -> Array:
        h = np.zeros(len(self.W))
        for row in x:
            h = self.step(h, row)
        return h

    def reading(self, name: str, k: int) -> float:
        T = len(self.x)
        gap = self.run(self.x) - self.run(self.x[T - k :] if k else self.x[:0])
        step = self.step(self.h, self.x[0]) - self.step(self.other, self.x[0])
        pair = self.h - self.other
        vectors = {
            "h_norm": self.run(self.x),
            "h_start": self.run(self.x[: T - k]),
            "h_gap": gap,
            "y_gap": self.C @ gap,
            "step_gap": step,
            "state_gap": pair,
            "step_gap_D": self.D @ step,
            "state_gap_D": self.D @ pair,
        }
        if name == "dh_dx":
            return self.slope(k)
        if name.endswith("_v"):
            return float(np.max(np.abs(step if name == "step_gap_v" else pair) / self.v))
        return math.sqrt(float(np.sum(vectors[name] ** 2)))

    def slope(self, k: int, width: float = 1e-6) -> float:
        """‖∂h_T/∂x_{T−k}‖₂ by central differences; no input before the first has a derivative."""
        T = len(self.x)
        if k >= T:
            return 0.0
        columns = []
        for j in range(self.x.shape[1]):
            up, down = self.x.copy(), self.x.copy()
            up[T - 1 - k, j] += width
            down[T - 1 - k, j] -= width
            columns.append((self.run(up) - self.run(down)) / (2 * width))
        return float(np.linalg.norm(np.stack(columns, axis=1), 2))


SMOOTH = [name for name in sorted(RHO) if name not in ("relu", "leaky-relu", "elu")]
EXACT_NAMES = (
    "h_norm", "h_start", "h_gap", "y_gap", "step_gap", "state_gap",
    "step_gap_D", "state_gap_D", "step_gap_v", "state_gap_v",
)  # fmt: skip


def test_the_oracle_knows_every_activation() -> None:
    """No activation goes without an independent program."""
    assert set(RHO) == set(ACTIVATIONS)


@pytest.mark.slow
@pytest.mark.parametrize("activation", sorted(RHO))
def test_readings_agree_with_the_loop(activation: str) -> None:
    """Batched readings equal the plain loop's, for every activation, regime and input in turn."""
    start = sorted(RHO).index(activation)
    for i in range(start, start + 4):
        spec = make_spec(
            activation=activation, regime=REGIMES[i % 9], inputs=INPUTS[i % 7],
            n=1 + i % 3, d=1 + i % 2, T=5, K=5, lam=0.8 / ACTIVATIONS[activation].slope,
            bias=0.5, seed=i, batch=2, sequences=2,
        )  # fmt: skip
        batch = build_batch(spec)
        for name in EXACT_NAMES:
            read, found = MEASURES[name].value, MEASURES[name].enclose(batch)
            assert read is not None
            values = read(batch)
            for member, sequence in ((0, 0), (1, 1)):
                loop = Loop(batch, member, sequence)
                for k in range(values.shape[2]):
                    here = (member, sequence, k)
                    value = loop.reading(name, k)
                    assert float(values[here]) == pytest.approx(value, rel=1e-9, abs=1e-12), name
                    assert found.lo[here] <= value * (1 + 1e-12) + 1e-300
                    assert found.hi[here] >= value * (1 - 1e-12) - 1e-13


@pytest.mark.parametrize("activation", SMOOTH)
def test_derivatives_agree_with_differences(activation: str) -> None:
    """‖∂h_T/∂x_t‖ equals a central difference of the plain loop to its accuracy."""
    spec = make_spec(
        activation=activation, regime="gaussian", inputs="gaussian", n=3, d=2, T=4, K=4,
        lam=0.9 / ACTIVATIONS[activation].slope, bias=0.5, batch=2, sequences=2, seed=3,
    )  # fmt: skip
    batch = build_batch(spec)
    found = MEASURES["dh_dx"].enclose(batch)
    for k in range(5):
        value = Loop(batch, 1, 1).slope(k)
        assert found.hi[1, 1, k] == pytest.approx(value, rel=1e-6, abs=1e-8)
        assert found.lo[1, 1, k] == pytest.approx(value, rel=1e-6, abs=1e-8)


def test_quadratic_norms_agree_with_the_loop() -> None:
    """step_gap_P and state_gap_P are ‖Q ·‖₂ of the same vectors."""
    batch = build_batch(make_spec(kind="linear", regime="shear", n=2, T=3, batch=2))
    for member in range(2):
        loop, Q = Loop(batch, member, 0), batch.constants.P_root[member].numpy()
        step = loop.step(loop.h, loop.x[0]) - loop.step(loop.other, loop.x[0])
        for name, vector in (("step_gap_P", step), ("state_gap_P", loop.h - loop.other)):
            found = MEASURES[name].enclose(batch)
            assert found.hi[member, 0, 0] == pytest.approx(np.linalg.norm(Q @ vector), rel=1e-9)


@pytest.mark.parametrize("T", [3, 5])
def test_descent_agrees_with_the_loop(T: int) -> None:
    """The least growth of gradient descent equals a plain float loop's."""
    for a, alpha in ((1.5, 1.0), (1.25, 0.125), (2.0, 0.375)):
        spec = make_spec(kind="descent", T=T, lam=a, alpha=alpha)
        growth, value = math.inf, a
        for t in range(1, 4):
            slope = sum(i * value ** (2 * i - 1) for i in range(1, T))
            moved = value - alpha / t * slope
            growth, value = min(growth, abs(moved) / abs(value)), moved
        ball = MEASURES["descent_growth"].ball(build_batch(spec), 0, 256)
        assert float(ball) == pytest.approx(growth, rel=1e-9)


def test_descent_that_stops_does_not_grow() -> None:
    """a = 0 is a fixed point of descent, so its growth is 0."""
    spec = make_spec(kind="descent", T=3, lam=0.0)
    assert MEASURES["descent_growth"].exact_square(build_batch(spec), 0, 64) == 0


def pair(**parts: list) -> Batch:  # type: ignore[type-arg]
    """One linear system of one state and one input."""
    plain = {"W": [[0.5]], "U": [[1.0]], "b": [0.0], "C": [[1.0]], "x": [[1.0]]}
    values = Values(**(plain | {"h": [0.0], "h_other": [0.0]} | parts))
    return build_batch(make_spec(activation="identity", T=len(values.x), values=values))


def encloses(batch: Batch, name: str) -> bool:
    """True if the float64 enclosure of a measure at k = 0 meets its ball."""
    found = MEASURES[name].enclose(batch)
    with ctx.workprec(3000):
        truth = MEASURES[name].ball(batch, 0, 3000)
        low, high = (arb(float(end[0, 0, 0])) for end in (found.lo, found.hi))
        return not (truth < low or truth > high)


def test_a_readout_that_underflows_is_not_exactly_zero() -> None:
    """C and the gap are both 2⁻⁶⁰⁰: their product is 0 in float64 only."""
    assert encloses(pair(C=[[2.0**-600]], x=[[2.0**-600]]), "y_gap")


def test_a_readout_with_many_rows() -> None:
    """The norm of many outputs is rounded more often than that of one state."""
    rows = 1 + np.random.Generator(np.random.Philox(key=1)).random(20_000) / 2
    assert encloses(pair(C=[[value] for value in rows.tolist()]), "y_gap")
    assert encloses(pair(C=[[1.1]] * 20_000), "y_gap")


def test_subnormal_gaps_are_not_exact() -> None:
    """|h_i|/v_i is rounded there by more than a relative error says."""
    for steps in range(1, 40):
        h, W = [steps * 5e-324, steps * 1.5e-323], [[0.5, 0.3], [0.2, 0.1]]
        values = Values(W=W, U=[[1.0], [1.0]], b=[0.0] * 2, C=W, x=[[0.0]], h=h, h_other=[0.0, 0.0])
        batch = build_batch(make_spec(n=2, values=values))
        for name in ("state_gap_v", "state_gap_P", "state_gap_D"):
            assert encloses(batch, name)
