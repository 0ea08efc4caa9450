"""The readout of a certificate is the model's, and its norm is proved.

What is proved is at the edge in rationals, and is what the maker of certificates states, which
knows nothing of the checker.
"""

from fractions import Fraction
from math import nextafter, sqrt

import numpy as np
import pytest
from draws import doubles, normal

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.impl.checker.readout import Readout, readout_norm
from rnnbounds.impl.format.fields import RecordError
from rnnbounds.impl.format.tensors import digest, encoded
from rnnbounds.impl.models.normalisation import Normalisation
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


def made(stages: list[object]) -> tuple[dict[str, object], Readout]:
    """A record as it is made of stages, and the readout as it was read."""
    stored = Stored(tuple(stages))  # type: ignore[arg-type]
    tensors = {name: ("float64", part.numpy()) for name, part in stored.tensors.items()}
    weights = {stage: tensors[name][1] for stage, name in stored.weighted.items()}
    return stored.to_json(), Readout([(one, weights.get(one)) for one in stored.names], tensors)


LAYERS = [Linear("a", normal(4, 3, seed=1)), Linear("b", normal(4, 4, seed=2)),
          Linear("c", normal(2, 4, seed=3))]  # fmt: skip
NORM = Normalisation("layer-norm", 0.25, 4, "g", ("g.weight", doubles([0.5, -2.0, 1.0, 0.0])))
CHAINS = {
    "relu": [LAYERS[0], ACTIVATIONS["relu"], LAYERS[2]],
    "gelu": [LAYERS[0], ACTIVATIONS["gelu"], LAYERS[1], ACTIVATIONS["tanh"], LAYERS[2]],
    "normalised": [LAYERS[0], NORM, ACTIVATIONS["relu"], LAYERS[2]],
    "plain": [LAYERS[0], Normalisation("rms-norm", 1e-6, 4), LAYERS[1], LAYERS[2]],
    "joined": [LAYERS[0], LAYERS[1], LAYERS[2]],
}


@pytest.mark.parametrize("chain", CHAINS)
def test_segments_are_proved(chain: str) -> None:
    """L is far below the product, each number that it follows from is proved, and no less."""
    told, read = made(CHAINS[chain])
    norm, found = readout_norm(told, read)
    assert [one.holds for one in found] == [True] * (len(CHAINS[chain]) + 1)
    assert norm < 0.9 * np.prod(told["norms"])
    assert "products of its linear maps" in found[-1].detail
    low = 1 - 1e-6
    changes = [{"norm": norm * low}]
    for i, row in enumerate(told["segments"]):
        for j, size in enumerate(row):
            rows = [[*one] for one in told["segments"]]
            rows[i][j] = size * low
            changes.append({"segments": rows})
    for change in changes:
        assert not readout_norm(told | change, read)[1][-1].holds
    without = {key: value for key, value in told.items() if key != "segments"}
    assert not readout_norm(without, read)[1][-1].holds
    fewer = [[1.0] * 5, [1.0] * 4, [1.0] * 3, [1.0] * 2, [1.0]]
    assert not readout_norm(told | {"segments": fewer}, read)[1][-1].holds
    for rows in (None, [[1.0, 1.0], [1.0, 1.0]], [[1.0], []]):
        with pytest.raises(RecordError):
            readout_norm(told | {"segments": rows}, read)


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
