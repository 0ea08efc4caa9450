"""Gated cells beside torch's LSTM and GRU: their steps by hand, their names, and their boxes."""

import numpy as np
import pytest
import torch
from cell_systems import weights_of
from hypothesis import given, settings
from hypothesis import strategies as st

import rnnbounds
from rnnbounds.impl.cells.gated.activations import numbered
from rnnbounds.impl.cells.gated.variants import VariantError
from rnnbounds.impl.cells.table import CELLS, kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.errors import RangeError, UnknownActivationError, UnknownNameError
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.reading.recognition.misfit import AmbiguousCellError

n, d = 3, 2
NAMES = ("lstm-peephole", "mgu", "mgu-zhou", "li-gru-tanh", "li-gru-relu", "gru+hard-sigmoid+relu",
         "lstm+hard-sigmoid-0.2-0.5+tanh+relu", "gru-cho+sigmoid+elu")  # fmt: skip


def sigma(a):
    """1/(1 + e⁻ᵃ)."""
    return 1 / (1 + np.exp(-a))


def drawn(cell: str, seed: int = 0, scale: float = 1.0) -> dict[str, torch.Tensor]:
    """Weights of that cell in float64 by the names of its layout."""
    raw = weights_of(cell, n=n, d=d, seed=seed, scale=scale)
    suffix = kind_of(cell).suffix
    return {name.removesuffix(suffix): part.double() for name, part in raw.items()}


def step(cell: str, weights, s, x) -> np.ndarray:
    """One step from s under x."""
    kind = kind_of(cell)
    s, x = (torch.from_numpy(part)[None] for part in (s, x))
    return kind.step(weights, kind.drive(weights, x), s)[0].numpy()


def by_hand(cell: str):
    """Weights, a state, an input."""
    weights, by = drawn(cell), np.random.default_rng(1)
    size = kind_of(cell).layout(weights).sizes(weights).state
    return weights, by.standard_normal(size), by.standard_normal(d)


def test_peepholes_by_hand():
    """i and f see the old cell, o the new one."""
    weights, s, x = by_hand("lstm-peephole")
    W, U, b, c_b = (weights[name].numpy() for name in
                    ("weight_hh", "weight_ih", "bias_ih", "bias_hh"))  # fmt: skip
    P = {gate: weights[f"weight_c{gate}"].numpy() for gate in "ifo"}
    c, h = s[:n], s[n:]
    i, f, z, o = np.split(W @ h + U @ x + b + c_b, 4)
    c = sigma(f + P["f"] * c) * c + sigma(i + P["i"] * c) * np.tanh(z)
    h = sigma(o + P["o"] * c) * np.tanh(c)
    np.testing.assert_allclose(step("lstm-peephole", weights, s, x), np.concatenate([c, h]), 1e-13)


def test_minimal_gated_units_by_hand():
    """flax's MGUCell resets after the product and keeps f; Zhou's before it, and keeps 1 − f."""
    weights, h, x = by_hand("mgu")
    W, U, b, c = (weights[name].numpy() for name in
                  ("weight_hh", "weight_ih", "bias_ih", "bias_hh"))  # fmt: skip
    fed, at = U @ x + b, W @ h + c
    f = sigma(fed[:n] + at[:n])
    flax = np.tanh(fed[n:] + f * at[n:])
    np.testing.assert_allclose(step("mgu", weights, h, x), (1 - f) * flax + f * h, 1e-13)
    zhou = np.tanh(fed[n:] + W[n:] @ (f * h) + c[n:])
    np.testing.assert_allclose(step("mgu-zhou", weights, h, x), (1 - f) * h + f * zhou, 1e-13)


@pytest.mark.parametrize("rho", ["relu", "leaky-relu", "tanh"])
def test_light_grus_by_hand(rho):
    """torch's own normalisation in evaluation, and the candidate first."""
    weights, h, x = by_hand(f"li-gru-{rho}")
    norm = torch.nn.BatchNorm1d(2 * n).double().eval()
    stored = {name.removeprefix("norm_"): part for name, part in weights.items() if "norm_" in name}
    norm.load_state_dict(stored | {"num_batches_tracked": torch.tensor(0)})
    fed = norm((weights["w_weight"] @ torch.from_numpy(x))[None])[0].detach()
    a, z = (fed + weights["u_weight"] @ torch.from_numpy(h)).chunk(2)
    act = {"relu": torch.relu, "leaky-relu": torch.nn.LeakyReLU(), "tanh": torch.tanh}[rho]
    z, old = z.sigmoid(), torch.from_numpy(h)
    expected = (z * old + (1 - z) * act(a)).numpy()
    np.testing.assert_allclose(step(f"li-gru-{rho}", weights, h, x), expected, 1e-12)


