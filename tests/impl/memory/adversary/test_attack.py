"""What the adversary finds where the memory is known; its proof believes nothing of the search."""

import math
import sys
from fractions import Fraction

import pytest
import torch
from draws import doubles, normal
from gated_draws import draw, gru, lstm
from min_gru import known

from rnnbounds.impl.arithmetic.inputs.maximisers import BallSet, input_set_of
from rnnbounds.impl.arithmetic.inputs.sets import InputSet, input_box, input_rows
from rnnbounds.impl.cells.runs import Runner
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.format.fields import Window
from rnnbounds.impl.memory.adversary import attack as module
from rnnbounds.impl.memory.adversary import attack as proof
from rnnbounds.impl.memory.adversary.attack import (
    ContradictionError,
    affordable,
    attack,
    bracket,
    proved_gap,
)
from rnnbounds.impl.memory.adversary.search import gaps
from rnnbounds.impl.numbers.outward import norm_up
from rnnbounds.impl.reading.adapters import load_model

WORK = 2**32  # enough where memories are short


def linear(W, U=None):
    """A linear system."""
    W = doubles(W)
    return {"weight_hh": W, "weight_ih": torch.eye(len(W)).double() if U is None else doubles(U)}


def both(held, bound, epsilons=(1e-2,)):
    """The bracket of a linear system."""
    told = certify(held, inputs=bound, eps=epsilons, cell="linear")
    return bracket(told, attack(held, inputs=bound, eps=epsilons, cell="linear", work=WORK))


@pytest.mark.parametrize("rate", [0.5, -0.75, 0.8, -0.8])
def test_scalar_systems_leave_no_gap(rate):
    """The worst past is constant, or alternates: attacked and certified are the same k."""
    found = both(linear([[rate]]), 1.0, (1e-2, 1e-4))
    assert [least for _, least, _ in found] == [k for _, _, k in found]


def test_a_rotation_is_found_by_gradients():
    """No past that is constant or alternates resonates: the best turns with the state."""
    c, s = 0.8 * math.cos(1.0), 0.8 * math.sin(1.0)
    ((_, least, k),) = both(linear([[c, -s], [s, c]]), 1.0)
    assert k - 2 <= least <= k


@pytest.mark.parametrize("bound", [0.0, 1e-300, 2.0**-1074, 1.0, 1e300])
def test_witnesses_keep_their_bound(bound):
    """At any scale; and the ends of the ball are as large as they may be."""
    found = BallSet(bound).maximiser(normal(5, 3, seed=1))
    assert bool((norm_up(found) <= bound).all())
    assert bound < 1e-200 or bound > 1e150 or bool((norm_up(found) > bound * (1 - 1e-8)).all())
    assert not bool(BallSet(bound).maximiser(torch.zeros(1, 3).double()).any())
    assert not bool(BallSet(bound).maximiser(doubles([[math.nan, math.inf, 0.0]])).any())
    held = linear([[0.5]]) | {"bias_ih": doubles([1.0])}
    for witness in attack(held, inputs=bound, eps=(1e-2,), cell="linear", work=2**30).witnesses:
        assert bool((norm_up(witness.inputs) <= bound).all())


@pytest.mark.parametrize("make", [lstm, gru])
def test_gated_cells(make):
    """Something is found, below what is certified; and the same each time."""
    cell = draw(make, 3, scale=0.5, seed=2)
    held = {name: part[0] for name, part in cell.parameters.items()}
    found = attack(held, inputs=1.0, eps=(1e-2, 1e-3), work=2**30)
    assert 0 < found.least(1e-2) < found.least(1e-3)
    assert found.to_dict() == attack(held, inputs=1.0, eps=(1e-2, 1e-3), work=2**30).to_dict()
    told = found.to_dict(inputs=False)
    assert [one["k"] for one in told["witnesses"]] == [k - 1 for _, k in found.windows]
    assert all("inputs" not in one for one in told["witnesses"])


