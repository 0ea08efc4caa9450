"""Attack numbers are shares of certified ones: a form refutes a false certificate."""

from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from flint import ctx, fmpq

from rnnbounds.properties.measures.certified.share_used import model_point
from rnnbounds.properties.measures.certified.shares import is_share_at_most, recomputed_constants
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.table import make_spec

SPEC = partial(
    make_spec, "certified", norm="auto", regime="driven", n=2, T=4, K=4, lam=0.125, bias=0.5,
    seed=3,
    layers=2, dtype="float32", batch=2, sequences=2,
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("cell", ["leaky-tanh", "gru", "stacked-lstm"])
def test_a_lie_is_no_share(cell: str) -> None:
    """One input more than is certified, a gap that no run has, an ε above it, too large inputs."""
    p = model_point(build_batch(SPEC(cell=cell)), 0, 0)
    assert p.attack is not None
    (epsilon, k), witness = p.certificate.windows[0], p.attack.witnesses[0]
    assert k is not None

    def seen(**lie: Any) -> dict[str, bool | None]:
        assert p.attack is not None
        names = ("k 0", "gap 0", "eps 0", "witness 0")
        with ctx.workprec(256):
            told = recomputed_constants(replace(p, attack=replace(p.attack, **lie)))
            return {name: is_share_at_most(name, *told[name], fmpq(1)) for name in names}

    assert all(seen().values())
    lies = ("gap", 1.000001 * witness.gap), ("eps", 2 * witness.gap), ("inputs", 2 * witness.inputs)
    for name, value in lies:
        field = "epsilon" if name == "eps" else name
        found = seen(witnesses=(replace(witness, **{field: value}),))
        assert found["witness 0" if name == "inputs" else f"{name} 0"] is False
    assert seen(windows=((epsilon, k + 1), *p.attack.windows[1:]))["k 0"] is False


def test_one_model_a_batch() -> None:
    """The first one, at its first pair of states."""
    batch = build_batch(SPEC(cell="gru"))
    others = [model_point(batch, i, s) for i in range(2) for s in range(2)][1:]
    assert [one.attack for one in others] == [None] * 3
