"""Candidates, scalar networks and planted relations as they are found, judged and kept."""

import math

import pytest
from flint import fmpq
from msgspec.structs import replace

from rnnbounds.properties.attacks.extremal import NAMED_SPECS
from rnnbounds.properties.judging.evidence import Evidence
from rnnbounds.properties.judging.judge import judge
from rnnbounds.properties.judging.verdict import Verdict
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.limits import fitted as fits
from rnnbounds.properties.systems.limits.near import candidate_member
from rnnbounds.properties.systems.limits.pairs import sigmoid_pair_member
from rnnbounds.properties.systems.spec import SystemSpec, check_spec
from rnnbounds.properties.systems.table import KINDS, make_spec, parse_spec
from rnnbounds.theory.language.law import Assumption
from rnnbounds.theory.language.statement import Statement, eq, le, lt, ne
from rnnbounds.theory.language.vocabulary import symbols

ZERO, ONE = fmpq(0), fmpq(1)
CANDIDATE = make_spec(
    kind="candidate", regime="dilated", n=2, d=2, T=2, lam=0.0,
    states=4,
)  # fmt: skip
SCALAR = make_spec(kind="sigmoid", activation="sigmoid", regime="lumped", lam=1.0)
PLANTED = make_spec(kind="planted", regime="all", n=5, T=3)
n, states, T, separation, W_rank = symbols("n states T separation W_rank")
sigmoid_gap, w_abs = symbols("sigmoid_gap w_abs")
sample_rank, sign_classes = symbols("sample_rank sign_classes")


def given(*conditions: Statement) -> tuple[Assumption, ...]:
    """Assumptions with these conditions."""
    return tuple(Assumption(str(i), "", condition) for i, condition in enumerate(conditions))


class TestFits:
    """Candidates that optimisation finds."""

    def test_every_fit_is_a_spec(self) -> None:
        """Both kinds have an attack; what it finds can be written, read and judged."""
        for kind in ("candidate", "sigmoid"):
            found = list(KINDS[kind].search.find(6, 2, 0))
            assert found
            for spec in found:
                check_spec(spec)
                assert parse_spec(spec.text) == spec
            if kind == "sigmoid":
                assert {spec.states for spec in found} == set(range(1, 9))
            else:
                assert all(spec.states < 2 * spec.n for spec in found)

    @pytest.mark.parametrize("units", [1, 2, 3])
    def test_the_search_reaches_a_match_where_there_is_one(self, units: int) -> None:
        """With 2n states the readout is exact; with one state fewer a separation is left."""
        full = [candidate_member(s, 0) for s in fits.fit_readouts(units, 2 * units, 100, 0)]
        short = [candidate_member(s, 0) for s in fits.fit_readouts(units, 2 * units - 1, 100, 0)]
        assert min(one.separation_square for one in full) == 0
        assert min(one.separation_square for one in short) > 0

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["sigmoid", "tanh"])
    def test_the_fit_convicts_a_unit_weight(self, name: str) -> None:
        """With |w| = 1 the best fit of one unit is exact; with w = 1/2 it is near and no more."""
        exact = [sigmoid_pair_member(s, 0) for s in fits.fit_sigmoid(name, 1, 300, 0, lam=1.0)]
        assert any(pair.probe_gap.is_zero() for pair in exact)
        near = [sigmoid_pair_member(s, 0) for s in fits.fit_sigmoid(name, 4, 100, 0)]
        assert all(pair.probe_gap > 0 for pair in near)
        one = [sigmoid_pair_member(s, 0) for s in fits.fit_sigmoid(name, 1, 100, 0)]
        assert min(float(p.probe_gap) for p in near) < min(float(p.probe_gap) for p in one)


class TestJudged:
    """The kinds as the attack sees them."""

    def verdicts(self, statement: Statement, spec: SystemSpec, *conditions: Statement) -> set[str]:
        """The verdicts of all members of a batch."""
        found = judge(statement, given(*conditions), build_batch(spec)).verdicts.ravel()
        return {Verdict(int(v)).name for v in found}

    def test_separations_are_decided(self) -> None:
        """A match is VIOLATED, a near miss HOLDS, a network with W ≠ 0 is VACUOUS."""
        statement, forgets = ne(separation, 0), eq(W_rank, 0)
        assert self.verdicts(statement, NAMED_SPECS["swap-of-states"], forgets) == {"VIOLATED"}
        near = NAMED_SPECS["near-miss"]
        assert self.verdicts(statement, near, forgets, lt(states, 2 * n)) == {"HOLDS"}
        nearer = replace(near, distance=2.0**-1000)
        assert self.verdicts(statement, nearer, forgets) == {"HOLDS"}
        other = NAMED_SPECS["rescaled-nilpotent"]
        assert self.verdicts(statement, other, forgets) == {"VACUOUS"}
        assert self.verdicts(statement, other) == {"VIOLATED"}

    def test_gaps_are_decided(self) -> None:
        """Unit weights, mixed activations and ReLU fall; a held unit does not."""
        statement = ne(sigmoid_gap, 0)
        for name in ("unit-weight", "unit-weight-lumped", "quarter-weight-tanh", "relu-dilation"):
            assert self.verdicts(statement, NAMED_SPECS[name]) == {"VIOLATED"}
        assert self.verdicts(statement, NAMED_SPECS["held-unit"], ne(w_abs, 1)) == {"HOLDS"}
        assert self.verdicts(statement, NAMED_SPECS["unit-weight"], ne(w_abs, 1)) == {"VACUOUS"}

    def test_a_parameter_that_a_kind_lacks_decides_nothing(self) -> None:
        """A number of states said of a plain network is UNDECIDED, not an error."""
        plain = make_spec(activation="identity", regime="diagonal", T=3, lam=0.5)
        assert self.verdicts(le(*symbols("h_norm states")), plain) == {"UNDECIDED"}
        assert self.verdicts(eq(states, states + 1), plain) == {"UNDECIDED"}

    def test_the_nearest_are_kept_by_states(self) -> None:
        """The smallest gap of each number of states, whatever the order, of what differs alone."""
        specs = [replace(SCALAR, regime="held", lam=0.6, states=m, seed=s) for m in (2, 3)
                 for s in range(3)]  # fmt: skip
        statement = ne(sigmoid_gap, 0)

        def seen(order: list[SystemSpec], differ: bool = True) -> Evidence:
            whole = Evidence("claim", "form", windowed=False, asserts_difference=differ)
            for spec in order:
                part = Evidence("claim", "form", windowed=False, asserts_difference=differ)
                batch = build_batch(spec)
                part.add_batch(batch, judge(statement, (), batch))
                whole.merge(part)
            return whole

        found = seen(specs)
        assert found.nearest == seen(specs[::-1]).nearest
        assert set(found.nearest) == {"2", "3"}
        for m, (apart, check) in found.nearest.items():
            gaps = [
                float(sigmoid_pair_member(s, 0).probe_gap.lower())
                for s in specs
                if s.states == int(m)
            ]
            assert math.isclose(apart, min(gaps), rel_tol=1e-9)
            assert check.explanation == f"{m} states: the two sides differ by {apart} or more"
            assert check.replay.startswith("rnnbounds replay")
        assert not seen(specs, differ=False).nearest