def test_a_latch_is_remembered_as_far_as_is_asked(monkeypatch):
    """A unit that keeps its sign: every k that is tried is refuted, and the end is told."""
    monkeypatch.setattr(module, "LONGEST", 100)
    held = {"weight_hh": doubles([[3.0]]), "weight_ih": doubles([[3.0]])}
    found = attack(held, inputs=1.0, eps=(1e-2,), cell="rnn-tanh")
    assert found.windows == ((1e-2, 101),)
    assert found.skipped == (("more at ε = 0.01", "no k above 100 was tried"),)


def test_what_floats_suggest_is_not_told(monkeypatch):
    """A search whose k the proof does not reach: the proof's is told, and that more was seen."""
    held = linear([[0.5]])
    real = module.proved_gap

    def short(runner, x, past, epsilon):
        return real(runner, x[: past + 3], past, epsilon)

    monkeypatch.setattr(module, "proved_gap", short)
    found = attack(held, inputs=1.0, eps=(1e-2,), cell="linear")
    assert found.windows == ((1e-2, 4),)
    assert found.witnesses[0].k == 3
    assert len(found.witnesses[0].inputs) < 40
    assert "unproved" in dict(found.skipped)["more at ε = 0.01"]


def test_a_contradiction_is_loud():
    """A certificate that a witness refutes ends in an error of its own; other models in a line."""
    held = linear([[0.5]])
    told = certify(held, inputs=1.0, eps=(1e-2,), cell="linear")
    found = attack(held, inputs=1.0, eps=(1e-2,), cell="linear", work=WORK)
    with pytest.raises(ContradictionError, match="k = 7 is certified"):
        bracket(told.replaced(truncation=(Window(1e-2, 7),)), found)
    for other in ({"digest": "0"}, {"input_bound": 2.0}):
        with pytest.raises(InputError, match="different models"):
            bracket(told.replaced(**other), found)
    assert bracket(told.replaced(truncation=(Window(0.5, 2),)), found) == ()


def test_what_is_said_of_h_is_no_bracket_of_a_readout():
    """A certificate about C h meets an attack on C h alone: else there would be a contradiction."""
    torch.manual_seed(0)
    model = torch.nn.ModuleDict({"rnn": torch.nn.RNN(1, 2), "head": torch.nn.Linear(2, 1)})
    with torch.no_grad():
        model["rnn"].weight_hh_l0.mul_(0.5)
        model["head"].weight.mul_(1e-3)
    told = certify(model, inputs=1.0, eps=1e-3, layer="rnn", readout="head")
    found = attack(model, inputs=1.0, eps=1e-3, layer="rnn", work=2**28)
    assert found.least(1e-3) > told.window(1e-3)
    with pytest.raises(InputError, match="different models, readouts"):
        bracket(told, found)
    found = attack(model, inputs=1.0, eps=1e-3, layer="rnn", readout="head", work=2**28)
    ((_, least, k),) = bracket(told, found)
    assert least <= k


