"""The readout of a certificate is the model's, and its norm is proved."""

import numpy as np
import pytest

from rnnbounds.impl.checker.readout import Readout, readout_norm
from rnnbounds.impl.format.fields import RecordError
from rnnbounds.impl.format.tensors import digest, encoded

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
