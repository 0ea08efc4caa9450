"""From a spec to tensors: the same bits in a batch and alone, today and next year."""

from hashlib import sha256

import numpy as np
import pytest
import torch
from any_kind import any_system
from msgspec.structs import replace

from rnnbounds.properties.attacks.extremal import SPECIAL
from rnnbounds.properties.systems.batch import Batch, build, explicit
from rnnbounds.properties.systems.spec import INPUTS, REGIMES, TRAINED, check_spec
from rnnbounds.properties.systems.table import KINDS, kind_named, parse_spec, system

ARRAYS = ("C", "x", "h", "h_other")
GOLDEN = {
    # A change here changes every campaign and makes old replay commands mean other systems.
    "orthogonal/constant": "20c3f532b068a78a8359f90532f0385d092ffa1d45f332033a185ccf13293661",
    "gaussian/resonant": "a02bef67c418a12682d613ffc2fde832c7a4aa606c799e9ac472442c0fb95f34",
    "similar/saturating": "014f13d975b4c77377b39602bf05cdfd3dbb99c11ece555bfa28c6fcebb8e54a",
    "gradient/cross-entropy": "747a8a91354d10cdddef633007d4a863fe52fe38c7038fd4a15fccf3a8cb089a",
    "smooth/squared": "d5f75a9ce16d48d95d43865b93be2998cd5437610c6fd9a2a80242a733249608",
    "unstable/impulse": "5e85234b776aef092860fea5a518d0639e628ce96268f8373c53d4291ef5fcee",
}
GOLDEN_SPECS = {
    "orthogonal/constant": system(n=4, d=2, T=5, K=3, seed=1, batch=3, sequences=2, bias=0.5),
    "gaussian/resonant": system(
        regime="gaussian", inputs="resonant", n=3, d=3, T=4, seed=2, batch=2, sequences=3
    ),
    "similar/saturating": system(
        kind="linear",
        regime="similar",
        inputs="saturating",
        n=3,
        T=2,
        seed=3,
    ),
    "gradient/cross-entropy": system(
        kind="gradient",
        loss="cross-entropy",
        regime="block",
        inputs="resonant",
        n=3,
        d=2,
        T=4,
        K=2,
        seed=4,
        batch=2,
        sequences=2,
        bias=0.5,
    ),
    "smooth/squared": system(
        kind="smooth", regime="gaussian", inputs="gaussian", n=2, T=3, seed=5, batch=2, bias=0.5
    ),
    "unstable/impulse": system(kind="unstable", activation="identity", T=3, lam=2.0),
}


def tensors(batch: Batch) -> dict[str, torch.Tensor]:
    """All arrays of a batch."""
    cell, other = batch.cell, batch.other
    found = {"W": cell.W, "U": cell.U, "b": cell.b}
    found |= {name: getattr(batch, name) for name in ARRAYS}
    if batch.y is not None:
        found["y"] = batch.y
    if other is not None:
        found |= {"W2": other.W, "U2": other.U, "b2": other.b}
    return found


def bits(batch: Batch) -> str:
    """A digest of every bit of a batch."""
    return sha256(b"".join(t.numpy().tobytes() for t in tensors(batch).values())).hexdigest()


@pytest.mark.parametrize("name", GOLDEN_SPECS)
def test_golden_bits(name: str) -> None:
    """The arrays of a few specs are those that they always were."""
    assert bits(build(GOLDEN_SPECS[name])) == GOLDEN[name]


@pytest.mark.parametrize("inputs", INPUTS)
@pytest.mark.parametrize("regime", REGIMES)
def test_a_member_alone(regime: str, inputs: str) -> None:
    """A pair rebuilt alone, from JSON, has the bits that it had in its batch."""
    spec = system(
        regime=regime, inputs=inputs, n=3, d=2, T=4, K=2, seed=5, batch=3, sequences=3, bias=0.5
    )
    whole = tensors(build(spec))
    for member, sequence in ((0, 0), (2, 1), (1, 2)):
        alone = tensors(build(parse_spec(spec.alone(member, sequence).text)))
        for name, array in alone.items():
            expected = whole[name][member : member + 1]
            if name in ("x", "h", "h_other"):
                expected = expected[..., sequence : sequence + 1]
            assert array.shape == expected.shape
            assert array.numpy().tobytes() == expected.contiguous().numpy().tobytes(), name


@pytest.mark.parametrize(
    "kind",
    ["linear", "rnn", "matrix", "unstable", "descent", "gradient", "smooth", "projection"],
)
def test_every_kind_alone(kind: str) -> None:
    """Every kind of system can be built as a batch and as a pair, with the same bits."""
    spec = any_system(
        kind=kind, activation="identity", n=2, T=3, K=2, batch=2, sequences=2, lam=1.5
    )
    whole, alone = tensors(build(spec)), tensors(build(spec.alone(1, 1)))
    assert (alone["W"][0] == whole["W"][1]).all()
    assert (alone["x"][0, ..., 0] == whole["x"][1, ..., 1]).all()
    if KINDS[kind].route.learning:
        y, own = build(spec).y, build(spec.alone(1, 1)).y
        assert y is not None
        assert own is not None
        assert (own[0] == y[1]).all()
    if KINDS[kind].struct.paired:
        other, own = build(spec).other, build(spec.alone(1, 1)).other
        assert other is not None
        assert own is not None
        assert (own.W[0] == other.W[1]).all()
        assert (other.W != build(spec).cell.W).any()
    if kind == "unstable":
        assert (alone["U"][0] == torch.eye(1, 1)).all()


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if kind.struct.paired])
def test_both_weights_are_numbers_of_their_own(kind: str) -> None:
    """What is not trained is equal in both, and changes in neither with the other."""
    fields = {"trained": "b"} if kind_named(kind).struct.has("trained") else {}
    batch = build(any_system(kind, n=2, T=2, K=1, bias=0.5, **fields))
    assert batch.other is not None
    for name in "WUb":
        one, two = getattr(batch.cell, name), getattr(batch.other, name)
        before = two.clone()
        one += 1
        assert torch.equal(two, before), name


