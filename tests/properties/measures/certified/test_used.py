"""Which models are attacked, which have a unitary network, and what their shares come to."""

from types import SimpleNamespace
from typing import Any

import pytest
from flint import fmpq

from rnnbounds.properties.measures.certified import share_used
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.table import make_spec


def batch(kind: str = "certified", **fields: Any) -> Any:
    """A stand-in for a batch, which has a spec alone."""
    return SimpleNamespace(spec=make_spec(kind, n=2, T=4, K=4, batch=2, sequences=2, **fields))


def test_the_first_model_alone_is_attacked(monkeypatch: pytest.MonkeyPatch) -> None:
    """At its first pair of states, as it is drawn or by itself, and not once more by its layers."""
    monkeypatch.setattr(share_used, "attack_first_model", lambda spec: "found")
    many = batch(cell="gru")
    found = [share_used.attack_of_pair(many, i, s) for i in range(2) for s in range(2)]
    assert found == ["found", None, None, None]
    for member in range(2):
        for sequence in range(2):
            one = SimpleNamespace(spec=many.spec.select_pair(member, sequence))
            expected = None if member or sequence else "found"
            assert share_used.attack_of_pair(one, 0, 0) == expected
    assert share_used.attack_of_pair(batch(cell="stacked-gru", layers=2, layer=1), 0, 0) is None


def test_a_model_is_read_once() -> None:
    """At another pair of states it is the same object, with the states and the input of these."""
    spec = make_spec("certified", cell="rnn-tanh", n=2, T=4, K=4, regime="driven", lam=0.125,
    bias=0.5,
                  sequences=2, dtype="float32")  # fmt: skip
    many = build_batch(spec)
    one = share_used.model_point(many, 0, 0)
    other = share_used.model_point(many, 0, 1, one)
    assert other.program is one.program
    assert other.certificate is one.certificate
    assert [p.s for p in (one, other)] == [many.h[0, :, s].tolist() for s in range(2)]


def test_relu_networks_alone_have_a_unitary_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the member that is asked about."""
    monkeypatch.setattr(share_used, "unitary_network", lambda spec, member: member)
    assert share_used.unitary_equivalent(batch("certified-relu", cell="rnn-relu"), 1) == 1
    assert share_used.unitary_equivalent(batch(cell="rnn-relu"), 1) is None


@pytest.mark.parametrize(
    ("found", "expected"),
    [((True, True), True), ((True, False), False), ((None, False), False), ((True, None), None)],
)
def test_all_shares_have_to_be_small(
    monkeypatch: pytest.MonkeyPatch, found: tuple[bool | None, ...], expected: bool | None
) -> None:
    """One that is too large decides, and else one that is undecided."""
    told = {f"share {i}": (one, 1.0) for i, one in enumerate(found)}
    monkeypatch.setattr(share_used, "model_point", lambda *at: None)
    monkeypatch.setattr(share_used, "recomputed_constants", lambda point: told)
    monkeypatch.setattr(share_used, "is_share_at_most", lambda name, seen, told, bound: seen)
    many: Any = None
    assert share_used.is_every_share_at_most(many, fmpq(1), 0) is expected
