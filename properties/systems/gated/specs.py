"""What Hypothesis draws of gated cells."""

from __future__ import annotations

from hypothesis import strategies as st

from properties.systems.drawing.choices import pick, seeds
from properties.systems.kinds import GATED_REGIMES
from properties.systems.spec import Kind, SystemSpec

DRIVES = ("zero", "constant", "gaussian", "alternating", "impulse", "resonant")
FACTORS = (0.5, 0.25, 1.0, 0.9, 2.0, 0.0625, 0.99, 0.75)


@st.composite
def gated_specs(draw: st.DrawFn, kind: Kind, batch: int, sequences: int) -> SystemSpec:
    """A gated cell of 1 to 6 units, with runs of 1 to 8 steps."""
    n = draw(pick((1, 2, 3, 1, 2, 4, 6, 1)))
    regime = draw(pick(("candidate", "signs", "stable", *GATED_REGIMES)))
    if regime in ("candidate", "zero"):
        # Bounds are met with equality: the referee decides those.
        batch, sequences = min(batch, 2), min(sequences, 4)
    return SystemSpec(
        kind=kind,
        regime=regime,
        inputs=draw(pick(DRIVES)),
        n=n,
        d=min(draw(pick((1, 2, 3))), n),
        T=draw(pick((2, 1, 4, 8))),
        lam=draw(pick(FACTORS)),
        scale=draw(pick((1.0, 0.25, 4.0))),
        bias=draw(pick((0.5, 0.0, 1.0, 2.0))),
        seed=draw(seeds()),
        batch=batch,
        sequences=sequences,
    )