def test_sizes_do_not_change_what_is_shared() -> None:
    """More members and longer inputs leave W, U, b and C of a member as they are."""
    spec = system(regime="gaussian", n=3, d=2, T=3, seed=9, batch=2, bias=0.25)
    one, two = tensors(build(spec)), tensors(build(replace(spec, batch=5, T=7, sequences=4)))
    for name in ("W", "U", "b", "C"):
        assert (one[name] == two[name][:2]).all()


def test_written_out_and_back() -> None:
    """`explicit` writes a pair whose rebuilt arrays have the same bits."""
    for kind in ("rnn", "gradient", "smooth", "projection"):
        spec = any_system(
            kind=kind, regime="gaussian", inputs="gaussian", n=3, d=2, T=4, K=2, bias=0.5, batch=4
        )
        pair = build(spec.alone(3, 0))
        again = build(parse_spec(explicit(pair, **({"K": 1} if kind != "projection" else {})).text))
        assert int(kind != "projection") == again.K
        assert set(tensors(again)) == set(tensors(pair))
        for name, array in tensors(again).items():
            assert array.numpy().tobytes() == tensors(pair)[name].contiguous().numpy().tobytes()


def test_second_weights() -> None:
    """They differ in what is trained, by about the distance, and W' stays in the same set."""
    for trained in TRAINED:
        spec = system(
            kind="smooth", n=3, d=2, T=2, bias=0.5, trained=trained, distance=0.125, batch=4
        )
        batch = build(spec)
        assert batch.other is not None
        for name in ("W", "U", "b"):
            gap = (getattr(batch.cell, name) - getattr(batch.other, name)).abs().amax()
            assert (gap > 0) == (name in trained)
            assert gap < 1
        assert torch.linalg.matrix_norm(batch.other.W, 2).max() <= 0.5 + 1e-12


def test_special_instances_are_valid_specs() -> None:
    """Every named special instance passes the spec's own check and survives JSON."""
    for spec in SPECIAL.values():
        check_spec(spec)
        assert parse_spec(spec.text) == spec


def test_input_bound_is_certified() -> None:
    """B_x is at least every ‖x_t‖₂ in exact arithmetic, and hardly more."""
    from fractions import Fraction

    spec = system(inputs="gaussian", n=3, d=3, T=9, sequences=4, batch=3, scale=0.3)
    batch = build(spec)
    for member in range(3):
        bound = Fraction(batch.B_x[member].item()) ** 2
        squares = [
            sum(Fraction(v) ** 2 for v in column)
            for column in batch.x[member].transpose(1, 2).reshape(-1, 3).tolist()
        ]
        assert max(squares) <= bound <= max(squares) * (1 + Fraction(1, 10**12))


def test_parameters() -> None:
    """k counts the windows, t = T − k, epsilon is a share of S_0/(1 − λ), 0 if not finite."""
    batch = build(system("training", activation="identity", n=2, T=5, K=3, lam=0.5, epsilon=0.25))
    p = batch.parameters
    assert p["k"].ravel().tolist() == [0, 1, 2, 3]
    assert (p["t"] == 5 - p["k"]).all()
    assert (p["T"].item(), p["n"].item(), p["d"].item(), batch.spec.alpha) == (5, 2, 1, 1)
    reach = (batch.constants["S_0"] / (1 - batch.constants["lam"])).item()
    assert p["epsilon"].item() == pytest.approx(0.25 * reach)
    assert p["u"].item() == 2.0**-53
    unstable = build(system(activation="identity", lam=1.5))
    assert unstable.parameters["epsilon"].item() == 0.0


def test_finite_sees_every_array() -> None:
    """A NaN in a system spoils all its sequences; one in a sequence spoils that one alone."""
    batch = build(system(n=2, T=3, batch=2, sequences=2))
    assert batch.finite.all()
    for name in ("W", "U", "b"):
        spoiled = build(batch.spec)
        getattr(spoiled.cell, name)[1].fill_(float("nan"))
        assert spoiled.finite[:, :, 0].tolist() == [[True, True], [False, False]]
    for name in ("x", "h", "h_other"):
        spoiled = build(batch.spec)
        getattr(spoiled, name)[1, ..., 0] = float("inf")
        assert spoiled.finite[:, :, 0].tolist() == [[True, True], [False, True]]
    spoiled = build(batch.spec)
    spoiled.C[0, 0, 0] = float("nan")
    assert spoiled.finite[:, :, 0].tolist() == [[False, False], [True, True]]


def test_pairs_shrink_along_the_sequences() -> None:
    """Pairs of states become smaller by 8 every two sequences, and odd ones are antipodal."""
    batch = build(system(n=2, sequences=4))
    h, other = batch.h[0].numpy(), batch.h_other[0].numpy()
    assert (other[:, 1::2] == -h[:, 1::2]).all()
    assert np.abs(h[:, 2:]).max() < 1
