"""From a spec to tensors: the same bits in a batch and alone, today and next year."""

import pytest
import torch
from any_kind import any_system
from msgspec.structs import replace

from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.spec import TRAINED
from rnnbounds.properties.systems.table import KINDS, find_kind, make_spec


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if kind.spec_type.paired])
def test_both_weights_are_numbers_of_their_own(kind: str) -> None:
    """Untrained weights are equal in both, and do not change with the others."""
    fields = {"trained": "b"} if find_kind(kind).spec_type.has("trained") else {}
    batch = build_batch(any_system(kind, n=2, T=2, K=1, bias=0.5, **fields))
    assert batch.other is not None
    for name in "WUb":
        one, two = getattr(batch.cell, name), getattr(batch.other, name)
        before = two.clone()
        one += 1
        assert torch.equal(two, before), name


def test_sizes_do_not_change_what_is_shared() -> None:
    """More members and longer inputs leave W, U, b and C of a member as they are."""
    spec = make_spec(regime="gaussian", n=3, d=2, T=3, seed=9, batch=2, bias=0.25)
    one, two = build_batch(spec), build_batch(replace(spec, batch=5, T=7, sequences=4))
    assert (two.C[:2] == one.C).all()
    for name, part in one.weights.items():
        assert (part == two.weights[name][:2]).all()


def test_second_weights() -> None:
    """They differ in what is trained, by about the distance, and W' stays in the same set."""
    for trained in TRAINED:
        spec = make_spec(
            kind="smooth", n=3, d=2, T=2, bias=0.5, trained=trained, distance=0.125, batch=4
        )
        batch = build_batch(spec)
        assert batch.other is not None
        for name in ("W", "U", "b"):
            gap = (getattr(batch.cell, name) - getattr(batch.other, name)).abs().amax()
            assert (gap > 0) == (name in trained)
            assert gap < 1
        assert torch.linalg.matrix_norm(batch.other.W, 2).max() <= 0.5 + 1e-12


def test_input_bound_is_certified() -> None:
    """B_x is at least every ‖x_t‖₂ in exact arithmetic, and hardly more."""
    from fractions import Fraction

    spec = make_spec(inputs="gaussian", n=3, d=3, T=9, sequences=4, batch=3, scale=0.3)
    batch = build_batch(spec)
    for member in range(3):
        bound = Fraction(batch.B_x[member].item()) ** 2
        squares = [
            sum(Fraction(v) ** 2 for v in column)
            for column in batch.x[member].transpose(1, 2).reshape(-1, 3).tolist()
        ]
        assert max(squares) <= bound <= max(squares) * (1 + Fraction(1, 10**12))


def test_parameters() -> None:
    """k counts the windows, t = T − k, epsilon is a share of S_0/(1 − λ), 0 if not finite."""
    batch = build_batch(
        make_spec("training", activation="identity", n=2, T=5, K=3, lam=0.5, epsilon=0.25)
    )
    p = batch.parameters
    assert p["k"].ravel().tolist() == [0, 1, 2, 3]
    assert (p["t"] == 5 - p["k"]).all()
    assert (p["T"].item(), p["n"].item(), p["d"].item(), batch.spec.alpha) == (5, 2, 1, 1)
    reach = (batch.constants["S_0"] / (1 - batch.constants["lam"])).item()
    assert p["epsilon"].item() == pytest.approx(0.25 * reach)
    unstable = build_batch(make_spec(activation="identity", lam=1.5))
    assert unstable.parameters["epsilon"].item() == 0.0
