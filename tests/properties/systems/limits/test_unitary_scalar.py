"""Scalar networks in balls and by lumping, and the relations planted between tanh units."""

import math
from dataclasses import replace as changed
from itertools import product

import numpy as np
import pytest
import torch
from flint import arb, ctx, fmpq, fmpq_mat
from msgspec.structs import replace

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.numbers.rationals import identity
from rnnbounds.properties.judging.judge import judge
from rnnbounds.properties.judging.verdict import Verdict
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.limits import planted
from rnnbounds.properties.systems.limits.lumping import equal_unit_sets, is_same_map
from rnnbounds.properties.systems.limits.pairs import sigmoid_pair_member
from rnnbounds.properties.systems.limits.planted import Planted, certified_rank
from rnnbounds.properties.systems.limits.sigmoid import STEPS, SigmoidNetwork, probe_inputs
from rnnbounds.properties.systems.table import KINDS, make_spec
from rnnbounds.properties.systems.unitary.exact import nearest_floats
from rnnbounds.theory.language.statement import le
from rnnbounds.theory.language.vocabulary import symbols

ZERO, ONE = fmpq(0), fmpq(1)
SCALAR = make_spec(kind="sigmoid", activation="sigmoid", regime="lumped", lam=1.0)
PLANTED = make_spec(kind="planted", regime="all", n=5, T=3)
sample_rank, sign_classes = symbols("sample_rank sign_classes")


class TestScalarPairs:
    """Scalar networks with sigmoids."""

    @pytest.mark.parametrize("name", ["sigmoid", "tanh"])
    def test_unit_weights_are_matched(self, name: str) -> None:
        """|w| = 1 is matched by any number of units; any other weight is not."""
        for m, seed in product((1, 2, 3, 5), range(6)):
            spec = replace(SCALAR, activation=name, states=m, seed=seed)
            pair = sigmoid_pair_member(spec, 0)
            assert pair.is_same_map
            assert pair.is_equal
            off = changed(pair.candidate, e0=pair.candidate.e0 + fmpq(1, 2**90))
            assert changed(pair, candidate=off).probe_gap > 0
            for lam in (0.0, 0.5, 1 - 2.0**-20):
                other = sigmoid_pair_member(replace(spec, lam=lam), 0)
                assert not other.is_same_map
                assert other.probe_gap > 0

    @pytest.mark.parametrize(("name", "lam"), [("tanh", 0.25), ("sigmoid", 4.0)])
    def test_mixed_activations_match_at_one_weight(self, name: str, lam: float) -> None:
        """tanh against sigmoid at |w| = 1/4 and sigmoid against tanh at 4."""
        for seed in range(6):
            spec = replace(SCALAR, activation=name, regime="mixed", lam=lam, states=3, seed=seed)
            pair = sigmoid_pair_member(spec, 0)
            assert pair.network.activation != pair.candidate.activation
            assert pair.parameters()["same_activation"] == 0
            assert pair.probe_gap.is_zero()
            assert sigmoid_pair_member(replace(spec, lam=0.5), 0).probe_gap > 0

    def test_relu_is_matched_by_its_dilation(self) -> None:
        """Two ReLU units have no gap at all, and have one without the bias."""
        spec = replace(SCALAR, activation="relu", regime="held", lam=0.6, states=3)
        for seed in range(6):
            pair = sigmoid_pair_member(replace(spec, seed=seed), 0)
            assert pair.is_equal
            assert pair.parameters()["sigmoidal"] == 0
            d = pair.candidate.d
            bare = changed(pair.candidate, d=(d[0], ZERO, *d[2:]))
            other = changed(pair, candidate=bare)
            assert not other.is_equal
            assert other.probe_gap > 0

    def test_a_held_unit_comes_near(self) -> None:
        """For sigmoids it is never quite off: a gap far below float64's rounding is told from 0."""
        gaps = []
        for seed in range(12):
            pair = sigmoid_pair_member(
                replace(SCALAR, regime="held", lam=0.6, states=2, seed=seed), 0
            )
            assert pair.probe_gap > 0
            gaps.append(float(pair.probe_gap))
        assert min(gaps) < 1e-40

    @pytest.mark.parametrize("name", ["sigmoid", "tanh", "relu"])
    def test_gaps_agree_with_floats(self, name: str) -> None:
        """The ball encloses what a plain loop in float64 finds."""
        pair = sigmoid_pair_member(
            replace(SCALAR, activation=name, regime="unrelated", lam=0.5, states=3, seed=4), 0
        )

        def outputs(net: SigmoidNetwork, x: list[float]) -> list[float]:
            rho, V = activation(net.activation), np.array(nearest_floats(net.V.tolist()))
            g, d, e = (np.array(nearest_floats(part)) for part in (net.g, net.d, net.e))
            s, found = np.array(nearest_floats(net.start)), []
            for v in x:
                s = rho(torch.from_numpy(V @ s + g * v + d)).numpy()
                found.append(float(e @ s) + float(nearest_floats(net.e0)))
            return found

        gap = max(
            abs(p - q)
            for x in nearest_floats(probe_inputs())
            for p, q in zip(outputs(pair.network, x), outputs(pair.candidate, x), strict=True)
        )
        assert math.isclose(gap, float(pair.probe_gap), rel_tol=1e-12)
        assert all(len(x) == STEPS for x in probe_inputs())

    def test_the_normal_form_is_the_same_map(self) -> None:
        """A sigmoid network and its tanh form have overlapping outputs at 200 bits."""
        pair = sigmoid_pair_member(replace(SCALAR, regime="unrelated", states=3, seed=1), 0)
        with ctx.workprec(200):
            for one, other in zip(
                pair.candidate.outputs(), pair.candidate.as_tanh.outputs(), strict=True
            ):
                assert one.overlaps(other)
                assert all(p.rad() < 1e-40 for p in one.entries())

    def test_lumps_know_signs_and_zeros(self) -> None:
        """Opposite units share a set with the other sign; a unit equal to minus itself is 0."""
        V = identity(3)
        sets = equal_unit_sets(V, (ONE, -ONE, ZERO), (ONE, -ONE, ZERO), (ZERO, ZERO, ZERO))
        assert {(0, 1), (1, -1)} in sets
        assert {(2, 1), (2, -1)} in sets
        apart = equal_unit_sets(V, (ONE, -ONE, ZERO), (ONE, -ONE, ZERO), (ZERO, ONE, ZERO))
        assert {(0, 1)} in apart

    def test_sums_that_do_not_match_are_no_proof(self) -> None:
        """The readout of each set must be the network's."""
        one = SigmoidNetwork("tanh", identity(1), (ONE,), (ZERO,), (ZERO,), (ONE,))
        two = SigmoidNetwork(
            "tanh", identity(2), (ONE, ONE), (ZERO, ZERO), (ZERO, ZERO), (ONE, ZERO)
        )
        assert is_same_map(one, two)
        assert not is_same_map(one, changed(two, e=(ONE, ONE)))
        assert not is_same_map(one, changed(two, e0=ONE))
        assert not is_same_map(one, changed(two, start=(ONE, ZERO)))


