"""Error bounds include underflow, whatever torch's default dtype is."""

import pytest
import torch

from rnnbounds.impl.numbers.outward import TINY
from rnnbounds.properties.judging.judge import judge
from rnnbounds.properties.judging.verdict import Verdict
from rnnbounds.properties.read.numbers import rounded
from rnnbounds.properties.read.numbers.norms import (
    NORM_FLOOR,
    operator_product,
    spectral_norm,
    vector_lengths,
)
from rnnbounds.properties.read.numbers.rounded import Rounded
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.table import make_spec
from rnnbounds.theory.language.parse import parse_statement

SMALL = torch.full((1, 2, 1), 1e-200, dtype=torch.float64)


def test_lengths_of_small_numbers() -> None:
    """Their squares are 0, but they are not; what is exactly 0 has no length."""
    value, error = vector_lengths(Rounded.exact(SMALL), 1)
    assert value == 0
    assert error >= NORM_FLOOR
    assert vector_lengths(Rounded.exact(0 * SMALL), 1)[1] == 0


def test_spectral_norms_of_small_errors() -> None:
    """Of a matrix of zeros that are off by less than what has a square."""
    J = torch.zeros(1, 2, 2, dtype=torch.float64)
    assert spectral_norm(J, J + 1e-200)[1] >= NORM_FLOOR
    assert spectral_norm(J, J)[1] == 0


def test_products_of_small_matrices() -> None:
    """A product that underflows is off by something."""
    a = Rounded.exact(SMALL[..., None])
    found = operator_product(a, a[:, :1])
    assert (found.value == 0).all()
    assert (found.error >= TINY).all()


@pytest.mark.parametrize("arrays", [True, False], ids=["arrays", "tensors"])
def test_products_of_small_numbers(arrays: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays and tensors on other devices have the same bounds."""
    if not arrays:
        monkeypatch.setattr(rounded, "as_array", lambda numbers: numbers)
    v, W = Rounded.exact(SMALL), torch.full((1, 1, 2), 1e-200, dtype=torch.float64)
    for found in (v * v, v.apply_matrix(W)):
        assert (found.value == 0).all()
        assert (found.error >= TINY).all()


def test_no_gap_is_lost() -> None:
    """A state that is not 0 under inputs whose squares are 0 is not judged to be 0."""
    spec = make_spec("lstm", n=2, d=1, T=1, K=1, lam=0.5, scale=1e-300, bias=0.0, batch=2)
    statement = parse_statement("h_gap <= 0")
    found = judge(statement, (), build_batch(spec))
    assert (found.verdicts[:, :, 0] == Verdict.VIOLATED).all()
