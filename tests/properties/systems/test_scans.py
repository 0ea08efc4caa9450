"""Modes, Jordan blocks and scans: members against SciPy and NumPy, and the claims on them."""

from math import prod

import numpy as np
import pytest
from any_kind import as_kind
from flint import fmpq
from msgspec.structs import replace
from scipy.signal import lfilter
from seen import verdicts

from rnnbounds.properties.attacks.extremal import NAMED_SPECS
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.layered.jordan import JordanBlock
from rnnbounds.properties.systems.layered.modes import Mode
from rnnbounds.properties.systems.layered.scan import LEAST_GATE, Gate, Scan
from rnnbounds.properties.systems.table import KINDS, make_spec
from rnnbounds.properties.systems.unitary.exact import nearest_float, rational

MODE = make_spec(
    kind="modes", regime="complex", inputs="gaussian", d=2, T=6, K=6,
    seed=3, batch=8, sequences=2,
)  # fmt: skip
BLOCK = as_kind(MODE, "jordan", regime="turned", n=3, d=1, T=8, K=8, sequences=1)
SCAN = as_kind(MODE, "scan", regime="min-lstm", d=1, bias=1.0, lam=2.0)


@pytest.mark.parametrize("regime", KINDS["modes"].regimes)
def test_a_mode_is_a_filter(regime: str) -> None:
    """|h_t| against SciPy's lfilter with the pole λ, complex ones as one complex number."""
    batch = build_batch(replace(MODE, regime=regime))
    ends = MEASURES["mode_start"].enclose(batch)
    for i, member in enumerate(batch.exact):
        assert isinstance(member, Mode)
        A = np.array([[nearest_float(v) for v in row] for row in member.A.tolist()])
        B = np.array([[nearest_float(v) for v in row] for row in member.B.tolist()])
        x = np.array([[nearest_float(v) for v in row] for row in member.x[0]])
        pole = complex(A[0, 0], A[1, 0] if len(A) == 2 else 0)
        driven = x @ B.T
        signal = driven[:, 0] + 1j * (driven[:, 1] if len(A) == 2 else 0)
        expected = lfilter([1], [1, -pole], signal)
        found = ends.lo[i, 0, : member.spec.T][::-1]
        assert found == pytest.approx(np.abs(expected), rel=1e-12, abs=1e-14)
        assert abs(pole) == pytest.approx(nearest_float(member.radius), abs=1e-15)
        assert member.constants()["lam"] == nearest_float(member.radius)
        gram = member.A.transpose() * member.A
        assert all(gram[j, j] == member.radius**2 for j in range(len(A)))


def test_a_mode_forgets_exactly() -> None:
    """|h_T − h_T^k|² is |λ|^2k |h_{T−k}|² in rationals, at every window."""
    for i in range(MODE.batch):
        pair = build_batch(MODE.select_pair(i, 1))
        (member,) = pair.exact
        assert isinstance(member, Mode)
        for k in range(7):
            gap, start = (MEASURES[f"mode_{name}"].exact_square(pair, k, 128)
                          for name in ("gap", "start"))  # fmt: skip
            assert start is not None
            assert gap == member.radius ** (2 * k) * start


@pytest.mark.parametrize("regime", KINDS["jordan"].regimes)
def test_powers_are_numpys(regime: str) -> None:
    """‖A^k‖₂ is enclosed."""
    batch = build_batch(replace(BLOCK, regime=regime))
    ends = MEASURES["power_norm"].enclose(batch)
    for i, member in enumerate(batch.exact):
        assert isinstance(member, JordanBlock)
        A = np.array([[nearest_float(v) for v in row] for row in member.A.tolist()])
        for k in range(9):
            norm = np.linalg.norm(np.linalg.matrix_power(A, k), 2)
            low, high = ends.lo[i, 0, k], ends.hi[i, 0, k]
            slack = 1e-14 + 1e-12 * high  # NumPy rounds too
            assert low - slack <= norm <= high + slack
            assert high <= low * (1 + 1e-6) + 1e-300


def test_no_constant_is_enough() -> None:
    """A small ρ exceeds a thousand times ρ^k, but not the polynomial."""
    spec = replace(NAMED_SPECS["slow-corner"], batch=32)
    assert "VIOLATED" in verdicts("power_norm <= 1000*mode_radius**k", spec)


@pytest.mark.parametrize("regime", KINDS["scan"].regimes)
def test_a_scan_is_its_recursion(regime: str) -> None:
    """States against a loop of floats with the hard sigmoid; the product is the whole memory."""
    batch = build_batch(replace(SCAN, regime=regime))
    starts, gaps = (MEASURES[f"scan_{name}"].enclose(batch).lo for name in ("start", "gap"))
    for i, member in enumerate(batch.exact):
        assert isinstance(member, Scan)

        def decay(x: float, member: Scan = member) -> float:
            floor = 1 / 64 if regime == "min-lstm" else 0.0
            one, two = (
                float(np.clip(0.5 + (nearest_float(g.w) * x + nearest_float(g.c)) / 4, floor, 1))
                for g in member.gates
            )
            return one / (one + two) if regime == "min-lstm" else (1 - one) ** member.power

        s, inputs = 0.0, [nearest_float(x) for (x,) in member.x[0]]
        decays = [decay(x) for x in inputs]
        for t, (a, x) in enumerate(zip(decays, inputs, strict=True)):
            assert abs(s) == pytest.approx(starts[i, 0, 6 - t], rel=1e-12, abs=1e-14)
            s = a * s + nearest_float(member.u) * x + nearest_float(member.v)
        for k in range(7):
            product = prod(decays[6 - k :])
            assert gaps[i, 0, k] == pytest.approx(product * starts[i, 0, k], rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("regime", KINDS["scan"].regimes)
def test_the_largest_decay_is_found(regime: str) -> None:
    """No input of a fine grid on the set decays more slowly, and some point attains it."""
    for seed in range(4):
        for member in build_batch(replace(SCAN, regime=regime, seed=seed)).exact:
            assert isinstance(member, Scan)
            largest = member.constants()["decay_max"]
            grid = [member.decay(fmpq(i, 256)) for i in range(-256, 257)]
            assert max(grid) <= rational(largest)
            assert nearest_float(max(grid)) > largest - 0.05


def test_decays_of_the_mean() -> None:
    """Jensen: below the mean's for the log-concave ones, above it somewhere for minLSTM's."""
    for regime, seed in (("min-gru", 0), ("selective", 0), ("min-lstm", 0)):
        passed = False
        for member in build_batch(replace(SCAN, regime=regime, seed=seed, batch=32)).exact:
            assert isinstance(member, Scan)
            for k in range(1, 7):
                window = [x for (x,) in member.x[0][6 - k :]]
                mean = member.decay(sum(window, fmpq(0)) / k)
                passed |= prod(map(member.decay, window), start=fmpq(1)) > mean**k
            assert member.parameters()["log_concave"] == (regime != "min-lstm")
        assert passed == (regime == "min-lstm")


def test_gates() -> None:
    """A gate's kinks are where it is clipped."""
    gate = Gate(fmpq(2), fmpq(1), LEAST_GATE)
    low, high = gate.kinks
    assert gate(low) == LEAST_GATE
    assert gate(high) == 1
    assert gate(low - 1) == LEAST_GATE
    assert Gate(fmpq(0), fmpq(1)).kinks == []
