"""Faults that an adversarial review found, each kept away by one test."""

import itertools

import pytest
import torch
from torch import Tensor

from impl.cells.activation import activation
from impl.cells.rnn import RNN
from impl.certificate.certify import certify
from impl.certificate.refute import refute
from impl.gradients.jacobian import input_jacobians
from impl.gradients.rollout import states, truncations
from impl.norms.weighted import diagonal_scaling, quadratic_norm
from impl.numbers.outward import norm_up
from impl.reading.adapters import load_model


def doubles(values: object) -> Tensor:
    """Float64 numbers."""
    return torch.tensor(values, dtype=torch.float64)


@pytest.mark.parametrize("name", ["identity", "tanh"])
@pytest.mark.parametrize("n", [5, 8, 17, 33])
def test_the_longest_window_is_the_full_model_to_the_last_bit(n: int, name: str) -> None:
    """At k = T both are one number, though a library may round two equal columns differently."""
    torch.manual_seed(n)
    W, U, b = (torch.randn(2, n, m, dtype=torch.float64) / n for m in (n, 2, 1))
    x = torch.randn(2, 9, 2, 3, dtype=torch.float64)
    full, short = truncations(RNN(W, U, b[:, :, 0], activation(name)), x, 9)
    assert torch.equal(full, short[:, :, 9])
    assert not short[:, :, 0].any()


def test_an_error_that_underflows_leaves_a_kink_uncertain() -> None:
    """W times the state's error underflows, so the next slope of a ReLU at 0 is not known."""
    cell = RNN(
        doubles([[[2.0**-600]]]), doubles([[[1.0, 1.0, 1.0]]]), doubles([[0.0]]), activation("relu")
    )
    lost = []
    for order in itertools.permutations((2.0**-900, 2.0**-960, -(2.0**-900))):
        x = doubles([list(order), [0.0, 0.0, 0.0]]).reshape(1, 2, 3, 1)
        lost.append(not states(cell, x).any())
        # h_1 = 2^-960 and z_2 = 2^-1560 > 0, so the last Jacobian is U, of norm √3.
        found = input_jacobians(cell, x, 0)
        assert float(found.J.norm() + found.error.max()) >= 3**0.5
    assert any(lost)


@pytest.mark.parametrize(
    ("dtype", "bound"), [(torch.float16, 4e4), (torch.float16, 6e4), (torch.float32, 3e38)]
)
def test_no_rounding_bound_where_the_dtype_overflows(dtype: torch.dtype, bound: float) -> None:
    """States up to 2B are infinite in the model's own dtype: nothing bounds their error."""
    model = {
        "weight_ih_l0": torch.tensor([[1.0]], dtype=dtype),
        "weight_hh_l0": torch.tensor([[0.5]], dtype=dtype),
    }
    h = torch.zeros(1, dtype=dtype)
    for _ in range(60):
        h = model["weight_hh_l0"][0] * h + torch.tensor([bound], dtype=dtype)
    assert torch.isinf(h).all()
    assert certify(model, bound, cell="linear").rounding is None
    assert certify(model, 1.0, cell="linear").rounding is not None


@pytest.mark.parametrize("bound", [2.0**-700, 2.0**-1074])
def test_witness_inputs_keep_their_bound_where_squares_underflow(bound: float) -> None:
    """No witness has an input longer than B, however small B is."""
    weights = {
        "weight_ih_l0": doubles([[2.0**560, 0.0]]),
        "weight_hh_l0": doubles([[2.0]]),
        "bias_ih_l0": doubles([1.0]),
    }
    assert refute(load_model(weights, "rnn-tanh"), bound) is None
    witness = refute(load_model(weights, "rnn-tanh"), 2.0**-530)
    assert witness is not None
    assert float(norm_up(doubles(witness.input))) <= 2.0**-530
    assert "zero input" not in witness.text


def test_weighted_norms_outlive_lapack(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where LAPACK does not converge on one matrix, that one is not certified; the others are."""
    W = doubles([[[0.5, 4.0], [0.0, 0.5]], [[7.0, 1.0], [0.0, 0.5]]])

    def failing(A: Tensor, before: object) -> object:
        if (A[:, 0, 0] == 7).any():
            raise torch.linalg.LinAlgError("does not converge")
        return before(A)  # type: ignore[operator]

    plain = quadratic_norm(W[:1]), diagonal_scaling(W[:1])
    for name in ("eigvals", "svd"):
        before = getattr(torch.linalg, name)
        monkeypatch.setattr(torch.linalg, name, lambda A, before=before: failing(A, before))
    quadratic, diagonal = quadratic_norm(W), diagonal_scaling(W)
    assert torch.equal(quadratic.factor[0], plain[0].factor[0])
    assert quadratic.factor[1] == torch.inf
    assert torch.equal(diagonal.factor[0], plain[1].factor[0])
    assert torch.equal(diagonal.weights[1], torch.eye(2, dtype=torch.float64))
    assert diagonal.factor[1] >= 7
