"""Predictions C h in place of outputs h: seen, stated, near data and attacked alike."""

import pytest
import torch
from draws import doubles, normal

import rnnbounds
from rnnbounds.impl.memory.adversary.attack import attack
from rnnbounds.impl.memory.exact import distances, within
from rnnbounds.impl.memory.local import local
from rnnbounds.impl.memory.measure import measure
from rnnbounds.impl.memory.runs import Runner, truncations
from rnnbounds.impl.memory.tube import runs
from rnnbounds.impl.memory.tube.runs import Around
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.models.normalisation import LAYER, Normalisation
from rnnbounds.impl.models.readout import Linear, Readout
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


def read_chain(stages: str) -> LoadedModel:
    """That GRU, with a readout of two layers and their biases."""
    torch.manual_seed(0)
    net = torch.nn.ModuleDict({
        "rnn": torch.nn.GRU(2, 3, 2), "a": torch.nn.Linear(3, 4), "b": torch.nn.Linear(4, 2),
        "norm": torch.nn.LayerNorm(4),
    }).double()  # fmt: skip
    with torch.no_grad():
        net["a"].bias.copy_(doubles([0.5, -0.5, 0.25, 0.125]))
        net["norm"].weight.copy_(doubles([0.5, -1.0, 2.0, 1.0]))
        net["norm"].bias.copy_(doubles([0.5, 0.0, -0.5, 1.0]))
    return load_model(net.state_dict(), layer="rnn", readout=stages)


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
    for gap, ball in zip(gaps.tolist(), distances(runner, x, x[:, 5:]), strict=True):
        assert float(ball.mid()) == pytest.approx(gap, rel=1e-12)
    middle = float(gaps.sort().values[1:3].mean())
    assert within(runner, x, 2, middle or 1.0).inside.sum() == (2 if middle else 4)


@pytest.mark.slow
@pytest.mark.parametrize("head", HEADS)
def test_no_predictions_near_the_data_are_further_apart(head: str, monkeypatch) -> None:
    """Of runs at corners, from any states; no more than ‖C‖₂ times what outputs are, and rows by
    themselves come to the same."""
    plain, x, C = Runner.of(read(None)), windows()[:1], HEADS[head].double()
    told, of_h = (Around(one, x, 2.0**-6, 2.0**-4) for one in (Runner.of(read(head)), plain))
    signs = torch.randint(0, 2, (64, 7, 2), generator=torch.Generator().manual_seed(5)) * 2.0 - 1
    near = x + 2.0**-6 * signs
    starts = 2.0**-4 * (normal(2, 64, 6, seed=6)).sign()
    for k in (0, 2, 7):
        ends = []
        for s, inputs in zip(starts, (near, near[:, 7 - k :]), strict=True):
            s = s[None]
            for one in inputs.unbind(1):
                s = plain.step(s, one[None])
            ends.append(s[0, :, -3:])
        seen = ((ends[0] - ends[1]) @ C.mT).norm(dim=1).max()
        gap = float(told.gaps(k))
        assert float(seen) <= gap * (1 + 1e-12)
        assert gap <= float(torch.linalg.matrix_norm(C, 2)) * float(of_h.gaps(k)) * (1 + 1e-9)
        monkeypatch.setattr(runs, "ROWS", 7)
        assert float(told.gaps(k)) == pytest.approx(gap, rel=1e-12)
        monkeypatch.undo()


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
    told = attack(state, 1.0, 1e-2, cell="linear", layer=".", readout="C", work=2**30)
    (witness,) = told.witnesses
    assert (told.windows, told.readout["tensor"]) == (((1e-2, 10),), "C.weight")
    assert witness.gap == pytest.approx(8 * 2.0**-9, rel=1e-3)  # 4 · 2 · 2⁻⁹ > 0.01 > 4 · 2 · 2⁻¹⁰
    assert "norm" not in told.to_json()["readout"]


def test_a_measurement_names_the_readout() -> None:
    """And each k is of predictions."""
    told = {
        head: measure(read(head), windows(), eps=0.05, near=2.0**-9) for head in ("twice", None)
    }
    assert told["twice"].to_json()["readout"]["tensor"] == "C.weight"
    assert "readout" not in told[None].to_json()
    worst = [[row["worst"] for row in told[head].curve] for head in ("twice", None)]
    assert worst[0] == pytest.approx([2 * gap for gap in worst[1]])
    assert told["twice"].window(0.05) >= told[None].window(0.05)
    near, of_h = (dict(told[head].near.gaps) for head in ("twice", None))
    for k in near.keys() & of_h.keys():
        assert near[k] == pytest.approx(2 * of_h[k])


NORMS = ["a,layer-norm-0.01:norm,relu,b", "rms-norm-0.01,a", "a,tanh,layer-norm-1e-05,b"]


