"""Networks of several sigmoid units and their unitary candidates, in balls and by lumping."""

import random
from itertools import product

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from msgspec.structs import replace

from rnnbounds.impl.numbers.rationals import cayley, diagonal, identity
from rnnbounds.properties.attacks.extremal import NAMED_SPECS
from rnnbounds.properties.judging.judge import judge
from rnnbounds.properties.judging.verdict import Verdict
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.limits import fitted as fits
from rnnbounds.properties.systems.limits.pairs import MergedOrthogonal, sigmoid_pair_member
from rnnbounds.properties.systems.limits.sigmoid_pairs import spectral_radius_bound
from rnnbounds.properties.systems.spec import SystemSpec, check_spec
from rnnbounds.properties.systems.table import make_spec, parse_spec
from rnnbounds.properties.systems.unitary.exact import nearest_floats
from rnnbounds.theory import claim

ONE = fmpq(1)
VECTOR = make_spec(kind="sigmoid", activation="sigmoid", regime="lumped", lam=1.0, n=2, states=6)
CLAIM = claim("urnn-sigmoid")


def verdicts(spec: SystemSpec, name: str = "vector") -> set[str]:
    """Judge a form, or a false variant, on a batch."""
    ids = {variant.id: variant for variant in CLAIM.false_variants}
    said = ids[name] if name in ids else CLAIM.form(name)
    found = judge(said.statement, said.assumptions, build_batch(spec)).verdicts.ravel()
    return {Verdict(int(v)).name for v in found}


def test_an_orthogonal_matrix_of_merged_copies() -> None:
    """V is orthogonal, and V A = A W where A tells the copies of each unit."""
    for n, seed in product((2, 3), range(4)):
        draw = random.Random(seed)
        turned = MergedOrthogonal(
            ONE, cayley(n, draw), (1, *[draw.choice((1, 4)) for _ in range(n - 1)])
        )
        V, copied = turned.V, turned.unit_of_copy
        A = fmpq_mat([[fmpq(i == unit) for i in range(n)] for unit in copied])
        assert V * V.transpose() == identity(len(copied))
        assert V * A == A * turned.W
        assert abs(np.linalg.eigvals(np.array(nearest_floats(turned.W.tolist())))) == pytest.approx(
            1.0
        )


@pytest.mark.parametrize("name", ["sigmoid", "tanh"])
def test_a_radius_of_one_is_matched(name: str) -> None:
    """W = D⁻¹QD has the same outputs as copies of its units; λ < 1 has not, nor has any change."""
    merged = 0
    for n, seed in product((2, 3), range(6)):
        spec = replace(VECTOR, activation=name, n=n, seed=seed)
        pair = sigmoid_pair_member(spec, 0)
        assert pair.is_same_map
        assert pair.is_equal
        W = pair.network.V
        merged += W * W.transpose() != identity(n)
        assert pair.constants()["W_radius"] >= 1
        for lam in (0.5, 1 - 2.0**-20):
            other = sigmoid_pair_member(replace(spec, lam=lam), 0)
            assert not other.is_same_map
            assert other.probe_gap > 0
    assert 0 < merged < 12


@pytest.mark.parametrize(("name", "lam"), [("tanh", 0.25), ("sigmoid", 4.0)])
def test_mixed_activations_match_at_one_factor(name: str, lam: float) -> None:
    """tanh against sigmoid at λ = 1/4 and sigmoid against tanh at 4."""
    for n, seed in product((2, 3), range(4)):
        pair = sigmoid_pair_member(
            replace(VECTOR, activation=name, regime="mixed", lam=lam, n=n, seed=seed), 0
        )
        assert pair.parameters()["same_activation"] == 0
        assert pair.probe_gap.is_zero()


