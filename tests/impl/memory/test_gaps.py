"""Gaps between outputs are at least those of the same numbers in real arithmetic."""

import pytest
import torch
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from rnnbounds.impl.errors import InputError
from rnnbounds.impl.memory.gaps import GAPS, gap_named

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