class TestPlanted:
    """tanh units with planted relations."""

    def test_relations_are_counted(self) -> None:
        """A duplicate, an opposite, a constant and a unit that only waits, each once."""
        zero, two = [ZERO] * 5, fmpq(2)
        A = fmpq_mat(
            [[ONE, two, ZERO, ONE, ZERO]] * 2 + [[-ONE, -two, ZERO, -ONE, ZERO], zero, zero]
        )
        net = Planted(
            A, (ONE, ONE, -ONE, ZERO, ZERO), (ZERO, ZERO, ZERO, ONE, ZERO), (ZERO,) * 5, 2,
            tuple((fmpq(i, 3), fmpq(i * i, 5)) for i in range(9)), (ZERO, ONE),
        )  # fmt: skip
        assert (net.sign_classes, net.equal_classes, net.unit_count) == (1, 2, 5)
        assert net.least_rank == 1
        waiting = changed(net, A=fmpq_mat([[ONE, *zero[1:]], [ONE, *zero[1:]], *[zero] * 3]))
        # At the second time the second unit has no input of its own.
        waiting = changed(waiting, G=(ONE, ZERO, ONE, ZERO, ZERO))
        assert (waiting.sign_classes, waiting.least_rank) == (3, 3)

    def test_what_is_never_driven_is_constant(self) -> None:
        """A unit of undriven units has no class; one of a driven unit has one a step later."""
        A = fmpq_mat([[ZERO, ZERO], [ONE, ONE]])
        net = Planted(
            A, (ONE, ZERO), (ZERO, ONE), (ZERO, ZERO), 1, ((ZERO,), (ONE,), (fmpq(2),)), (ZERO, ONE)
        )
        assert net.sign_classes == 1
        later = changed(net, T=2, samples=tuple((fmpq(i), fmpq(2 * i - 1)) for i in range(4)))
        assert later.sign_classes == 2
        assert later.least_rank == 2

    @pytest.mark.parametrize("regime", KINDS["planted"].regimes)
    def test_the_lemma_holds_on_planted_networks(self, regime: str) -> None:
        """Rank and classes agree, and with numpy's idea of the rank where it has one."""
        for size, T, seed in product((2, 4, 6), (1, 3), range(4)):
            spec = replace(PLANTED, regime=regime, n=size, T=T, seed=seed)
            net = planted.planted_member(spec, 0)
            assert net.least_rank == net.sign_classes <= net.equal_classes <= net.unit_count
            with ctx.workprec(256):
                rows = np.array([[float(v) for v in row] for row in net.values().tolist()]).T
            assert np.linalg.matrix_rank(rows[1:] - rows[0], tol=1e-14) <= net.least_rank

    def test_a_rank_is_never_more_than_balls_prove(self) -> None:
        """Two rows that may be proportional count once, and balls around 0 not at all."""
        assert certified_rank([[arb(1), arb(2)], [arb(2), arb(4)]]) == 1
        assert certified_rank([[arb(1), arb(2)], [arb(2), arb(4, 1e-9)]]) == 1
        assert certified_rank([[arb(1), arb(2)], [arb(2), arb(5)]]) == 2
        assert certified_rank([[arb(0, 1e-9)]]) == 0
        assert certified_rank([]) == 0

    def test_too_few_samples_are_undecided(self) -> None:
        """Without enough inputs the lower bound stays below the classes: no verdict is reached."""
        batch = build_batch(replace(PLANTED, regime="none", n=3))
        statement = le(sign_classes, sample_rank)
        assert judge(statement, (), batch).verdicts.item() == Verdict.HOLDS
        (member,) = batch.exact
        assert isinstance(member, Planted)
        members = (changed(member, samples=member.samples[:2]),)
        few = changed(batch, systems=changed(batch.systems, members=members))
        ends = MEASURES["sample_rank"].enclose(few)
        assert (ends.lo.item(), ends.hi.item()) == (1, 3)

    def test_arbitrary_analytic_arguments_may_be_dependent(self) -> None:
        """tanh A_2 = tanh(A_1)/2 has rank 1 with two classes; a constant A_1 has neither."""
        net = planted.planted_member(PLANTED, 0)
        assert net.analytic == (1, 2)
        assert changed(net, pair=(ONE, ZERO)).analytic == (0, 0)
