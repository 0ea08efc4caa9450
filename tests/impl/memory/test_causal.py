"""What any causal model remembers: known windows are found, with gaps that are never too small."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from causal_models import LocalAttention, SelectiveScan, Smoother, TokenModel, seeded
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

import rnnbounds
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.memory.causal import CausalMeasurement
from rnnbounds.impl.memory.gaps import GAPS, gap_named
from rnnbounds.impl.memory.measure import Measurement

X = np.random.default_rng(0).normal(size=(60, 20, 4))
TOKENS = np.random.default_rng(0).integers(0, 11, size=(300, 20))


@given(width=st.integers(1, 16))
def test_a_windowed_attention_has_its_window(width):
    """k is the window, at every ε that rounding does not reach; one input fewer is not enough."""
    found = rnnbounds.measure(seeded(LocalAttention, 4, width), X[:20], eps=(1e-2, 1e-4))
    assert isinstance(found, CausalMeasurement)
    assert [line.k for line in found.statement.lines] == [width, width]
    assert found.window(1e-4) == width


@pytest.mark.parametrize("make", [torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN])
def test_a_recurrent_module_as_it_is_forgets_as_its_cell(make):
    """Run whole in float64 it has the gaps of the recurrence that is read from it."""
    module = seeded(make, 4, 6, batch_first=True).double()
    read, run = rnnbounds.measure(module, X[:30]), rnnbounds.measure(module, X[:30], as_is=True)
    assert isinstance(read, Measurement)
    assert read.ks[1:] == run.ks
    assert torch.allclose(read.seen.gaps[:, 1:], run.gaps, rtol=1e-9, atol=1e-13)
    assert [line.k for line in read.statement.lines] == [line.k for line in run.statement.lines]


def test_a_selective_scan_forgets():
    """The gap of the scan falls with k; no entry of the state keeps more than its decay."""
    curve = rnnbounds.measure(seeded(SelectiveScan, 4, 8), X, eps=0.1).curve
    worst = [row["worst"] for row in curve]
    assert worst[-1] == 0 < worst[10] < worst[0] / 20


def test_the_gap_of_a_smoother_is_what_its_formula_says():
    """Of inputs 1: Σ_{j ≥ k} ½^j, exactly; the data are told to repeat, so nothing is stated."""
    found = rnnbounds.measure(Smoother(0.5), np.ones((30, 12, 1)), eps=2.0**-5)
    assert [row["worst"] for row in found.curve] == [2.0 ** (1 - k) - 2.0**-11 for k in found.ks]
    assert found.window(2.0**-5) == 6
    assert found.largest == 2 - 2.0**-11


@pytest.mark.parametrize("gap", ["tv", "argmax"])
def test_tokens(gap):
    """Integers (N, T) are tokens, and (T,) is one recording; softmax and argmax are fixed by the
    model's window."""
    found = rnnbounds.measure(seeded(TokenModel, 11, 6, 5), TOKENS, gap=gap)
    assert (found.run["inputs"], found.run["outputs"]) == ("int64", 11)
    assert found.window(found.eps[-1]) == 5
    assert all(0 <= row["worst"] <= 1 for row in found.curve)
    record = found.to_dict()
    assert record["schema"] == "rnnbounds/causal-measurement/1"
    assert (record["gap"]["name"], record["run"]["causality"]) == (gap, "tried")
    cut = rnnbounds.measure(seeded(TokenModel, 11, 6, 3), TOKENS.reshape(-1), window=10, gap=gap)
    assert (cut.windows, cut.length) == (600, 10)


OUTPUTS = {
    "a tuple": lambda y: (y, None),
    "logits": lambda y: SimpleNamespace(logits=y),
    "a dict": lambda y: {"loss": torch.zeros(()), "logits": y},
    "hidden": lambda y: SimpleNamespace(last_hidden_state=y),
    "an array": lambda y: y.numpy(),
    "the last alone": lambda y: y[:, -1],  # of which causality cannot be tried
}


@pytest.mark.parametrize("form", OUTPUTS)
def test_outputs_in_other_forms(form):
    """They are the same numbers; the record says if causality was not tried."""
    model = seeded(LocalAttention, 4, 5)
    plain = rnnbounds.measure(model, X, eps=0.1)
    found = rnnbounds.measure(lambda x: OUTPUTS[form](model(x.float())), X, eps=0.1)
    assert torch.equal(found.gaps, plain.gaps)
    tried = "not tried" if form == "the last alone" else "tried"
    assert found.to_dict()["run"]["causality"] == tried


def test_the_same_record_again_and_nothing_is_changed():
    """Twice the same, whatever the caller's settings; the module keeps mode and numbers."""
    module = seeded(SelectiveScan, 4, 8)
    before = {name: part.clone() for name, part in module.state_dict().items()}
    first = rnnbounds.measure(module, X, eps=0.1).to_dict()
    with torch.inference_mode(), torch.autocast("cpu"):
        again = rnnbounds.measure(module, X, eps=0.1).to_dict()
    assert first == again
    assert all(torch.equal(before[name], part) for name, part in module.state_dict().items())


LOGIT = st.floats(-800, 800) | st.floats(-3, 3, width=32)
PAIRS = st.integers(1, 6).flatmap(
    lambda p: st.tuples(*[st.lists(LOGIT, min_size=p, max_size=p)] * 2)
)


def exact_softmax(y):
    """The softmax in balls of 400 bits."""
    parts = [arb(one).exp() for one in y]
    return [part / sum(parts, arb(0)) for part in parts]


@given(PAIRS)
def test_total_variation_is_no_less_than_exact(pair):
    """Nor more by 2e-12, and 0 for equal outputs."""
    with ctx.workprec(400):
        apart = zip(*map(exact_softmax, pair), strict=True)
        exact = sum((abs(p - q) for p, q in apart), arb(0)) / 2
        found = float(GAPS["tv"].of(*(torch.tensor([y], dtype=torch.float64) for y in pair)))
        assert found >= exact.lower() * (1 if exact < 1 else 0) or pair[0] == pair[1]
        assert found <= exact.upper() + 2e-12


@given(PAIRS)
def test_the_norm_is_no_less_than_exact(pair):
    """Squared, in exact balls."""
    with ctx.workprec(3000):
        exact = sum(((arb(a) - arb(b)) ** 2 for a, b in zip(*pair, strict=True)), arb(0))
        found = float(GAPS["norm"].of(*(torch.tensor([y], dtype=torch.float64) for y in pair)))
        assert arb(found) ** 2 >= exact
        assert found**2 <= float(exact.mid()) * (1 + 1e-12) + 1e-300


def test_argmax():
    """1 where the largest entry is another; of ties the first counts."""
    y = torch.tensor([[1.0, 2.0], [3.0, 3.0], [0.0, -1.0]]).double()
    other = torch.tensor([[2.0, 1.0], [9.0, 0.0], [5.0, 4.0]]).double()
    assert GAPS["argmax"].of(y, other).tolist() == [1, 0, 0]


@pytest.mark.parametrize("eps", [0.1, (0, 0), "0"])
def test_the_same_argmax_has_no_other_epsilon(eps):
    """It is 0 or 1."""
    with pytest.raises(InputError, match="must be 0 for the same argmax"):
        gap_named("argmax").epsilons(eps)
    assert gap_named("argmax").epsilons(0) == gap_named("argmax").epsilons(None) == (0.0,)