@pytest.mark.parametrize(
    ("one", "other"),
    [("lstm", "lstm+sigmoid+tanh+tanh"), ("gru", "gru+sigmoid+tanh"),
     ("gru-cho", "gru-cho+sigmoid+tanh"), ("lstm", "lstm-peephole")],
)  # fmt: skip
def test_cases_of_one_another(one, other):
    """With σ and tanh, or with peepholes of 0, a run is torch's to the bit, and λ nearly so."""
    weights = drawn(one, scale=0.25)
    zeros = {name: torch.zeros(n).double() for name in drawn(other) if name not in weights}
    s, x = np.linspace(-1, 1, 2 * n if "lstm" in one else n), np.array([0.25, -0.5])
    expected = step(one, weights, s, x)
    np.testing.assert_array_equal(step(other, weights | zeros, s, x), expected)
    lams = [certify(held, 1.0, norm="perron", cell=cell).lam
            for cell, held in ((one, weights), (other, weights | zeros))]  # fmt: skip
    assert lams[0] == pytest.approx(lams[1], rel=1e-3)


@pytest.mark.slow
@settings(deadline=None, max_examples=10)
@given(st.sampled_from(NAMES), st.integers(0, 2**16), st.sampled_from((0.25, 0.5)))
def test_runs_contract_and_stay(cell, seed, scale):
    """In its norm no pair of runs from the box draws together slower than λ, and none leaves it."""
    model = load_model(drawn(cell, seed, scale), cell)
    told = certify(model, 1.0, norm="infinity")
    box, by = (
        torch.tensor(told.to_json()["box"] or [torch.inf]),
        torch.Generator().manual_seed(seed),
    )
    if told.verdict != "certified":
        return
    pair = box.double() * (2 * torch.rand(2, 64, len(box), generator=by).double() - 1)
    pair[:, ::2] = box * pair[:, ::2].sign()
    x = torch.randn(64, 6, d, generator=by).double()
    x = x / x.norm(dim=2, keepdim=True) * (1 - 1e-12)
    kind = kind_of(model.name)
    for t in range(6):
        after = torch.stack([kind.step(model.weights, kind.drive(model.weights, x[:, t]), s)
                             for s in pair])  # fmt: skip
        assert bool((after.abs() <= box * (1 + 1e-12)).all())
        gap, before = ((s[0] - s[1]).abs().amax(1) for s in (after, pair))
        assert bool((gap <= told.lam * before * (1 + 1e-9) + 1e-13).all())
        pair = after


def test_a_peephole_may_never_forget():
    """One that opens its own forget gate: c grows for ever, and nothing is certified."""
    weights = {name: torch.zeros_like(part) for name, part in drawn("lstm-peephole").items()}
    weights["weight_cf"] += 1.0
    weights["bias_ih"] += torch.tensor([4.0, 0.0, 4.0, 0.0]).repeat_interleave(n)
    told = certify(weights, 1.0)
    assert (told.cell, told.verdict) == ("lstm-peephole", "undecided")
    assert told.constants["B_c"] == float("inf")


def test_names():
    """A cell is the same object at each call, and a stack's layers may have activations too."""
    name = "gru+hard-sigmoid+relu"
    assert kind_of(name) is kind_of(name)
    assert name not in CELLS
    assert kind_of("stacked-" + name).name == "stacked-" + name
    assert numbered("hard-sigmoid", 0.2, 0.5) == "hard-sigmoid-0.2-0.5"
    assert numbered("affine", -1e-30, 1e30).count("e") == 1


@pytest.mark.parametrize(
    ("name", "error", "what"),
    [
        ("gru+sigmoid", VariantError, "has 1 activations, not 2"),
        ("mgu+sigmoid+tanh", VariantError, "has no activations to name, as lstm"),
        ("gru+tanh+tanh", UnknownNameError, "did you mean hard-sigmoid or"),
        ("gru+sigmoid+tnah", UnknownActivationError, "did you mean tanh"),
        ("gru+hard-sigmoid-0.2+tanh", UnknownActivationError, "hard-sigmoid-0.2-0.5"),
        ("gru+sigmoid+leaky-relu-nan", UnknownActivationError, "leaky-relu-0.2"),
    ],
)
def test_names_of_none(name, error, what):
    """In one line that says how they are written."""
    with pytest.raises(error, match=what) as told:
        kind_of(name)
    assert "\n" not in str(told.value)


def test_what_a_file_does_not_say():
    """The kind of a unit with one gate, the candidate of a light GRU; a variance below 0."""
    for cell, first in (("mgu", "mgu or mgu-zhou"), ("li-gru-relu", "li-gru-relu or li-gru-leaky")):
        with pytest.raises(AmbiguousCellError, match=first):
            load_model(drawn(cell))
    weights = drawn("li-gru-relu")
    weights["norm_running_var"][1] = -1.0
    with pytest.raises(RangeError, match="a variance = -1"):
        load_model(weights, "li-gru-relu")
    assert isinstance(load_model(drawn("lstm-peephole")), LoadedModel)


@pytest.mark.parametrize("cell", NAMES)
def test_the_penalty_of_training_has_gradients(cell):
    """`contraction` estimates λ from float weights, with a gradient in each of them."""
    weights = {name: part.requires_grad_() for name, part in drawn(cell, scale=0.25).items()}
    penalty = rnnbounds.contraction(weights, 1.0, "infinity", cell=cell)
    penalty.backward()
    lam = certify(load_model(weights, cell), 1.0, norm="infinity").lam
    assert lam * (1 - 1e-9) <= penalty.item() <= 1.25 * lam
    assert any(float(part.grad.abs().sum()) > 0 for part in weights.values())
