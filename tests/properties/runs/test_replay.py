"""Replay: the same check again, and an independent program that agrees with what it dumps."""

from pathlib import Path

import numpy as np
import pytest

from rnnbounds.properties.errors import SpecError
from rnnbounds.properties.runs.replay import dump_system, find_statement, replay
from rnnbounds.properties.systems.table import make_spec
from rnnbounds.theory import claim
from rnnbounds.theory.errors import UnknownClaimError
from rnnbounds.theory.language.parse import parse_statement


def test_statements_by_name() -> None:
    """A form, the first form, a false variant; anything else is an unknown name."""
    entry = claim("truncation")
    assert find_statement("truncation", "")[0] == entry.statement
    assert find_statement("truncation", "uniform")[0] == entry.form("uniform").statement
    assert find_statement("truncation", "next-power")[0] == entry.variant("next-power").statement
    for id, form in (("truncation", "no-such-form"), ("no-such-claim", "")):
        with pytest.raises(UnknownClaimError):
            find_statement(id, form)


def test_a_whole_batch_cannot_be_replayed() -> None:
    """A spec of many pairs needs a member and a sequence; one of a single pair does not."""
    statement = parse_statement("h_gap <= 9")
    for spec in (
        make_spec(batch=2),
        make_spec(sequences=2),
        make_spec(batch=2, member=1, sequences=2),
    ):
        with pytest.raises(SpecError, match="member and sequence"):
            replay(spec.text, statement, ())
    pair = replay(make_spec(batch=2, sequences=2).select_pair(1, 1), statement, ())
    assert len(pair.checks) == 1
    assert replay(make_spec(T=2, K=2), statement, ()).checks[2].k == 2
    assert replay(make_spec(), parse_statement("h_norm <= 9"), ()).checks[0].k is None


def test_a_vacuous_pair_shows_both_sides() -> None:
    """Replay reports both sides even if nothing is judged."""
    form = claim("truncation").form("finite")
    found = replay(make_spec(T=3, lam=1.5), form.statement, form.assumptions)
    assert [check.verdict for check in found.checks] == ["VACUOUS"]
    assert all(np.isfinite([float(check.lhs), float(check.rhs)]).all() for check in found.checks)


def test_dump_is_complete(tmp_path: Path) -> None:
    """The file holds the system, the inputs, the pair, and both sides at every window: NumPy alone
    recomputes the left one."""
    statement = parse_statement("h_gap <= S_0*lam**k/(1 - lam)")
    spec = make_spec(n=3, d=2, T=4, K=2, activation="identity")
    replayed = replay(spec, statement, ())
    dump_system(replayed, tmp_path / "a.npz")
    arrays = dict(np.load(tmp_path / "a.npz"))
    shapes = {name: array.shape for name, array in arrays.items()}
    assert shapes == {
        "W": (3, 3), "U": (3, 2), "b": (3,), "C": (2, 3), "x": (4, 2),
        "state_a": (3,), "state_b": (3,), "activation": (), "states": (5, 3),
        "states_truncated": (3, 5, 3),
        "lhs": (3,), "rhs": (3,), "k": (3,), "S_0": (), "lam": (),
    }  # fmt: skip
    W, U, b, x = (arrays[name] for name in ("W", "U", "b", "x"))
    ends = [np.zeros(3) for _ in range(3)] + [np.zeros(3)]  # of windows k = 0, 1, 2, and of all
    for t, row in enumerate(x):
        for k in (3, *(k for k in range(3) if t >= 4 - k)):
            ends[k] = W @ ends[k] + U @ row + b
    gaps = [np.linalg.norm(ends[3] - ends[k]) for k in range(3)]
    assert arrays["lhs"] == pytest.approx(gaps, rel=1e-9)
    assert list(tmp_path.iterdir()) == [tmp_path / "a.npz"]


def test_dump_of_training_tells_all(tmp_path: Path) -> None:
    """The target, the second weights, and what training steps by and projects onto."""
    gap = claim("gradient-lipschitz").forms[0]
    spec = make_spec(kind="smooth", n=2, d=2, T=3, loss="squared")
    dump_system(replay(spec, gap.statement, gap.assumptions), tmp_path / "pair.npz")
    pair = dict(np.load(tmp_path / "pair.npz"))
    assert {"y", "W_other", "U_other", "b_other"} <= pair.keys()
    form = claim("weight-gap").forms[0]
    spec = make_spec(kind="training", n=2, d=1, T=3, K=1, steps=2, loss="linear")
    dump_system(replay(spec, form.statement, form.assumptions), tmp_path / "training.npz")
    training = dict(np.load(tmp_path / "training.npz"))
    assert training["step_size"] > 0
    assert training["radii"].shape == (3,)