def test_held_units_come_near() -> None:
    """The dilation of λQ is orthogonal, and the nearer the more its added units are held."""
    spec = replace(VECTOR, regime="held", lam=0.6, states=4)
    pairs = [sigmoid_pair_member(replace(spec, activation=name, seed=seed), 0)
             for name in ("sigmoid", "tanh") for seed in range(8)]  # fmt: skip
    for pair in pairs:
        V = pair.candidate.V
        assert V * V.transpose() == identity(4)
        assert pair.probe_gap > 0
    assert min(float(pair.probe_gap) for pair in pairs) < 1e-60


def test_cancelling_readouts_are_matched() -> None:
    """Their output is 0, as if they were not driven; the vector form says nothing of them."""
    for n, m in ((2, 1), (3, 4)):
        spec = replace(VECTOR, regime="cancelling", lam=0.5, n=n, states=m)
        pair = sigmoid_pair_member(spec, 0)
        assert pair.is_same_map
        assert pair.parameters()["driven"] == 0
        assert verdicts(spec) == {"VACUOUS"}
        assert verdicts(spec, "constant-output") == {"VIOLATED"}


@pytest.mark.parametrize("n", [1, 2, 3])
def test_radii_are_bounds_from_above(n: int) -> None:
    """Never below numpy's eigenvalues, and near the radius however large the norm."""
    for seed in range(12):
        draw = random.Random(seed)
        W = cayley(n, draw) * fmpq(draw.randint(1, 9), 8)
        T = identity(n)
        for i in range(1, n):
            T[0, i] = fmpq(draw.randint(-9, 9))
        W = T * W * T.inv()
        radius = max(abs(np.linalg.eigvals(np.array(nearest_floats(W.tolist())))))
        assert radius * (1 - 1e-9) <= spectral_radius_bound(W) <= 1.02 * radius
    assert spectral_radius_bound(fmpq_mat(n, n)) < 1e-300
    assert spectral_radius_bound(diagonal([ONE] * n)) >= 1
    assert spectral_radius_bound(diagonal([fmpq(2**20 - 1, 2**20)] * n)) < 1


def test_a_nilpotent_matrix_has_no_radius() -> None:
    """W = (0 100; 0 0): the norm is 100, the bound next to 0."""
    assert spectral_radius_bound(fmpq_mat([[0, 100], [0, 0]])) < 1e-300


def test_the_vector_form_is_decided() -> None:
    """It holds for large norms, says nothing of a radius 1, and falls there without its premise."""
    assert verdicts(NAMED_SPECS["sheared-radius"]) == {"HOLDS"}
    norms = [
        np.linalg.norm(W, 2) for W in build_batch(NAMED_SPECS["sheared-radius"]).cell.W.numpy()
    ]
    assert max(norms) > 1.5
    for name in ("orthogonal-itself", "orthogonal-merged"):
        assert verdicts(NAMED_SPECS[name]) == {"VACUOUS"}
        assert verdicts(NAMED_SPECS[name], "radius-one") == {"VIOLATED"}


def test_the_scalar_form_is_about_one_unit() -> None:
    """Of several units it says nothing; a unit weight below 1 both forms speak of."""
    assert verdicts(NAMED_SPECS["sheared-radius"], "excluded") == {"VACUOUS"}
    assert verdicts(NAMED_SPECS["orthogonal-itself"], "unit-weight") == {"VACUOUS"}
    for name in ("excluded", "vector"):
        assert verdicts(NAMED_SPECS["held-unit"], name) == {"HOLDS"}


@pytest.mark.parametrize("name", ["sigmoid", "tanh"])
def test_fits_of_several_units(name: str) -> None:
    """Fitted candidates round-trip as specs, nearer than drawn ones, but never equal."""
    near = fits.fit_sigmoid(name, 3, 60, 0, n=2)
    for spec in near:
        check_spec(spec)
        assert parse_spec(spec.text) == spec
        assert verdicts(spec) == {"HOLDS"}
    first = sigmoid_pair_member(near[0], 0)
    assert first.candidate.V * first.candidate.V.transpose() == identity(3)
    far = sigmoid_pair_member(replace(near[0], found=None), 0)
    assert min(float(sigmoid_pair_member(s, 0).probe_gap) for s in near) < float(far.probe_gap)
