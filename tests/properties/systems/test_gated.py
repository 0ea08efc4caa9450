"""Gated cells: pairs in the box, certified constants, readings, instances, and the search."""

import math

import numpy as np
import pytest
from msgspec.structs import replace

from rnnbounds.properties.errors import SpecError
from rnnbounds.properties.judging.judge import Verdict, judge
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.systems.batch import build_batch, explicit_spec
from rnnbounds.properties.systems.cells.gated import GATED_SPECIAL
from rnnbounds.properties.systems.spec import check_spec
from rnnbounds.properties.systems.table import make_spec
from rnnbounds.theory.language.parse import parse_statement

KINDS: tuple[str, ...] = ("lstm", "gru", "gru-cho")


def test_not_measured_on_other_systems() -> None:
    """The constants that only gated cells have, or those of another kind, are infinite."""
    batch = build_batch(make_spec(n=2))
    assert np.isinf(batch.constant("theta").hi).all()
    cho = build_batch(make_spec(kind="gru-cho", regime="zero"))
    assert np.isinf(cho.constant("i_bar").hi).all()
    assert np.isinf(cho.constant("W_norm").hi).all()


def test_stable_cells_are_stable() -> None:
    """The regime of Miller and Hardt's set has θ < 1, the steep one has not."""
    for regime, stable in (("stable", True), ("steep", False)):
        spec = make_spec(kind="lstm", regime=regime, n=2, lam=0.99, bias=0.5, batch=16)
        assert ((build_batch(spec).constant("theta").hi < 1) == stable).all()


def test_equal_states_have_no_gap() -> None:
    """Two equal states stay so: 0 ≤ 0 holds without rounding, and in balls."""
    for kind in KINDS:
        spec = explicit_spec(
            build_batch(make_spec(kind=kind, regime="gaussian", n=2, T=2, bias=0.5))
        )
        same = replace(spec, values=replace(spec.values, h_other=spec.values.h))
        batch = build_batch(same)
        for name in ("gate_gap", "gate_gap_box", "run_gap", "start_gap", "gate_state_gap"):
            assert MEASURES[name].enclose(batch).hi.item() == 0, name
            assert MEASURES[name].ball(batch, 0, 128).is_zero(), name


def test_a_second_bias_is_asked_for() -> None:
    """A cell that is written out has both biases."""
    spec = GATED_SPECIAL["full-cell"]
    with pytest.raises(SpecError, match="second bias"):
        check_spec(replace(spec, values=replace(spec.values, b_hh=None)))


def test_boxes_without_end_decide_nothing() -> None:
    """A forget gate that cannot be told from 1 leaves the cells unbounded: vacuous, not a pass."""
    spec = GATED_SPECIAL["full-cell"]
    stuck = replace(spec, values=replace(spec.values, b=[0.0, 1000.0, 1.0, 0.0]))
    batch = build_batch(stuck)
    assert math.isinf(batch.constant("B_c").hi.item())
    assert judge(parse_statement("c_size <= B_c"), (), batch).verdicts.item() == Verdict.VACUOUS
    assert batch.finite.all()
