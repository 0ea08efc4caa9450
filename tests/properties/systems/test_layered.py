"""Deep transitions and stacks: systems against torch, impl and NumPy, and the claims on them."""

import numpy as np
import pytest
import torch
from msgspec.structs import replace

from rnnbounds.impl.certificate.certify import certify
from rnnbounds.properties.judging.judge import Verdict, judge
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.cells.layers import TRANSITIONS
from rnnbounds.properties.systems.exact.members import rational
from rnnbounds.properties.systems.table import KINDS, make_spec
from rnnbounds.theory import claim

LAYERED = make_spec(
    kind="layered", activation="relu", regime="gaussian", inputs="gaussian", n=3, T=3, K=3,
    layers=3, bias=0.5, seed=4, batch=6, sequences=2,
)  # fmt: skip
CASCADE = make_spec(
    kind="cascade", activation="relu", regime="gaussian", inputs="gaussian", n=2, d=2, T=5, K=5,
    bias=0.5, seed=4, batch=6, sequences=2,
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("activation", ["relu", "leaky-relu", "identity", "gelu", "sigmoid"])
@pytest.mark.parametrize("regime", KINDS["layered"].regimes)
def test_a_member_is_the_transition_of_impl(activation: str, regime: str) -> None:
    """Steps agree with the tensors' up to rounding; the factor is that which `certify` prints."""
    batch = build_batch(replace(LAYERED, activation=activation, regime=regime, batch=2))
    ends, lam = MEASURES["deep_gap"].enclose(batch), batch.constant("lam_deep").hi
    one, other = (batch.cell.step(h, batch.x[:, 0]) for h in (batch.h, batch.h_other))
    gap = torch.linalg.vector_norm(one - other, dim=1).numpy()
    np.testing.assert_allclose(gap, ends.lo[:, :, 0], rtol=1e-9, atol=1e-13)
    for i in range(2):
        weights = {name: A[i] for name, A in batch.weights.items()}
        told = certify(weights, inputs=9.0, norm="spectral", cell=f"deep-{activation}")
        assert told.lam == lam[i, 0, 0]


@pytest.mark.parametrize("activation", ["leaky-relu", "identity", "tanh", "gelu"])
def test_derivatives_are_those_of_autograd(activation: str) -> None:
    """‖∂h_T/∂h_{T−k}‖₂ of the run from zero, for every window."""
    batch = build_batch(replace(LAYERED, activation=activation, batch=2))
    ends, T = MEASURES["dh_dh_deep"].enclose(batch), batch.spec.T
    for i in range(2):
        cell, x = batch.systems.member(i).cell, batch.x[i, :, None, :, :1]

        def later(h: torch.Tensor, k: int, cell=cell, x=x) -> torch.Tensor:  # type: ignore[no-untyped-def]
            for step in x[T - k :]:
                h = cell.step(h[None, :, None], step)[0, :, 0]
            return h

        path = [torch.zeros(batch.spec.n, dtype=torch.float64)]
        for step in x:
            path.append(cell.step(path[-1][None, :, None], step)[0, :, 0])
        for k in range(T + 1):
            jacobian = torch.autograd.functional.jacobian(  # type: ignore[no-untyped-call]
                lambda h, k=k, later=later: later(h, k), path[T - k]
            )
            norm = torch.linalg.matrix_norm(jacobian, 2).item()
            low, high = (end[i, 0, k] for end in ends.ends)
            assert low * (1 - 1e-10) <= norm <= high * (1 + 1e-10)


@pytest.mark.parametrize("regime", KINDS["layered"].regimes)
def test_norms_are_what_they_are_said_to_be(regime: str) -> None:
    """Π‖W_l‖₂ against NumPy's, and isometries keep lengths."""
    for n in (1, 2, 3):
        batch = build_batch(replace(LAYERED, n=n, regime=regime, activation="identity"))
        layers = [batch.weights[f"transition_{l}_weight"].numpy() for l in (1, 2, 3)]
        sizes = np.prod([np.linalg.norm(A, 2, axis=(1, 2)) for A in layers], axis=0)
        said = batch.constant("W_product").hi.ravel()
        np.testing.assert_allclose(said, np.inf if regime == "gaussian" else sizes, atol=1e-15)
        if batch.parameters["isometric"].all():
            product = layers[2] @ layers[1] @ layers[0]
            squares = said[:, None, None] ** 2 * np.eye(n)
            assert (product.swapaxes(1, 2) @ product == squares).all()


def test_the_gradient_of_isometries_is_known_exactly() -> None:
    """The product of norms to the k-th power, decided in rationals; of a shift it vanishes."""
    spec = replace(LAYERED, activation="identity", regime="signed", T=4, K=4)
    equality = claim("deep-gradient").form("equality").statement
    assert (judge(equality, (), build_batch(spec)).verdicts == Verdict.HOLDS).all()
    assert (build_batch(spec).parameters["isometric"] == 1).all()
    pair = build_batch(spec.select_pair(0, 0))
    exact = MEASURES["dh_dh_deep"].exact_square(pair, 3, 128)
    assert exact == rational(float(pair.constant("W_product").hi.item())) ** 6
    shift = build_batch(TRANSITIONS["nilpotent-layers"].select_pair(0, 0))
    assert MEASURES["dh_dh_deep"].exact_square(shift, 1, 128) == 0


def test_a_stack_is_two_networks() -> None:
    """Its path against NumPy's; factors are the largest row sums, and those of `certify`."""
    batch = build_batch(CASCADE)
    ends = MEASURES["top_before"].enclose(batch)
    for i in range(CASCADE.batch):
        model = {name: A[i] for name, A in batch.weights.items()}
        W_1, U, b_1, W_2, V, b_2 = (
            model[f"{name}_l{l}"].numpy()
            for l in (0, 1)
            for name in ("weight_hh", "weight_ih", "bias_ih")
        )
        low, top = np.zeros(2), np.zeros(2)
        for t, x in enumerate(batch.x[i, :, :, 0].numpy()):
            assert top.max() == pytest.approx(ends.lo[i, 0, CASCADE.K - t], rel=1e-13)
            low = np.maximum(W_1 @ low + U @ x + b_1, 0)
            top = np.maximum(W_2 @ top + V @ low + b_2, 0)
        constants = {name: batch.constant(name).hi[i].item() for name in ("lam_1", "lam_2", "mu")}
        assert constants["mu"] == np.abs(V).sum(1).max()
        assert constants["lam_2"] == np.abs(W_2).sum(1).max()
        told = certify(model, inputs=1.0, norm="infinity", cell="stacked-rnn-relu").constants
        assert constants == {"lam_1": told["lam_l0"], "lam_2": told["lam_l1"], "mu": told["mu_l1"]}