SETS = {
    "box": input_box([0.5, -0.25], [1.0, 0.0]),
    "rows": input_rows(doubles([[1.0, 0.0], [0.0, -1.0], [0.25, 0.25]])),
    "ball and box": InputSet(1.0, doubles([-1.0, 0.5]), doubles([1.0, 1.0]), "a part of a box"),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", SETS)
def test_sets_of_inputs(what):
    """Witnesses of a set alone, below what is certified of it, of linear and of gated cells."""
    given = SETS[what]
    held = {name: part[0] for name, part in draw(gru, 3, scale=0.3, seed=2).parameters.items()}
    for model, cell in ((linear([[0.5, 0.25], [0.0, -0.5]]), "linear"), (held, "gru")):
        told = certify(model, inputs=given, eps=(1e-2,), cell=cell)
        found = attack(model, inputs=given, eps=(1e-2,), cell=cell, work=2**30)
        ((_, least, k),) = bracket(told, found)
        assert 0 < least <= k
        for x in found.witnesses[0].inputs.tolist():
            assert given.holds(x)
        with pytest.raises(InputError, match="different models, readouts or inputs"):
            bracket(told, attack(model, inputs=float(given), eps=(1e-2,), cell=cell, work=2**24))
        with pytest.raises(InputError):
            attack(model, inputs=input_box(0.0, 1.0, 5), eps=(1e-2,), cell=cell)


@pytest.mark.parametrize("what", SETS)
def test_ends_of_sets(what):
    """Every end and what is mixed of them is of the set, and no input of the set lies further."""
    given, inputs = SETS[what], input_set_of(SETS[what])
    g = normal(50, 2, seed=3)
    ends = inputs.maximiser(g)
    mixed = inputs.interpolate(ends, inputs.maximiser(-g), 0.5)
    rest = inputs.smallest_input(2)[None]
    assert all(given.holds(x) for x in torch.cat([ends, mixed, rest]).tolist())
    assert inputs.holds(torch.cat([ends, mixed, rest]))
    assert not inputs.holds(doubles([[3.0, 3.0]]))
    others = torch.cat([ends, mixed, rest])
    if what != "ball and box":  # whose ends are not sought, but points near them
        assert bool(((g @ others.mT).amax(1) <= (g * ends).sum(1) + 1e-12).all())


def test_inputs_that_keep_a_state_need_not_be_those_that_led_to_it(monkeypatch):
    """One row moves a minGRU and another keeps what it has: h = 1, then σ(4)^k of it."""
    known(monkeypatch)
    weights = {"weight_z": doubles([[0.0, -4.0]]), "weight_h": doubles([[1.0, 0.0]])}
    model = load_model(weights, "min-gru")
    kept = 1 / (1 + math.exp(-4.0))
    needed = math.ceil(math.log(0.05) / math.log(kept))
    rows = input_rows(torch.eye(2, dtype=torch.float64))
    found = attack(model, inputs=rows, eps=(0.05,), work=2**31)
    assert needed - 1 <= found.least(0.05) <= certify(model, inputs=rows, eps=0.05).window(0.05)


def proved(model, x, past, epsilon):
    """Of a loaded model."""
    return proved_gap(Runner.of(model), x, past, epsilon)


def loaded_linear(W, U):
    """It, as loaded."""
    return load_model(linear(W, U), "linear")


ONES, HALF, UNIT = torch.ones(800, 1).double(), loaded_linear([[0.5]], [[1.0]]), [[1.0]]
EXACT = {k: float(Fraction(15, 8) / 2**k) for k in (0, 1, 8)}
BIASED = {"weight_hh": doubles(UNIT), "weight_ih": doubles([[0.0]])}
BIASED |= {"bias_ih": doubles([2.0**60 + 2.0**9]), "bias_hh": doubles([-(2.0**60)])}
IMPULSES, TINY = doubles([[1.0], [0.0], [1.0], [1.0]]), doubles([[1.0], [2.0**-80], [0.0]])
BY_HAND = {  # a model, inputs, the length of the past, ε: the longest window proved, and its gap
    # h = h/2 + x under ones: the gap after k inputs is 2⁻ᵏ(2 − 2⁻³), and not above itself.
    **{f"a tie at {k}": (HALF, ONES[:12], 4, gap, k - 1, None) for k, gap in EXACT.items()},
    **{f"less, at {k}": (HALF, ONES[:12], 4, gap * (1 - 2.0**-52), k, gap)
       for k, gap in EXACT.items()},
    # An impulse in the past alone, then another in the window, which both runs see.
    "an impulse": (HALF, IMPULSES, 2, 0.1, 2, 0.125),
    "no past": (HALF, IMPULSES, 0, 1e-9, -1, None),
    "all but one": (HALF, IMPULSES, 3, 0.1, 1, 0.625),
    "both biases": (load_model(BIASED, "linear"), torch.zeros(4, 1).double(), 2, 1.0, 2, 2.0**10),
    "NaN": (HALF, doubles([[math.nan], [1.0]]), 1, 1e-3, -1, None),
    "infinity": (HALF, doubles([[math.inf], [1.0]]), 1, 1e-3, -1, None),
    # After (1, 2⁻⁸⁰) the gap 1 + 2⁻⁸⁰ of h = h + x is above 1, and no float lies between.
    "no float between": (loaded_linear(UNIT, UNIT), TINY, 2, 1.0, -1, 0.0),
    "a float between": (loaded_linear(UNIT, UNIT), TINY, 2, 1 - 2.0**-53, 1, 1.0),
}  # fmt: skip


@pytest.mark.parametrize("case", BY_HAND)
def test_gaps_by_hand(case):
    """Of real arithmetic: sums of biases are not rounded, what is no number proves nothing."""
    model, x, past, epsilon, k, gap = BY_HAND[case]
    found = proved(model, x, past, epsilon)
    assert found[0] == k
    assert gap in (None, found[1])


@pytest.mark.parametrize("epsilon", [1e300, 1e-320, 1.5e-323])
def test_gaps_at_the_ends_of_floats(epsilon):
    """Beyond the largest float the gap is that float; subnormal ones are stepped down too, and a
    gap is proved only if the float that is told of it is above ε."""
    rate, x, longest = (10.0, ONES, 798) if epsilon > 1 else (0.7, ONES[:3], 1)
    k, gap = proved(loaded_linear([[rate]], UNIT), x, 2, epsilon)
    assert k == longest
    assert epsilon < gap <= sys.float_info.max


@pytest.mark.parametrize(
    "name", ["rnn-tanh", "rnn-erf", "lstm", "gru", "gru-cho", "stacked-rnn-tanh"]
)
def test_floats_and_balls_agree(name):
    """For inputs at random the proved gap is that of the floats."""
    n, rows = 3, {"lstm": 12, "gru": 9, "gru-cho": 9}.get(name, 3)
    held = {}
    for l in range(2 if name.startswith("stacked") else 1):
        held |= {f"weight_hh_l{l}": normal(rows, n, seed=l), f"bias_hh_l{l}": normal(rows, seed=7)}
        held[f"weight_ih_l{l}"] = normal(rows, n if l else 2, seed=l + 3)
    model, x = load_model(held, name), normal(9, 2, seed=5)
    told = gaps(Runner.of(model), x[:, :, None], 4)[:, 0]
    for k in range(6):
        found = proved(model, x[: 4 + k], 4, float(told[k]) * (1 - 1e-9))
        assert found[0] == k
        assert found[1] == pytest.approx(float(told[k]), rel=1e-12)
        assert proved(model, x[: 4 + k], 4, float(told[k]) * (1 + 1e-9))[0] < k


def test_more_bits_where_balls_grow(monkeypatch):
    """If orbits part, 128 bits lose them, and more decide, within the limit of work."""
    weights = {"weight_hh": doubles([[3.0, -3.0], [3.0, 3.0]]), "weight_ih": doubles([[1], [0]])}
    sine = load_model(weights, "rnn-sin")
    x = normal(200, 1)
    monkeypatch.setattr(proof, "BITS", (128,))
    assert proved(sine, x, 2, 1e-9)[0] < 198
    monkeypatch.setattr(proof, "BITS", (128, 256, 512, 1024))
    assert proved(sine, x, 2, 1e-9)[0] == 198
    monkeypatch.setattr(proof, "PROOF_WORK", 1)
    assert not affordable(Runner.of(sine), 1, 128)
    assert proved(sine, x, 2, 1e-9) == (-1, 0.0)


def test_a_wide_ball_proves_nothing(monkeypatch):
    """If balls have grown, their upper ends are above ε, and the gap is not."""
    weights = {"weight_hh": doubles([[3.0, -3.0], [3.0, 3.0]]), "weight_ih": doubles([[1], [0]])}
    sine, x = load_model(weights, "rnn-sin"), normal(40, 1)
    for k in range(20, 38):
        monkeypatch.setattr(proof, "BITS", (256,))
        found, gap = proved(sine, x[: 2 + k], 2, 1e-9)
        assert found == k
        monkeypatch.setattr(proof, "BITS", (64,))
        assert proved(sine, x[: 2 + k], 2, gap * (1 + 1e-4))[0] < k
