"""What Hypothesis draws of cells of any kind, for what is claimed of all of them."""

from __future__ import annotations

from hypothesis import strategies as st
from msgspec.structs import replace

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.properties.systems.drawing.choices import pick, seeds
from rnnbounds.properties.systems.kind import Wanted
from rnnbounds.properties.systems.spec import LOSSES, Make, SystemSpec

LENGTHS = (3, 5, 8, 2, 12, 4, 16, 1)
WINDOWS = (4, 8, 2, 15)
DISTANCES = (2.0**-6, 0.125, 2.0**-12)
TARGETS = (0.26, 0.1, 0.57, 0.01)


@st.composite
def cell_specs(draw: st.DrawFn, make: Make, wanted: Wanted) -> SystemSpec:
    """A cell of 1 to 4 units with a loss; every other one is linear but for its candidate, and its
    units are all alike: driven by small or by few inputs, it comes near the bounds.
    """
    T = draw(pick(LENGTHS))
    spec = make(
        T=T,
        # At k = T both sides are 0, which the referee decides: seldom here.
        K=min(max(T - 1, 1), draw(pick(WINDOWS))),
        epsilon=draw(pick(TARGETS)),
        loss=draw(pick(LOSSES)),
        target=draw(pick((1.0, 0.0))),
        distance=draw(pick(DISTANCES)),
        seed=draw(seeds()),
        batch=wanted.batch,
        sequences=wanted.sequences,
    )
    if wanted.descends:
        spec = replace(
            spec, T=min(T, 8), K=min(spec.K, 4), batch=min(spec.batch, 12), sequences=1,
            steps=draw(pick((1, 2, 3, 4))), alpha=draw(pick((1.0, 0.125, 2.0))),
            schedule=draw(pick(("inverse", "inverse", "constant"))),
        )  # fmt: skip
    if "activation" in make.__struct_fields__:
        rho = draw(pick(("tanh", "tanh", "identity", "sigmoid", *sorted(ACTIVATIONS))))
        spec = replace(spec, activation=rho)
    if "layers" in make.__struct_fields__:
        spec = replace(spec, layers=draw(pick((2, 1, 3, 2))))
    if draw(pick((True, False))):
        lam = draw(pick((0.5, 0.75, 0.25, 0.0)))
        linear = make.linear or spec.activation == "identity"
        if linear or lam == 0 or T == 1:  # met with equality
            spec = replace(spec, batch=min(spec.batch, 2), sequences=1)
        return replace(
            spec,
            regime="driven",
            inputs=draw(pick(("constant", "impulse"))),
            n=draw(pick((1, 2))),
            lam=lam,
            scale=draw(pick((2.0**-10, 1.0, 2.0**-6, 4.0))),
            # Gates of exactly one half would meet the bounds to the last bit.
            bias=draw(pick((0.5, 0.0))) if lam else 0.5,
        )
    n = draw(pick((2, 3, 1, 4)))
    return replace(
        spec,
        regime=draw(pick(make.regimes)),
        inputs=draw(pick(("gaussian", "constant", "alternating", "zero"))),
        n=n,
        d=min(draw(pick((1, 2))), n),
        lam=draw(pick((0.25, 0.0625, 0.5, 0.9))),
        scale=draw(pick((1.0, 0.25))),
        bias=draw(pick((0.5, 0.0, 1.0))),
    )
