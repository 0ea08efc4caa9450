"""Predictions C h in place of outputs h: seen, stated, near data and attacked alike."""

import pytest
import torch
from draws import doubles, normal

from rnnbounds.impl.cells.runs import Runner, truncations
from rnnbounds.impl.memory.adversary.attack import attack
from rnnbounds.impl.memory.calls import measure
from rnnbounds.impl.memory.exact import distances, enclosed, within
from rnnbounds.impl.memory.local import local
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.reading.adapters import load_model

HEADS = {
    "same": torch.eye(3),
    "twice": 2 * torch.eye(3),
    "none": torch.zeros(2, 3),
    "one": torch.tensor([[1.0, -2.0, 0.5]]),
    "many": torch.randn(40, 3, generator=torch.Generator().manual_seed(1)),
}


def read(head: str | None) -> LoadedModel:
    """A GRU of two layers and three units, with that readout."""
    torch.manual_seed(0)
    state = {
        f"rnn.{name}": part.double() for name, part in torch.nn.GRU(2, 3, 2).named_parameters()
    }
    if head is None:
        return load_model(state, layer="rnn")
    return load_model(state | {"C.weight": HEADS[head].double()}, layer="rnn", readout="C")


def windows() -> torch.Tensor:
    """Four of seven inputs."""
    return normal(4, 7, 2, seed=3)


@pytest.mark.parametrize("head", HEADS)
def test_gaps_are_those_of_predictions(head: str) -> None:
    """Seen, and in balls, they are the norms of C times what outputs are apart; what is stated
    counts them."""
    runner, x, C = Runner.of(read(head)), windows(), HEADS[head].double()
    plain = Runner.of(read(None))
    s = plain.zero(4)
    for t in range(7):
        s = plain.step(s, x[None, :, t])
    full, s = s[0, :, -3:], plain.zero(4)
    for t in range(5, 7):
        s = plain.step(s, x[None, :, t])
    gaps = ((full - s[0, :, -3:]) @ C.mT).norm(dim=1)
    assert torch.allclose(truncations(runner, x, (0, 2, 7)).gaps[:, 1], gaps, rtol=1e-12, atol=0)
    balls = distances(runner, enclosed(runner, x), enclosed(runner, x[:, 5:]))
    for gap, ball in zip(gaps.tolist(), balls, strict=True):
        assert float(ball.mid()) == pytest.approx(gap, rel=1e-12)
    middle = float(gaps.sort().values[1:3].mean())
    assert within(runner, x, [(2, middle or 1.0)])[0].inside.sum() == (2 if middle else 4)


def test_products_are_of_predictions() -> None:
    """‖C J ⋯ J‖₂, whether there are more predictions than states or fewer."""
    x = windows()
    of_h = local(Runner.of(read(None)), x, (0, 3))
    twice = local(Runner.of(read("twice")), x, (0, 3))
    assert torch.allclose(twice.products, 2 * of_h.products)
    many = local(Runner.of(read("many")), x, (0, 3))
    norm = torch.linalg.matrix_norm(HEADS["many"].double(), 2)
    assert torch.allclose(many.products[:, 0], norm)
    assert (many.products[:, 1] <= norm * of_h.products[:, 1] * (1 + 1e-9)).all()
    assert torch.equal(many.norms, of_h.norms)


def test_what_is_attacked_is_the_prediction() -> None:
    """Of two units the readout sees the one that forgets sooner: k is of that one alone."""
    state = {
        "weight_hh_l0": doubles([[0.5, 0.0], [0.0, 0.75]]), "weight_ih_l0": doubles([[1.0], [1.0]]),
        "C.weight": doubles([[4.0, 0.0]]),
    }  # fmt: skip
    told = attack(state, inputs=1.0, eps=1e-2, cell="linear", layer=".", readout="C", work=2**30)
    (witness,) = told.witnesses
    assert (told.windows, told.readout["tensor"]) == (((1e-2, 10),), "C.weight")
    assert witness.gap == pytest.approx(8 * 2.0**-9, rel=1e-3)  # 4 · 2 · 2⁻⁹ > 0.01 > 4 · 2 · 2⁻¹⁰
    assert "norm" not in told.to_dict()["readout"]


def test_a_measurement_names_the_readout() -> None:
    """And each k is of predictions."""
    told = {head: measure(read(head), windows(), eps=0.2, near=2.0**-9) for head in ("twice", None)}
    assert told["twice"].to_dict()["readout"]["tensor"] == "C.weight"
    assert "readout" not in told[None].to_dict()
    worst = [[row["worst"] for row in told[head].curve] for head in ("twice", None)]
    assert worst[0] == pytest.approx([2 * gap for gap in worst[1]])
    assert told["twice"].window(0.2) >= told[None].window(0.2)
    near, of_h = (dict(told[head].near.gaps) for head in ("twice", None))
    for k in near.keys() & of_h.keys():
        assert near[k] == pytest.approx(2 * of_h[k])
