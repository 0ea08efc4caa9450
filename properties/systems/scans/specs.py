"""What is drawn of modes, Jordan blocks and scans, and their extremal instances by name."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import strategies as st
from msgspec.structs import replace

from properties.systems.drawing.choices import pick, seeds
from properties.systems.kinds import EXACT_REGIMES
from properties.systems.spec import Kind, SystemSpec

DRIVES = ("gaussian", "constant", "alternating", "impulse", "zero")
MODE = SystemSpec(
    kind="modes", activation="identity", regime="complex", inputs="constant", T=8, K=8, batch=8
)
BLOCK = SystemSpec(
    kind="jordan", activation="identity", regime="block", inputs="zero", n=2, T=16, K=16, batch=8
)
SCAN = SystemSpec(
    kind="scan", activation="identity", regime="min-gru", inputs="constant", T=8, K=8, bias=1.0,
    batch=8,
)  # fmt: skip


@st.composite
def linear_specs(draw: st.DrawFn, kind: Kind, batch: int, sequences: int) -> SystemSpec:
    """A short run of one of these kinds, at every window."""
    T = draw(pick((5, 3, 8, 13, 1)))
    return SystemSpec(
        kind=kind,
        activation="identity",
        regime=draw(pick(EXACT_REGIMES[kind][::-1])),
        inputs=draw(pick(DRIVES)),
        n=draw(pick((2, 3, 3, 2))) if kind == "jordan" else 1,
        d=draw(pick((1, 2))) if kind == "modes" else 1,
        T=T,
        K=T,
        lam=draw(pick((0.5, 1.0, 2.0))),
        scale=draw(pick((1.0, 0.25, 2.0))),
        bias=draw(pick((1.0, 0.0))),
        seed=draw(seeds()),
        batch=min(batch, 8),
        sequences=min(sequences, 1 if kind == "jordan" else 2),
    )


def modes_specs(batch: int, sequences: int) -> st.SearchStrategy[SystemSpec]:
    """One mode of a diagonal recurrence."""
    return linear_specs("modes", batch, sequences)


def jordan_specs(batch: int, sequences: int) -> st.SearchStrategy[SystemSpec]:
    """A Jordan block of two or three rows."""
    return linear_specs("jordan", batch, sequences)


def scan_specs(batch: int, sequences: int) -> st.SearchStrategy[SystemSpec]:
    """One unit of a scan."""
    return linear_specs("scan", batch, sequences)


MODES: dict[str, SystemSpec] = {
    # Every mode attains its bound, at every window.
    "turning-mode": MODE,
}
BLOCKS: dict[str, SystemSpec] = {
    # ρ far below 1: the corner k ρ^{k−1} is a thousand times ρ^k.
    "slow-corner": replace(BLOCK, seed=2),
    "slow-corner-3": replace(BLOCK, n=3, seed=1),
}
SCANS: dict[str, SystemSpec] = {
    # The largest decay at every step.
    "constant-scan": SCAN,
    "late-reset": replace(SCAN, inputs="alternating", lam=2.0),
}


def modes() -> Iterator[SystemSpec]:
    """Real and complex eigenvalues, and a long memory."""
    for regime in EXACT_REGIMES["modes"]:
        for inputs in ("constant", "gaussian"):
            yield replace(MODE, regime=regime, inputs=inputs, d=2, seed=1)
    yield replace(MODE, T=32, K=32, batch=4)


def blocks() -> Iterator[SystemSpec]:
    """Blocks of one to three rows, turned or not."""
    for regime in EXACT_REGIMES["jordan"]:
        for n in (1, 2, 3):
            yield replace(BLOCK, regime=regime, n=n, T=12, K=12)


def scans() -> Iterator[SystemSpec]:
    """Decays that move little, and much."""
    for regime in EXACT_REGIMES["scan"]:
        for inputs in ("constant", "gaussian", "alternating"):
            for lam in (0.25, 2.0):
                yield replace(SCAN, regime=regime, inputs=inputs, lam=lam, seed=1)
