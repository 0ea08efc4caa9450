"""Bounds that are met with equality are decided, also where an activation is linear in part."""

import pytest
from flint import fmpq
from msgspec.structs import replace

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.properties.judging.judge import Verdict, judge
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.systems.batch import Batch, build_batch
from rnnbounds.properties.systems.table import make_spec
from rnnbounds.theory import claim

ELU = make_spec(
    activation="elu", regime="gaussian", T=64, lam=0.9999990463256836, scale=0.25,
    seed=116086496885817, batch=4, sequences=2,
)  # fmt: skip
FLAT = make_spec(
    kind="gradient", activation="elu", regime="zero", n=6, d=2, scale=2.0**-10,
    seed=88072822667173, batch=4, sequences=2, distance=2.0**-20,
)  # fmt: skip


def verdicts(claim_id: str, form: str, batch: Batch) -> set[Verdict]:
    """All that are reached."""
    entry = claim(claim_id).form(form)
    return {Verdict(int(v)) for v in judge(entry.statement, entry.assumptions, batch).verdicts.flat}


class TestPartlyLinear:
    """ELU is the identity above 0, and its slope there is exactly 1."""

    def test_a_state_that_stays_positive_is_rational(self) -> None:
        """A scalar run above 0 meets the bound on states with equality."""
        assert verdicts("state-bound", "finite", build_batch(ELU)) == {Verdict.HOLDS}

    @pytest.mark.parametrize("form", ["weights", "mixed"])
    def test_the_steepest_unit_decides(self, form: str) -> None:
        """Without recurrent weights the longest row is that of a unit above 0."""
        assert verdicts("cell-constants", form, build_batch(FLAT)) == {Verdict.HOLDS}

    def test_the_loss_has_no_say_in_a_step(self) -> None:
        """A ReLU is decided in rationals beside cross-entropy, which has none."""
        spec = make_spec(
            kind="gradient", activation="relu", regime="symmetric", inputs="resonant", T=64,
            lam=0.25, bias=0.5, seed=16848354682959, batch=4, sequences=2, loss="cross-entropy",
            target=0.0, distance=2.0**-20,
        )  # fmt: skip
        assert verdicts("cell-constants", "weights", build_batch(spec)) == {Verdict.HOLDS}

    def test_below_zero_nothing_is_rational(self) -> None:
        """ELU of a negative rational is not one."""
        rho = activation("elu")
        assert rho.rational(fmpq(-1)) is None
        assert rho.rational(fmpq(2, 3)) == fmpq(2, 3)

    def test_slopes_that_change_are_left_to_balls(self) -> None:
        """Upper bounds of slopes say nothing about how slopes differ."""
        pair = build_batch(replace(FLAT, regime="orthogonal", lam=0.5).select_pair(0, 0))
        assert MEASURES["dphi_w_gap"].exact_square(pair, 0, 256) is None

    def test_a_longest_row_with_an_irrational_slope_is_left_to_balls(self) -> None:
        """Below 0 all slopes are powers of e."""
        pair = build_batch(FLAT.select_pair(0, 0))
        pair.cell.b.fill_(-1.0)
        assert MEASURES["dphi_w"].exact_square(pair, 0, 256) is None