@pytest.mark.parametrize("stages", ["a,tanh,b", "a,relu,b", "tanh,a", "a,b", "a,silu", *NORMS])
def test_gaps_of_chains(stages: str) -> None:
    """Seen, in balls, stated and near the data: of f(h), biases and all."""
    model, x = read_chain(stages), windows()
    runner, plain = Runner.of(model), Runner.of(read(None))
    gaps = truncations(runner, x, (0, 2, 7)).gaps[:, 1]
    ends = []
    for inputs in (x, x[:, 5:]):
        s = plain.zero(4)
        for one in inputs.unbind(1):
            s = plain.step(s, one[None])
        ends.append(s[0, :, -3:])
    full, late = (through(model.readout, h) for h in ends)
    assert torch.allclose(gaps, (full - late).norm(dim=1), rtol=1e-12, atol=1e-15)
    for gap, ball in zip(gaps.tolist(), distances(runner, x, x[:, 5:]), strict=True):
        assert float(ball.mid()) == pytest.approx(gap, rel=1e-12)
    assert within(runner, x, 2, float(gaps.sort().values[1:3].mean())).inside.sum() == 2
    near = Around(runner, x, 2.0**-9).gaps(2)[0]
    assert (near >= gaps).all()
    assert (near <= model.readout.norm * Around(plain, x, 2.0**-9).gaps(2)[0] * (1 + 1e-9)).all()


def through(readout: Readout, h: torch.Tensor) -> torch.Tensor:
    """f(h) by torch's own functions."""
    for stage in readout.stages:
        if isinstance(stage, Linear):
            h = torch.nn.functional.linear(h, stage.weight, stage.bias[1])
        elif isinstance(stage, Normalisation):
            own = stage.tensors.get("norm.weight"), stage.tensors.get("norm.bias")
            f, size = torch.nn.functional, (stage.n,)
            layer = stage.kind == LAYER
            h = (
                f.layer_norm(h, size, *own, stage.eps)
                if layer
                else f.rms_norm(h, size, own[0], stage.eps)
            )
        else:
            h = stage(h)
    return h


@pytest.mark.parametrize("stages", ["a,tanh,b", *NORMS])
def test_near_the_data_a_readout_is_as_steep_as_there(stages: str) -> None:
    """Hardly more than runs at corners are apart, and far less than L says of a normalisation."""
    model, x = read_chain(stages), windows()[:1]
    runner, plain = Runner.of(model), Runner.of(read(None))
    told, of_h = (Around(one, x, 2.0**-9, 2.0**-6) for one in (runner, plain))
    signs = torch.randint(0, 2, (64, 7, 2), generator=torch.Generator().manual_seed(5)) * 2.0 - 1
    near, starts = x + 2.0**-9 * signs, 2.0**-6 * normal(2, 64, 6, seed=6).sign()
    for k in (0, 3):
        ends = []
        for s, inputs in zip(starts, (near, near[:, 7 - k :]), strict=True):
            for one in inputs.unbind(1):
                s = plain.step(s[None], one[None])[0]
            ends.append(through(model.readout, s[:, -3:]))
        seen, gap = float((ends[0] - ends[1]).norm(dim=1).max()), float(told.gaps(k))
        assert seen <= gap <= 1.5 * seen
        if model.readout.norm > 5:
            assert gap < 0.5 * model.readout.norm * float(of_h.gaps(k))


@pytest.mark.parametrize("stages", ["a,tanh,b", NORMS[0]])
def test_products_of_chains(stages: str) -> None:
    """The derivative of f at the last output, times those of the steps."""
    model, x = read_chain(stages), windows()
    told = local(Runner.of(model), x, (0, 1)).products
    plain = Runner.of(read(None))
    for i in range(4):
        s = plain.zero(1)
        for t in range(6):
            s = plain.step(s, x[None, i : i + 1, t])

        def last(s: torch.Tensor, i: int = i) -> torch.Tensor:
            moved = plain.step(s[None, None], x[None, i : i + 1, 6])
            return through(model.readout, moved[0, 0, -3:])

        J = torch.autograd.functional.jacobian(last, s[0, 0])
        assert float(told[i, 1]) == pytest.approx(float(torch.linalg.matrix_norm(J, 2)), rel=1e-9)


def test_a_chain_is_attacked() -> None:
    """With its biases: tanh of a large one sees hardly any input."""
    state = {
        "weight_hh_l0": doubles([[0.5]]), "weight_ih_l0": doubles([[1.0]]),
        "a.weight": doubles([[1.0]]), "b.weight": doubles([[4.0]]),
    }  # fmt: skip
    asked = {"cell": "linear", "layer": ".", "readout": "a,tanh,b"}
    told = attack(state, 1.0, 1e-2, **asked, work=2**30)
    assert (told.windows, told.readout["chain"]) == (
        ((1e-2, 10),),
        ["a.weight", "tanh", "b.weight"],
    )
    flat = attack(state | {"a.bias": doubles([9.0])}, 1.0, 1e-2, **asked, work=2**30)
    assert flat.windows[0][1] == 0
    k = rnnbounds.certify(state, 1.0, 1e-2, **asked).window(1e-2)
    assert k >= told.windows[0][1]
