"""The readout of a certificate is the model's, and its norm is proved.

What is proved is at the edge in rationals, and is what the maker of certificates states, which
knows nothing of the checker.
"""

import numpy as np
import pytest
from draws import normal

from rnnbounds.impl.checker.readout import Readout, readout_norm
from rnnbounds.impl.format.fields import RecordError
from rnnbounds.impl.format.record import GoneError, stated
from rnnbounds.impl.format.tensors import digest, encoded
from rnnbounds.impl.models.readout import Readout as Stored

C = np.array([[3.0, 4.0]])
READ = Readout("head.weight", "float64", C)


def told(weight: np.ndarray = C, **other: object) -> dict[str, object]:
    """What a record says of a readout."""
    part = encoded(weight, "float64")
    assert part is not None
    name = "head.weight"
    known = {"tensor": name, "outputs": 1, "norm": 5.0, "sha256": digest("readout", {name: part})}
    return known | other


@pytest.mark.parametrize(("norm", "holds"), [(5.0, True), (np.nextafter(5.0, 0), False)])
def test_the_norm_is_proved_at_its_edge(norm: float, holds: bool) -> None:
    """‖C‖₂ = 5 holds, and nothing below."""
    scale, found = readout_norm(told(norm=float(norm)), READ)
    assert (scale, found.holds) == (norm, holds)


def test_what_is_stated_is_proved() -> None:
    """The record of a readout as it is made."""
    weight = normal(3, 4, seed=1).float()
    made = Stored("b.weight", weight)
    read = Readout("b.weight", "float32", weight.double().numpy())
    assert readout_norm(made.to_json(), read)[1].holds
    less = made.to_json() | {"norm": made.norm * (1 - 1e-6)}
    assert not readout_norm(less, read)[1].holds


@pytest.mark.parametrize(
    "stated_of", [told(C + 1), told(tensor="other"), told(outputs=2), told(sha256="0" * 64)]
)
def test_another_readout_is_refused(stated_of: dict[str, object]) -> None:
    """Other numbers, another name, another number of rows."""
    with pytest.raises(RecordError, match="another readout"):
        readout_norm(stated_of, READ)


def test_several_stages_are_refused_by_name() -> None:
    """A certificate of an earlier version about a map of several stages."""
    with pytest.raises(GoneError, match="rests on a readout of several stages"):
        stated({"readout": {"chain": ["a.weight", "tanh"], "outputs": 1, "sha256": ""}})
