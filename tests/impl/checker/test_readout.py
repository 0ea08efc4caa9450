"""The readout of a certificate is the model's, and its norm is proved.

What is proved is at the edge in rationals, and is what the maker of certificates states, which
knows nothing of the checker.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from math import nextafter, sqrt
from typing import Any

import numpy as np
import pytest
from draws import doubles, normal

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.impl.checker.readout import Readout, readout_norm
from rnnbounds.impl.checker.readout_slopes import slopes_within
from rnnbounds.impl.format.fields import RecordError
from rnnbounds.impl.format.tensors import digest, encoded
from rnnbounds.impl.models.normalisation import Normalisation
from rnnbounds.impl.models.reached import Reached
from rnnbounds.impl.models.readout import Linear
from rnnbounds.impl.models.readout import Readout as Stored

C = np.array([[3.0, 4.0]])
READ = Readout([("head.weight", C)], {"head.weight": ("float64", C)})


def stated(weight: np.ndarray = C, **other: object) -> dict[str, object]:
    """What a record says of a readout."""
    part = encoded(weight, "float64")
    assert part is not None
    name = "head.weight"
    told = {"tensor": name, "outputs": 1, "norm": 5.0, "sha256": digest("readout", {name: part})}
    return told | other


@pytest.mark.parametrize(("norm", "holds"), [(5.0, True), (np.nextafter(5.0, 0), False)])
def test_the_norm_is_proved_at_its_edge(norm: float, holds: bool) -> None:
    """‖C‖₂ = 5 holds, and nothing below."""
    assert readout_norm(stated(norm=float(norm)), READ)[1][0].holds is holds


@pytest.mark.parametrize(
    "told", [stated(C + 1), stated(tensor="other"), stated(outputs=2), stated(sha256="0" * 64)]
)
def test_another_readout_is_refused(told: dict[str, object]) -> None:
    """Other numbers, another name, another number of rows."""
    with pytest.raises(RecordError, match="another readout"):
        readout_norm(told, READ)


def made(stages: list[object]) -> tuple[dict[str, Any], Readout]:
    """A record as it is made of stages, and the readout as it was read."""
    stored = Stored(tuple(stages))  # type: ignore[arg-type]
    tensors = {name: ("float64", part.numpy()) for name, part in stored.tensors.items()}
    weights = {stage: tensors[name][1] for stage, name in stored.weighted.items()}
    return stored.to_json(), Readout([(one, weights.get(one)) for one in stored.names], tensors)


LAYERS = [
    Linear(f"{name}.weight", normal(p, n, seed=i), (f"{name}.bias", normal(p, seed=i + 5)))
    for i, (name, p, n) in enumerate((("a", 4, 3), ("b", 4, 4), ("c", 2, 4)))
]
NORM = Normalisation(
    "layer-norm", 0.25, 4, "g",
    ("g.weight", doubles([0.5, -2.0, 1.0, 0.0])), ("g.bias", normal(4, seed=9)),
)  # fmt: skip
CHAINS = {
    "relu": [LAYERS[0], ACTIVATIONS["relu"], LAYERS[2]],
    "gelu": [LAYERS[0], ACTIVATIONS["gelu"], LAYERS[1], ACTIVATIONS["tanh"], LAYERS[2]],
    "normalised": [LAYERS[0], NORM, ACTIVATIONS["relu"], LAYERS[2]],
    "plain": [LAYERS[0], Normalisation("rms-norm", 1e-6, 4), LAYERS[1], LAYERS[2]],
    "joined": [LAYERS[0], LAYERS[1], LAYERS[2]],
    "sin": [LAYERS[0], ACTIVATIONS["sin"], LAYERS[1], ACTIVATIONS["leaky-relu"], LAYERS[2]],
    "elu": [LAYERS[0], ACTIVATIONS["elu"], ACTIVATIONS["arctan"], LAYERS[2]],
}


LOW = 1 - 1e-6


def lowered(told: dict[str, Any], key: str) -> Iterator[dict[str, Any]]:
    """The bound of that key with one number less, or one range narrower, each that there is."""
    bound = told[key]
    yield {key: bound | {"norm": bound["norm"] * LOW}}
    for i, row in enumerate(bound["segments"]):
        for j, size in enumerate(row):
            rows = [[*one] for one in bound["segments"]]
            rows[i][j] = size * LOW
            if size > 1e-200:  # where slopes are between −1 and 1 nothing passes by their means
                yield {key: bound | {"segments": rows}}
    for i, (low, high) in enumerate(bound["ranges"]):
        middle = [(a + b) / 2 for a, b in zip(low, high, strict=True)]
        for one in ([middle, high], [low, middle]) if low != high else ():
            ranges = [*bound["ranges"]]
            ranges[i] = one
            yield {key: bound | {"ranges": ranges}}


@pytest.mark.parametrize("chain", CHAINS)
def test_averages_are_proved(chain: str) -> None:
    """L is below the product, each number that it follows from is proved, and no less; without
    them it is not."""
    told, read = made(CHAINS[chain])
    (norm, near), found = readout_norm(told, read)
    assert [one.holds for one in found] == [True] * (len(CHAINS[chain]) + 1)
    assert near == norm < 0.99 * np.prod(told["norms"])
    assert "by averaged operators" in found[-1].detail
    for change in lowered(told, "averaged"):
        assert not readout_norm(told | change, read)[1][-1].holds
    without = {key: value for key, value in told.items() if key != "averaged"}
    for change in ({"norm": norm * LOW}, {}):
        held = without if not change else told | change
        assert not readout_norm(held, read)[1][-1].holds


@pytest.mark.parametrize("chain", [name for name in CHAINS if name != "joined"])
@pytest.mark.parametrize("radius", [2.0**-4, 0.25])
def test_slopes_on_a_ball_are_proved(chain: str, radius: float) -> None:
    """As they are stated, of a ball that holds all states, and no narrower."""
    stored = Stored(tuple(CHAINS[chain]))
    reached = Reached.within(stored, radius)
    assert reached is not None
    told, read = made(CHAINS[chain])
    told |= {"reached": reached.to_json()}
    (norm, near), found = readout_norm(told, read, radius)
    assert [one.holds for one in found] == [True] * (len(CHAINS[chain]) + 2)
    assert near < norm
    assert "on ‖h‖₂ ≤" in found[-1].detail
    for states in (radius * (1 + 1e-9), math.inf):
        assert not readout_norm(told, read, states)[1][-1].holds
    changes = [*lowered(told, "reached"), {"reached": told["reached"] | {"radius": 10.0}}]
    for change in changes:
        states = change["reached"]["radius"]
        assert not readout_norm(told | change, read, states)[1][-1].holds


def test_what_is_no_bound_of_this_readout() -> None:
    """Segments and ranges of another number, a tensor that no stage reads."""
    told, read = made(CHAINS["relu"])
    bound = told["averaged"]
    one = bound["ranges"][0]
    for change in ({"segments": [[1.0]]}, {"ranges": [[[0.0], []]]}, {"ranges": []}, {"norm": -1}):
        with pytest.raises(RecordError):
            readout_norm(told | {"averaged": bound | change}, read)
    longer = {"ranges": [one, one], "segments": [[1e3, 1e3, 1e3], [1e3, 1e3], [1e3]]}
    wide = {"ranges": [[[0.0] * 3, [1.0] * 3]], "segments": [[1e3, 1e3], [1e3]]}
    for change in (longer, wide):
        whole = told | {"averaged": bound | change | {"norm": 1e9}, "norm": 1e9}
        assert not readout_norm(whole, read)[1][-1].holds
    assert slopes_within(read.stages, {n: part for n, (_, part) in read.tensors.items()},
                         [one], math.inf)  # fmt: skip
    beside = {n: part for n, (_, part) in read.tensors.items()} | {"odd": np.ones(2)}
    assert not slopes_within(read.stages, beside, [one], math.inf)


def test_a_normalisation_is_proved_at_its_edge() -> None:
    """max|γ_i|/√e = 4 holds for e = 1/4, and nothing below; of another e it is another readout."""
    told, read = made(CHAINS["normalised"])
    assert told["norms"][1] == pytest.approx(4.0)
    for norm, holds in ((4.0, True), (nextafter(4.0, 0.0), False)):
        norms = [told["norms"][0], norm, *told["norms"][2:]]
        assert readout_norm(told | {"norms": norms}, read)[1][1].holds is holds
    chain = [name.replace("0.25", "0.125") for name in told["chain"]]
    with pytest.raises(RecordError, match="another readout"):
        readout_norm(told | {"chain": chain}, read)
    weak = Normalisation("rms-norm", 3e-7, 4)
    assert Fraction(weak.slope) ** 2 * Fraction(3e-7) >= 1
    assert weak.slope <= nextafter(nextafter(1 / sqrt(3e-7), np.inf), np.inf) * (1 + 1e-15)
