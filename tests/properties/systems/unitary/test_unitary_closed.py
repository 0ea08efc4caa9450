"""Cases that exact kinds refuse or leave open: underflow, overflow, no cell."""

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from msgspec.structs import replace

from rnnbounds.properties.attacks.extremal import NAMED_SPECS
from rnnbounds.properties.errors import SpecError
from rnnbounds.properties.judging.judge import judge
from rnnbounds.properties.judging.verdict import Verdict
from rnnbounds.properties.measures.exact.paths import root_ends
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.spec import Candidate, SystemSpec, check_spec
from rnnbounds.properties.systems.table import make_spec
from rnnbounds.properties.systems.unitary.blocks import eigenvalue_multiplicity
from rnnbounds.properties.systems.unitary.exact import nearest_float, upper_float
from rnnbounds.theory import claim
from rnnbounds.theory.language.parse import parse_statement
from rnnbounds.theory.language.statement import eq, ne
from rnnbounds.theory.language.vocabulary import symbols
from rnnbounds.theory.proof.claim import Statement

CANDIDATE = make_spec(
    kind="candidate", regime="solved", n=2, d=2, T=2, lam=0.0,
    states=3,
)  # fmt: skip
(separation,) = symbols("separation")
TINY = fmpq(1, 2**1100)


def verdicts(statement: Statement, spec: SystemSpec) -> set[str]:
    """The verdicts of one statement on a spec."""
    return {Verdict(int(v)).name for v in judge(statement, (), build_batch(spec)).verdicts.ravel()}


def test_what_is_below_all_floats_is_not_zero() -> None:
    """2⁻¹¹⁰⁰ has no enclosure that tells it from 0, so that float64 says nothing of it."""
    assert np.isnan(root_ends(TINY * TINY)).all()
    assert root_ends(fmpq(0)) == (0.0, 0.0)


def test_a_near_miss_below_all_floats_is_no_match() -> None:
    """3 states come within 2⁻¹⁰⁷⁴ of a match; what presupposes one speaks of nothing there."""
    spec = replace(CANDIDATE, regime="approximate", distance=2.0**-1074)
    assert verdicts(eq(separation, 0), spec) == {"VIOLATED"}
    assert verdicts(ne(separation, 0), spec) == {"HOLDS"}
    for name in ("needed", "kernel"):
        form = claim("urnn-tight").form(name)
        seen = judge(form.statement, form.assumptions, build_batch(spec))
        assert (seen.verdicts == Verdict.VACUOUS).all()


def test_multiplicities_of_irrational_eigenvalues() -> None:
    """√½ twice, a pair of complex ones, and i and −i on the circle."""
    half, third = fmpq(1, 2), fmpq(1, 3)
    W = fmpq_mat([[0, half, 0, 0], [1, 0, 0, 0], [0, 0, 0, half], [0, 0, 1, 0]])
    assert eigenvalue_multiplicity(W, units=False) == 2
    assert eigenvalue_multiplicity(fmpq_mat([[0, -third], [third, 0]]), units=False) == 1
    turn = fmpq_mat([[0, -1], [1, 0]])
    assert eigenvalue_multiplicity(turn, units=False) == 0
    assert eigenvalue_multiplicity(turn, units=True) == 1
    # A block of a drawn orthogonal matrix with one row more has a simple eigenvalue.
    spec = make_spec(kind="block", regime="cayley", n=3, states=4, batch=24)
    found = MEASURES["multiplicity"].enclose(build_batch(spec))
    assert (found.lo == 1).all()
    assert verdicts(parse_statement("multiplicity + 1 <= states - n"), spec) == {"VIOLATED"}


def test_too_large_for_floats_is_undecided() -> None:
    """No crash and no verdict where the constants are beyond all floats."""
    assert nearest_float(fmpq(2) ** 2000) == np.inf
    assert nearest_float(-(fmpq(2) ** 2000)) == -np.inf
    assert upper_float(fmpq(2) ** 2000) == np.inf
    form = claim("urnn-equivalence").form("equivalent")
    for field in ("scale", "bias", "start"):
        spec = replace(NAMED_SPECS["slow-drive"], T=4, **{field: 1.7e308})
        seen = judge(form.statement, form.assumptions, build_batch(spec))
        assert set(seen.verdicts.ravel()) <= {Verdict.UNDECIDED, Verdict.HOLDS}


def test_a_candidate_on_a_kink_wherever_it_is_moved_is_refused() -> None:
    """G orthogonal to every move, and pre-activations of 0."""
    found = Candidate(
        skew=[0.5] * 3, signs=[1.0] * 3, G=[[1024.0, -1031.0]] * 3, d=[2.0] * 3, s=[0.0] * 3
    )
    spec = replace(CANDIDATE, found=found)
    check_spec(spec)
    with pytest.raises(SpecError, match="kink"):
        build_batch(spec)


def test_the_defect_counts_every_entry() -> None:
    """Two columns of length 1 that are not orthogonal: ‖VᵀV − I‖_F² = 2 (3/5)²."""
    V = fmpq_mat([[1, fmpq(3, 5)], [0, fmpq(4, 5)]])
    pair = build_batch(NAMED_SPECS["slow-drive"].select_pair(0, 0))
    vars(pair.exact[0])["V"] = V
    assert MEASURES["unitary_defect"].exact_square(pair, 0, 128) == fmpq(18, 25)


def test_one_step_is_too_few() -> None:
    """Without two steps every form that speaks of them falls: n states match one."""
    spec = NAMED_SPECS["one-step"]
    for name in ("excluded", "needed", "kernel"):
        form = claim("urnn-tight").form(name)
        without = tuple(part for part in form.assumptions if part.id != "two steps")
        assert (judge(form.statement, form.assumptions, build_batch(spec)).verdicts == 3).all()
        assert Verdict.VIOLATED in judge(form.statement, without, build_batch(spec)).verdicts
