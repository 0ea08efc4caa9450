"""Deep transitions and stacks: members against torch, impl and NumPy, and the claims on them."""

from itertools import product

import numpy as np
import pytest
import torch
from flint import fmpq
from msgspec.structs import replace

from rnnbounds.impl.certificate.certify import certify
from rnnbounds.properties.attacks.extremal import NAMED_SPECS
from rnnbounds.properties.judging.judge import judge
from rnnbounds.properties.judging.verdict import Verdict
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.exact.layers import Layered, StackMember
from rnnbounds.properties.systems.exact.members import nearest_float, rational
from rnnbounds.properties.systems.exact.members import nearest_floats as nearest_of
from rnnbounds.properties.systems.exact.networks import exact_members
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


def columns(vector: tuple[fmpq, ...]) -> torch.Tensor:
    """(1, n, 1) of a rational vector."""
    return torch.tensor([[[nearest_float(v)] for v in vector]], dtype=torch.float64)


@pytest.mark.slow
@pytest.mark.parametrize("activation", ["relu", "leaky-relu", "identity", "gelu", "sigmoid"])
@pytest.mark.parametrize("regime", KINDS["layered"].regimes)
def test_a_member_is_the_transition_of_impl(activation: str, regime: str) -> None:
    """Steps agree with the tensors' up to rounding; the factor is that which `certify` prints."""
    batch = build_batch(replace(LAYERED, activation=activation, regime=regime, batch=2))
    ends = MEASURES["deep_gap"].enclose(batch)
    for i, member in enumerate(exact_members(batch)):
        assert isinstance(member, Layered)
        cell, constants = member.cell, member.constants()
        told = certify(member.weights, inputs=9.0, norm="spectral", cell=f"deep-{activation}")
        assert told.lam == constants["lam_deep"]
        for s, (x, *_) in enumerate(member.x):
            one, other = (cell.step(columns(h[s]), columns(x)) for h in (member.h, member.h_other))
            exact = pytest.approx(ends.lo[i, s, 0], rel=1e-9, abs=1e-15)
            assert torch.linalg.vector_norm(one - other).item() == exact


@pytest.mark.parametrize("activation", ["leaky-relu", "identity", "tanh", "gelu"])
def test_derivatives_are_those_of_autograd(activation: str) -> None:
    """‖∂h_T/∂h_{T−k}‖₂ of the run from zero, for every window."""
    batch = build_batch(replace(LAYERED, activation=activation, batch=2))
    ends = MEASURES["dh_dh_deep"].enclose(batch)
    for i, member in enumerate(exact_members(batch)):
        assert isinstance(member, Layered)
        T, cell = member.spec.T, member.cell
        x = [columns(v) for v in member.x[0]]

        def later(h: torch.Tensor, k: int, cell=cell, x=x, T=T) -> torch.Tensor:  # type: ignore[no-untyped-def]
            for step in x[T - k :]:
                h = cell.step(h[None, :, None], step)[0, :, 0]
            return h

        h = torch.zeros(member.spec.n, dtype=torch.float64)
        path = [h]
        for step in x:
            path.append(cell.step(path[-1][None, :, None], step)[0, :, 0])
        for k in range(T + 1):
            jacobian = torch.autograd.functional.jacobian(  # type: ignore[no-untyped-call]
                lambda h, k=k, later=later: later(h, k), path[T - k]
            )
            norm = torch.linalg.matrix_norm(jacobian, 2).item()
            assert norm == pytest.approx(ends.lo[i, 0, k], rel=1e-10, abs=1e-14)


@pytest.mark.parametrize("regime", KINDS["layered"].regimes)
def test_norms_are_what_they_are_said_to_be(regime: str) -> None:
    """‖W_l‖₂ against NumPy's, and isometries keep lengths."""
    for n, member in product((1, 2, 3), range(3)):
        (found,) = exact_members(
            build_batch(replace(LAYERED, n=n, regime=regime).select_pair(member, 0))
        )
        assert isinstance(found, Layered)
        if found.layer_norms is None:
            assert regime == "gaussian"
            continue
        for i, size in enumerate(found.layer_norms, 1):
            A = found.weights[f"transition_{i}_weight"].numpy()
            most = nearest_float(size)
            assert np.linalg.norm(A, 2) == pytest.approx(most, abs=1e-15)
            assert not found.is_isometric or (most**2 * np.eye(n) == A.T @ A).all()


def test_the_gradient_of_isometries_is_known_exactly() -> None:
    """The product of norms to the k-th power, decided in rationals; of a shift it vanishes."""
    spec = replace(LAYERED, activation="identity", regime="signed", T=4, K=4)
    equality = claim("deep-gradient").form("equality").statement
    assert (judge(equality, (), build_batch(spec)).verdicts == Verdict.HOLDS).all()
    for member in exact_members(build_batch(spec)):
        assert member.parameters()["isometric"] == 1
    pair = build_batch(spec.select_pair(0, 0))
    exact = MEASURES["dh_dh_deep"].exact_square(pair, 3, 128)
    assert exact == rational(exact_members(pair)[0].constants()["W_product"]) ** 6
    shift = build_batch(NAMED_SPECS["nilpotent-layers"].select_pair(0, 0))
    assert MEASURES["dh_dh_deep"].exact_square(shift, 1, 128) == 0


def test_a_stack_is_two_networks() -> None:
    """Its path against NumPy's; factors are the largest row sums, and those of `certify`."""
    batch = build_batch(CASCADE)
    ends = MEASURES["top_before"].enclose(batch)
    for i, member in enumerate(exact_members(batch)):
        assert isinstance(member, StackMember)
        tables = member.tables()
        W_1, U, b_1, W_2, V, b_2 = (
            np.array(nearest_of(tables[name])) for name in ("W", "U", "b", "W2", "U2", "b2")
        )
        low, top = np.zeros(2), np.zeros(2)
        for k, x in reversed(list(enumerate(reversed(member.x[0])))):
            low = np.maximum(W_1 @ low + U @ np.array(nearest_of(x)) + b_1, 0)
            top = np.maximum(W_2 @ top + V @ low + b_2, 0)
            assert top.max() == pytest.approx(ends.lo[i, 0, k], rel=1e-13)
        constants = member.constants()
        assert constants["mu"] == np.abs(V).sum(1).max()
        assert constants["lam_2"] == np.abs(W_2).sum(1).max()
    told = certify(member.model, inputs=1.0, norm="infinity").constants
    assert constants == {"lam_1": told["lam_l0"], "lam_2": told["lam_l1"], "mu": told["mu_l1"]}
