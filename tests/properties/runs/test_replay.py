"""Replay: the same check again, and an independent program that agrees with what it dumps."""

from pathlib import Path

import msgspec
import numpy as np
import pytest
from seen import attack_claim

from rnnbounds.properties.attacks.budget import Budget
from rnnbounds.properties.errors import SpecError
from rnnbounds.properties.runs.replay import dump_system, find_statement, replay
from rnnbounds.properties.systems.cells.batch import cells_of
from rnnbounds.properties.systems.table import make_spec
from rnnbounds.reports.records.checks import Check
from rnnbounds.theory import claim
from rnnbounds.theory.errors import UnknownClaimError
from rnnbounds.theory.language.parse import parse_statement

FIVE = ("state-bound", "truncation", "prediction", "contraction-rnn", "vanishing-gradient")
RHO = {
    "identity": lambda z: z,
    "tanh": np.tanh,
    "relu": lambda z: np.maximum(z, 0),
    "sin": np.sin,
    "arctan": np.arctan,
    "sigmoid": lambda z: 1 / (1 + np.exp(-z)),
    "softplus": lambda z: np.logaddexp(0, z),
}


def worst_of(id: str, small: Budget) -> list[Check]:
    """The tightest checks of a small random attack."""
    evidence = attack_claim(claim(id), "random", budget=small, seed=5)
    return [check for e in evidence.values() for check in e.tightest]


def lhs_in_numpy(id: str, a: dict[str, np.ndarray], k: int, rho) -> float:
    """The left-hand side from the dumped arrays alone, one step at a time."""
    W, U, b, C, x = (a[name] for name in ("W", "U", "b", "C", "x"))
    T = len(x)

    def run(rows: np.ndarray) -> np.ndarray:
        h = np.zeros(len(W))
        for row in rows:
            h = rho(W @ h + U @ row + b)
        return h

    if id == "contraction-rnn":
        one, two = (rho(W @ a[h] + U @ x[0] + b) for h in ("state_a", "state_b"))
        return float(np.linalg.norm(one - two))
    if id == "state-bound":
        return float(np.linalg.norm(run(x)))
    if id == "vanishing-gradient":
        columns = []
        for j in range(x.shape[1]):
            up, down = x.copy(), x.copy()
            up[T - 1 - k, j] += 1e-6
            down[T - 1 - k, j] -= 1e-6
            columns.append((run(up) - run(down)) / 2e-6)
        return float(np.linalg.norm(np.stack(columns, axis=1), 2))
    gap = run(x) - run(x[T - k :] if k else x[:0])
    return float(np.linalg.norm(C @ gap if id == "prediction" else gap))


@pytest.mark.slow
@pytest.mark.parametrize("id", FIVE)
def test_worst_checks_recomputed(id: str, small: Budget, tmp_path: Path) -> None:
    """The worst checks of a claim replay to the same record, and plain NumPy gives their lhs."""
    seen = 0
    for check in worst_of(id, small):
        spec = msgspec.json.encode(check.spec).decode()
        statement, assumptions = find_statement(id, check.form)
        replayed = replay(spec, statement, assumptions, id, check.form)
        (again,) = (c for c in replayed.checks if c.k == check.k)
        assert again.verdict == check.verdict == "HOLDS"
        assert again.replay == check.replay
        assert float(again.lhs) == pytest.approx(float(check.lhs), rel=1e-12)
        assert float(again.rhs) == pytest.approx(float(check.rhs), rel=1e-12)
        dump_system(replayed, tmp_path / "check.npz")
        arrays = dict(np.load(tmp_path / "check.npz"))
        at = arrays["k"].tolist().index(-1 if check.k is None else check.k)
        if cells_of(replayed.batch) is None and replayed.batch.cell.activation.name in RHO:
            rho = RHO[replayed.batch.cell.activation.name]
            lhs = lhs_in_numpy(id, arrays, check.k or 0, rho)
            accuracy = {"rel": 1e-6, "abs": 1e-7} if id == "vanishing-gradient" else {"rel": 1e-9}
            assert float(arrays["lhs"][at]) == pytest.approx(lhs, **accuracy)
            seen += 1
    assert seen


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
    """The file holds the system, the inputs, the pair, and both sides at every window."""
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
