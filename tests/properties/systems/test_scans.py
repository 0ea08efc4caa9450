"""Modes, Jordan blocks and scans: members against SciPy and NumPy, and the claims on them."""

from math import comb

import numpy as np
import pytest
from any_kind import as_kind
from flint import fmpq
from msgspec.structs import replace
from scipy.signal import lfilter
from seen import verdicts

from rnnbounds.properties.attacks.extremal import SPECIAL
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.systems.batch import build
from rnnbounds.properties.systems.layered.jordan import Block
from rnnbounds.properties.systems.layered.modes import Mode
from rnnbounds.properties.systems.layered.scan import LEAST, Gate, Scan
from rnnbounds.properties.systems.table import KINDS, system
from rnnbounds.properties.systems.unitary.exact import nearest, rational

MODE = system(
    kind="modes", regime="complex", inputs="gaussian", d=2, T=6, K=6,
    seed=3, batch=8, sequences=2,
)  # fmt: skip
BLOCK = as_kind(MODE, "jordan", regime="turned", n=3, d=1, T=8, K=8, sequences=1)
SCAN = as_kind(MODE, "scan", regime="min-lstm", d=1, bias=1.0, lam=2.0)


@pytest.mark.parametrize("regime", KINDS["modes"].regimes)
def test_a_mode_is_a_filter(regime: str) -> None:
    """The path against SciPy's lfilter with the pole λ, complex ones as one complex number."""
    for member in build(replace(MODE, regime=regime)).exact:
        assert isinstance(member, Mode)
        A = np.array([[nearest(v) for v in row] for row in member.A.tolist()])
        B = np.array([[nearest(v) for v in row] for row in member.B.tolist()])
        x = np.array([[nearest(v) for v in row] for row in member.x[0]])
        pole = complex(A[0, 0], A[1, 0] if len(A) == 2 else 0)
        driven = x @ B.T
        signal = driven[:, 0] + 1j * (driven[:, 1] if len(A) == 2 else 0)
        expected = lfilter([1], [1, -pole], signal)
        times = reversed(range(member.spec.T))
        path = np.array([[nearest(v) for v in member.before(0, k)] for k in times])
        found = path[:, 0] + 1j * (path[:, 1] if len(A) == 2 else 0)
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-14)
        assert abs(pole) == pytest.approx(nearest(member.radius), abs=1e-15)
        assert member.constants()["lam"] == nearest(member.radius)
        gram = member.A.transpose() * member.A
        assert all(gram[i, i] == member.radius**2 for i in range(len(A)))


def test_a_mode_forgets_exactly() -> None:
    """|h_T − h_T^k|² is |λ|^2k |h_{T−k}|² in rationals, at every window."""
    for member in build(MODE).exact:
        assert isinstance(member, Mode)
        for k in range(7):
            assert member.gap(1, k) == member.radius ** (2 * k) * member.start(1, k)


@pytest.mark.parametrize("regime", KINDS["jordan"].regimes)
def test_powers_are_numpys(regime: str) -> None:
    """‖A^k‖₂ is enclosed, and its corner is C(k, i) ρ^{k−i}."""
    batch = build(replace(BLOCK, regime=regime))
    ends = MEASURES["power_norm"].enclose(batch)
    for i, member in enumerate(batch.exact):
        assert isinstance(member, Block)
        A = np.array([[nearest(v) for v in row] for row in member.A.tolist()])
        for k in range(9):
            norm = np.linalg.norm(np.linalg.matrix_power(A, k), 2)
            low, high = ends.lo[i, 0, k], ends.hi[i, 0, k]
            slack = 1e-14 + 1e-12 * high  # NumPy rounds too
            assert low - slack <= norm <= high + slack
            assert high <= low * (1 + 1e-6) + 1e-300
            if regime == "block" and k > 1:
                assert member.power(k)[0, 2] == comb(k, 2) * member.radius ** (k - 2)


def test_no_constant_is_enough() -> None:
    """Where ρ is small, a thousand times ρ^k is passed, and the polynomial is not."""
    spec = replace(SPECIAL["slow-corner"], batch=32)
    assert "VIOLATED" in verdicts("power_norm <= 1000*mode_radius**k", spec)


@pytest.mark.parametrize("regime", KINDS["scan"].regimes)
def test_a_scan_is_its_recursion(regime: str) -> None:
    """States against a loop of floats with the hard sigmoid; the product is the whole memory."""
    for member in build(replace(SCAN, regime=regime)).exact:
        assert isinstance(member, Scan)

        def decay(x: float, member: Scan = member) -> float:
            floor = 1 / 64 if regime == "min-lstm" else 0.0
            one, two = (
                float(np.clip(0.5 + (nearest(g.w) * x + nearest(g.c)) / 4, floor, 1))
                for g in member.gates
            )
            return one / (one + two) if regime == "min-lstm" else (1 - one) ** member.power

        s = 0.0
        for (x,), exact in zip(member.x[0], member.paths[0][1:], strict=True):
            s = decay(nearest(x)) * s + nearest(member.u) * nearest(x) + nearest(member.v)
            assert s == pytest.approx(nearest(exact), rel=1e-12, abs=1e-14)
        for k in range(7):
            assert member.gap(1, k) == member.product(1, k) * member.start(1, k)


@pytest.mark.parametrize("regime", KINDS["scan"].regimes)
def test_the_largest_decay_is_found(regime: str) -> None:
    """No input of a fine grid on the set decays more slowly, and some point attains it."""
    for seed in range(4):
        for member in build(replace(SCAN, regime=regime, seed=seed)).exact:
            assert isinstance(member, Scan)
            largest = member.constants()["decay_max"]
            grid = [member.decay(fmpq(i, 256)) for i in range(-256, 257)]
            assert max(grid) <= rational(largest)
            assert nearest(max(grid)) > largest - 0.05


def test_decays_of_the_mean() -> None:
    """Jensen: below the mean's for the log-concave ones, above it somewhere for minLSTM's."""
    for regime, seed in (("min-gru", 0), ("selective", 0), ("min-lstm", 0)):
        passed = False
        for member in build(replace(SCAN, regime=regime, seed=seed, batch=32)).exact:
            assert isinstance(member, Scan)
            for k in range(1, 7):
                mean = member.decay(member.mean(0, k))
                passed |= member.product(0, k) > mean**k
            assert member.parameters()["log_concave"] == (regime != "min-lstm")
        assert passed == (regime == "min-lstm")


def test_gates() -> None:
    """A gate's kinks are where it is clipped."""
    gate = Gate(fmpq(2), fmpq(1), LEAST)
    low, high = gate.kinks
    assert gate(low) == LEAST
    assert gate(high) == 1
    assert gate(low - 1) == LEAST
    assert Gate(fmpq(0), fmpq(1)).kinks == []
