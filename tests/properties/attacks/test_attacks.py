"""The attacks: deterministic, far-reaching, and each stopped when it is asked to stop."""

import numpy as np
import pytest
from hypothesis import strategies as st
from msgspec.structs import replace

from rnnbounds.properties.attacks.attack import Case, StopAttack
from rnnbounds.properties.attacks.budget import Budget
from rnnbounds.properties.attacks.campaign import run_attack
from rnnbounds.properties.attacks.search import run_hypothesis, visit_random_specs
from rnnbounds.properties.errors import SpecError
from rnnbounds.properties.judging.judge import Judgement
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.kind import DEPTH, largest_visible_window
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.table import make_spec
from rnnbounds.properties.systems.vanilla.learning import fewer_loss_systems
from rnnbounds.properties.systems.vanilla.plain import fewer_systems
from rnnbounds.theory import claim
from rnnbounds.theory.proof.claim import Form


def drawn(kind: str, examples: int = 12, seed: int = 1, **options: bool) -> list[SystemSpec]:
    """The specs that a random search draws."""
    found: list[SystemSpec] = []
    visit_random_specs(
        kind, found.append, examples=examples, batch=4, sequences=2, seed=seed, **options
    )  # fmt: skip
    return found


def test_search_stops_when_asked() -> None:
    """A visitor that has enough is shown nothing more."""
    seen: list[SystemSpec] = []

    def visit(spec: SystemSpec) -> float:
        seen.append(spec)
        if len(seen) == 3:
            raise StopAttack
        return 0.5

    visit_random_specs("rnn", visit, examples=50, batch=2, sequences=1, seed=0, target=True)
    assert len(seen) == 3


def test_targets_that_are_no_numbers_are_left_alone() -> None:
    """None, negative, huge and NaN ratios neither stop the search nor count."""
    odd = iter([None, -1.0, 1e301, float("nan"), float("inf")] * 10)
    seen: list[SystemSpec] = []

    def visit(spec: SystemSpec) -> float | None:
        seen.append(spec)
        return next(odd)

    visit_random_specs("rnn", visit, examples=20, batch=2, sequences=1, seed=0, target=True)
    assert len(seen) == 20


def test_wide_and_stepwise_draws() -> None:
    """Wide draws have regimes that only weights certify; stepwise ones few isometric systems."""
    wide = {spec.regime for spec in drawn("linear", 60, wide=True)}
    assert {"shear", "similar"} & wide
    assert not {"shear", "similar"} & {spec.regime for spec in drawn("linear", 60)}
    linear = make_spec(activation="identity", n=3, T=9, K=2, batch=64, sequences=8)
    assert fewer_systems(linear, stepwise=False).batch == 64
    assert fewer_systems(linear, stepwise=True).batch == 4
    assert fewer_systems(make_spec(n=1, T=9, batch=64, sequences=8), stepwise=False).sequences == 2


def test_windows_are_cut_where_powers_vanish() -> None:
    """λᵏ stays above 2⁻²⁴, and k within T."""
    assert largest_visible_window(0.5, 100, 64) == 24
    assert largest_visible_window(0.99, 10, 64) == 10
    assert largest_visible_window(0.0, 8, 4) == largest_visible_window(1.0, 8, 4) == 4
    assert (
        0.3 ** largest_visible_window(0.3, 64, 64)
        >= np.exp(-DEPTH)
        > 0.3 ** (1 + largest_visible_window(0.3, 64, 64))
    )


def test_gradients_are_read_where_they_can_be_seen() -> None:
    """Windows reach 32 where λᵏ allows, and crowds shrink where bounds are met exactly."""
    found = drawn("gradient", 60)
    assert max(spec.K for spec in found) == 32
    scalars = [s for s in found if s.n == 1 and s.activation == "identity"]
    assert scalars
    plain = make_spec(kind="gradient", n=3, T=9, K=4, lam=0.5, batch=64, sequences=8)
    assert fewer_loss_systems(plain, stepwise=False) == plain
    assert fewer_loss_systems(replace(plain, lam=0.0), stepwise=False).batch == 4
    assert fewer_loss_systems(replace(plain, n=1, trained="U"), stepwise=False).batch == 4
    assert fewer_loss_systems(replace(plain, inputs="zero", trained="U"), stepwise=False).batch == 4
    assert fewer_loss_systems(replace(plain, activation="identity"), stepwise=True).sequences == 2
    resting = replace(plain, inputs="zero", bias=0.0)
    assert fewer_loss_systems(replace(resting, trained="WU"), stepwise=False).batch == 4
    assert fewer_loss_systems(replace(resting, trained="WUb"), stepwise=False).batch == 64


def test_show_stops_an_attack_without_drawing(small: Budget) -> None:
    """A visitor that has enough ends the extremal and the gradient attack too."""
    form: Form = claim("state-bound").form("finite")
    for attack in ("extremal", "gradient"):
        seen: list[int] = []

        def judged(batch: Batch, seen: list[int] = seen) -> list[Judgement]:
            seen.append(batch.cell.batch)
            raise StopAttack

        run_attack(attack, Case("rnn", [form.statement], small, (2, 1), 0), judged)
        assert len(seen) == 1


def test_the_first_error_ends_a_search_as_itself() -> None:
    """A visitor that meets no system twice raises it once: no group of errors, no traceback."""
    seen: list[int] = []

    def visit(value: int) -> None:
        seen.append(value)
        if len(seen) == 3:
            raise SpecError("this one")

    with pytest.raises(SpecError, match="this one"):
        run_hypothesis(st.integers(0, 100), visit, examples=50, seed=0)
    assert len(seen) == 3
