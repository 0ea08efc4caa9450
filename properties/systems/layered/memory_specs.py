"""Modes, Jordan blocks and scans in rationals: what is drawn of them, their worst instances, and
their records."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from hypothesis import strategies as st
from msgspec.structs import replace

from rnnbounds.properties.systems.drawing.choices import pick, seeds, spec_grid
from rnnbounds.properties.systems.kind import BY_REGIME, DrawRequest, Instances, Kind, cell_named
from rnnbounds.properties.systems.layered.jordan import jordan_member
from rnnbounds.properties.systems.layered.modes import mode_member as mode
from rnnbounds.properties.systems.layered.scan import scan_member
from rnnbounds.properties.systems.spec import SpecType, SystemSpec, spec_of
from rnnbounds.properties.systems.unitary.exact import EXACT_LIMITS, check_exact
from rnnbounds.properties.systems.unitary.route import ExactRoute

DRAWN_INPUTS = ("gaussian", "constant", "alternating", "impulse", "zero")
RUN_FIELDS = "T K regime inputs lam scale bias"
Modes = spec_of(
    "modes", f"d {RUN_FIELDS}", activation="identity", check=check_exact,
    limits=EXACT_LIMITS | {"T": 32}, regimes=("real", "complex"),
)  # fmt: skip
Jordan = spec_of(
    "jordan", f"n {RUN_FIELDS}", activation="identity", check=check_exact,
    limits=EXACT_LIMITS | {"n": 3, "T": 64}, regimes=("block", "turned"),
)  # fmt: skip
Scan = spec_of(
    "scan", RUN_FIELDS, activation="identity", check=check_exact, limits=EXACT_LIMITS | {"T": 32},
    regimes=("min-gru", "min-lstm", "selective"),
)  # fmt: skip
MODE = Modes(regime="complex", T=8, K=8, batch=8)
BLOCK = Jordan(inputs="zero", n=2, T=16, K=16, batch=8)
SCAN = Scan(T=8, K=8, bias=1.0, batch=8)


@st.composite
def draw_linear_spec(draw: st.DrawFn, make: SpecType, wanted: DrawRequest) -> SystemSpec:
    """A short run of one of these kinds, at every window."""
    T, is_block = draw(pick((5, 3, 8, 13, 1))), make is Jordan
    regime, inputs = draw(pick(make.regimes[::-1])), draw(pick(DRAWN_INPUTS))
    sizes = {"n": draw(pick((2, 3, 3, 2)))} if is_block else {}
    sizes |= {"d": draw(pick((1, 2)))} if make is Modes else {}
    return make(
        **sizes,
        regime=regime,
        inputs=inputs,
        T=T,
        K=T,
        lam=draw(pick((0.5, 1.0, 2.0))),
        scale=draw(pick((1.0, 0.25, 2.0))),
        bias=draw(pick((1.0, 0.0))),
        seed=draw(seeds()),
        batch=min(wanted.batch, 8),
        sequences=min(wanted.sequences, 1 if is_block else 2),
    )


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


def worst_modes() -> Iterator[SystemSpec]:
    """Real and complex eigenvalues, and a long memory."""
    yield from MODES.values()
    base = replace(MODE, d=2, seed=1)
    yield from spec_grid(base, {"regime": Modes.regimes}, {"inputs": ("constant", "gaussian")})
    yield replace(MODE, T=32, K=32, batch=4)


def worst_blocks() -> Iterator[SystemSpec]:
    """Blocks of one to three rows, turned or not."""
    yield from BLOCKS.values()
    yield from spec_grid(replace(BLOCK, T=12, K=12), {"regime": Jordan.regimes}, {"n": (1, 2, 3)})


def worst_scans() -> Iterator[SystemSpec]:
    """Decays that move little, and much."""
    yield from SCANS.values()
    drives = {"inputs": ("constant", "gaussian", "alternating")}
    yield from spec_grid(
        replace(SCAN, seed=1), {"regime": Scan.regimes}, drives, {"lam": (0.25, 2.0)}
    )


KINDS = (
    Kind(
        Modes, partial(draw_linear_spec, Modes), ExactRoute(mode), cell_named("diagonal"),
        Instances(worst_modes, MODES),
    ),
    Kind(
        Jordan, partial(draw_linear_spec, Jordan), ExactRoute(jordan_member), cell_named("linear"),
        Instances(worst_blocks, BLOCKS),
    ),
    Kind(
        Scan, partial(draw_linear_spec, Scan), ExactRoute(scan_member), BY_REGIME,
        Instances(worst_scans, SCANS)
    ),
)  # fmt: skip
