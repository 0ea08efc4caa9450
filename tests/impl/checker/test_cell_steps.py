"""What the checker knows of a cell's step: activations over intervals, slopes, boxes, terms."""

import numpy as np
import pytest
import torch
from cell_systems import EPSILONS, SYSTEMS, weights_of
from checked import source
from flint import arb, arb_mat, ctx

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.impl.arithmetic.inputs.sets import input_box
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.checker.cells.activations import BALL_ACTIVATIONS, lowest
from rnnbounds.impl.checker.cells.claimed import cell_of
from rnnbounds.impl.checker.cells.units import Term, Units, mixed, norms, still
from rnnbounds.impl.checker.definite import exact, norm_above, smaller
from rnnbounds.impl.checker.truncated import check_truncated
from rnnbounds.impl.convert.files import save_truncated
from rnnbounds.impl.convert.truncate import truncate
from rnnbounds.impl.reading.adapters import load_model


@pytest.mark.parametrize("which", ["leaky-tanh", "leaky-sin", "leaky-erf", "gru"])
def test_boxes_that_saturate(which):
    """Units that are 1 but for what no float tells, by large inputs or by biases: the box of sides
    1 is kept."""
    if which == "gru":
        held = {k: torch.zeros_like(part) for k, part in torch.nn.GRU(1, 1).state_dict().items()}
        held["bias_ih_l0"] += torch.tensor([0.0, -2e4, -2e4])
        model, B, box = load_model(held, "gru"), arb(1), [1.0]
    else:
        weights = weights_of(which, n=3, scale=1.0)
        model, B = load_model({name: w.double() for name, w in weights.items()}, which), arb(1e6)
        box = list(certify(model, inputs=1e6, eps=EPSILONS).to_dict()["box"])
    with ctx.workprec(512):
        assert cell_of(which, dict(source(model).weights), B, None, box).held()


def saturated_stack():
    """Two layers whose radius is theirs, though S/(1 − λ) is nearly the same."""
    by, held = torch.Generator().manual_seed(0), {}
    for layer in ("_l0", "_l1"):
        for name in ("transition_1_weight", "input_weight", "transition_1_bias"):
            part = torch.rand(*(2, 2)[: 1 if "bias" in name else 2], generator=by).double()
            held[name + layer] = part / 9 + 40 * ("bias" in name)
    return held


def far_from_a_line():
    """A unit under inputs so large that a slope of 1 has a radius."""
    by = torch.Generator().manual_seed(1)
    held = {name: torch.rand(1, 1, generator=by) for name in ("W", "W_in")}
    return held | {"leak": torch.tensor([0.9]), "b": torch.tensor([-4.0])}


def sine():
    """A unit of a sine."""
    return {"weight_hh": torch.tensor([[0.3]]), "weight_ih": torch.tensor([[1.0]])}


CHECKED = [  # weights, their cell, inputs, ε
    *((far_from_a_line, f"leaky-{rho}", 1e300, 1e-2) for rho in ("softplus", "silu", "gelu")),
    (saturated_stack, "stacked-deep-erf", 1.0, 1e-300),
    # Intervals where the sine falls, where it is flat, and where it turns.
    *((sine, "rnn-sin", input_box(*ends, 1), 1e-2)
      for ends in ((3.0, 3.5), (3.0, 3.000001), (1.5, 1.75), (-1.5, 0.25))),
]  # fmt: skip


@pytest.mark.parametrize(("make", "cell", "inputs", "eps"), CHECKED)
def test_extremes_are_proved_anew(make, cell, inputs, eps, tmp_path):
    """What is certified where functions are steep, flat or turn holds in its file."""
    save_truncated(*truncate(make(), eps=eps, inputs=inputs, cell=cell), tmp_path / "m")
    assert all(found.holds for found in check_truncated(tmp_path / "m")[1])


@pytest.mark.parametrize("size", ["1e-690", "1e-20", "1", "1e400"])
def test_norms_of_any_size(size):
    """Slopes so small, or weights so large, that no float tells them: √2 times a rotation."""
    unit = arb(size)
    bound = norm_above([arb_mat([[unit, -unit], [unit, unit]])]) / unit
    assert arb(2).sqrt() <= bound <= 1.41422


@pytest.mark.parametrize("name", ["rnn-silu", "rnn-gelu"])
def test_the_dip_is_least(name):
    """No value is below it, and one is hardly above."""
    z = torch.linspace(-1.5, -0.5, 10**5, dtype=torch.float64)
    least = float(ACTIVATIONS[name.removeprefix("rnn-")](z).min())
    assert least - 1e-9 <= float(BALL_ACTIVATIONS[name].dip) <= least
    with pytest.raises(ArithmeticError, match="not where the function turns"):
        lowest(BALL_ACTIVATIONS[name].function, BALL_ACTIVATIONS[name].slope_at, "-1")


@pytest.mark.parametrize("name", sorted(BALL_ACTIVATIONS.keys() - {"linear"}))
def test_no_slope_is_above_the_steepest(name):
    """Far out too, where a slope is its least upper bound but for what no precision tells."""
    told = BALL_ACTIVATIONS[name]
    with ctx.workprec(512):
        for ends in ((-1e300, 1e300), (1e300, 2e300), (-2e300, -1e300), (-1.0, 50.0)):
            assert not told.steepest(*map(arb, ends)).upper() > told.slope.upper()


@pytest.mark.parametrize("name", sorted(BALL_ACTIVATIONS.keys() - {"linear"}))
def test_activations_over_intervals(name):
    """Values and slopes at many points lie within what is said of the interval, which is hardly
    more where the function is monotone."""
    told = BALL_ACTIVATIONS[name]
    rho = ACTIVATIONS[name.removeprefix("rnn-")]
    draw = np.random.default_rng(0)
    with ctx.workprec(128):
        for low, width in zip(draw.uniform(-6, 5, 60), draw.exponential(1.5, 60), strict=True):
            z = torch.linspace(low, low + width, 401, dtype=torch.float64)
            values_, slopes = rho(z), rho.derivative(z).abs()
            a, b = (float(end) for end in told.image(arb(low), arb(low + width)))
            steep = float(told.steepest(arb(low), arb(low + width)))
            assert a <= float(values_.min()) + 1e-12
            assert b >= float(values_.max()) - 1e-12
            assert float(slopes.max()) <= steep + 1e-12
            assert steep <= float(slopes.max()) + 3e-4 + 2 * width / 400


STEEP = ("lstm", "projected", "gru", "cho", "leaky", "deep")


@pytest.mark.parametrize("which", STEEP)
def test_steps_move_no_further(which):
    """Steps of one unit and of two, from thousands of states: they stay within what is said of
    them, by values, by slopes and by norms of blocks; some come near to it."""
    cell, _, *names = SYSTEMS[which]
    nearest = 0.0
    for n, seed in ((1, 0), (1, 1), (2, 2)):
        raw = weights_of(cell, *names, n=n, d=1, seed=seed, scale=2.0)
        kind = kind_of(cell)
        weights = {key.removesuffix(kind.suffix): w.double() for key, w in raw.items()}
        sizes = kind.layout(weights).sizes(weights)
        side = 0.8 + 0.4 * torch.arange(sizes.state, dtype=torch.float64)
        stored = {key: w.numpy() for key, w in weights.items()}
        draw = torch.Generator().manual_seed(seed)
        s, ds = (torch.rand(20000, sizes.state, generator=draw).double() * 2 - 1 for _ in "ab")
        x, dx = (torch.rand(20000, 1, generator=draw).double() * 2 - 1 for _ in "ab")
        s, tiny = s * side, 1e-7

        def step(s, x, kind=kind, weights=weights):
            return kind.step(weights, kind.drive(weights, x[:, None]), s[:, None])[:, 0]

        with ctx.workprec(128):
            held = cell_of(cell, stored, arb(1), None, side.tolist())
            at, v = step(s, x), [exact(float(a)) for a in side]
            moved = (step(s + tiny * ds.sign() * side, x) - at).abs().amax(0) / tiny
            rates = torch.tensor([float(rate) for rate in held.rates(v)])
            assert (moved <= rates * (1 + 1e-5) + 1e-6).all()
            nearest = max(nearest, float((moved / rates.clamp(min=1e-9)).max()))
            fed = (step(s, x + tiny * dx.sign()) - at).abs().amax(0) / tiny
            assert (fed <= torch.tensor([float(row[0]) for row in held.slopes]) * (1 + 1e-5)).all()
            rest = step(0 * s, x).abs().amax(0)
            assert (rest <= torch.tensor([float(size) for size in held.rest]) + 1e-12).all()
            E = torch.tensor([[float(e) for e in row] for row in held.between_blocks(False)])
            turned = ds / ds.norm(dim=1, keepdim=True)
            gap = (step(s + tiny * turned, x) - at) / tiny
            size, width = held.blocks, sizes.state // held.blocks
            there, before = (part.reshape(-1, size, width).norm(dim=2) for part in (gap, turned))
            assert (there <= before @ E.T.double() * (1 + 1e-5) + 1e-6).all()
    assert nearest > 0.6


@pytest.mark.parametrize(
    "which", [name for name, told in SYSTEMS.items() if "stacked" not in told[0]]
)
def test_steps_at_points(which):
    """From one state and one input a step leads to what the maker's formula says, to 1e-12, and
    moves with each by no less than its partial derivative."""
    cell, _, *names = SYSTEMS[which]
    raw, kind = weights_of(cell, *names, n=3, d=2, seed=5, scale=1.5), kind_of(cell)
    weights = {key.removesuffix(kind.suffix): w.double() for key, w in raw.items()}
    states, draw = kind.layout(weights).sizes(weights).state, torch.Generator().manual_seed(7)
    s, x = (torch.randn(size, generator=draw, dtype=torch.float64) for size in (states, 2))

    def step(s, x):
        return kind.step(weights, kind.drive(weights, x[None, None]), s[None, None])[0, 0]

    def point(v, first):
        balls = [arb(a) for a in v.tolist()]
        return Units(balls, balls, [{first + i: arb(1)} for i in range(len(balls))])

    with ctx.workprec(256):
        stored = {key: w.numpy() for key, w in weights.items()}
        held = cell_of(cell, stored, arb(9), None, [9.0] * states)
        found = held.step(held.weights, point(s, 0), point(x, states))
    expected = step(s, x).tolist()
    assert [float(a) for a in found.low] == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert [float(b) for b in found.high] == pytest.approx(expected, rel=1e-12, abs=1e-12)
    jacobian = torch.cat(torch.autograd.functional.jacobian(step, (s, x)), dim=1).abs()
    rows = [[float(row.get(c, 0)) for c in range(states + 2)] for row in found.rows]
    assert (jacobian <= torch.tensor(rows, dtype=torch.float64) * (1 + 1e-9) + 1e-12).all()


def test_a_mix_is_of_equal_lengths():
    """A gate of one row is no gate of two units here: what is left out would pass unseen."""
    two = still([arb(1), arb(2)])
    for gate in ([arb(0.5)], [arb(0.5)] * 3):
        with pytest.raises(ValueError, match="zip"):
            mixed(still(gate), two, two)
    assert len(mixed(still([arb(0.5)] * 2), two, two)) == 2


def term(scale: list[float], A: list[list[float]] | None, reach: list[arb]) -> Term:
    """Of floats; terms of one Δy share the list of its reach."""
    balls = None if A is None else [[arb(a) for a in row] for row in A]
    return Term([arb(d) for d in scale], balls, reach)


def test_terms_add_up() -> None:
    """2Δy + 3Δz of two numbers moves by 5, whether they are one and the same or not, and by nothing
    what a block does not move; (3Δy, 0) + (0, 4Δy) is no longer than 5|Δy|, and so long."""
    one, two, still = [arb(1), arb(0)], [arb(1), arb(2)], [arb(1)]
    for other, sizes in ((two, [5.0, 6.0]), (one, [5.0, 0.0])):
        apart = norms([term([1.0], [[2.0]], one), term([1.0], [[3.0]], other)])
        assert [float(size) for size in apart] == pytest.approx(sizes)
    ones = [[1.0], [1.0]]
    (size,) = norms([term([3.0, 0.0], ones, still), term([0.0, 4.0], ones, still)])
    assert float(size) == pytest.approx(5.0)


def test_nothing_moves_further() -> None:
    """At random: signs and sizes of D_k, directions of Δy, one and another."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        matrices, scales = rng.normal(size=(3, 2, 3)), rng.random((3, 2))
        one, two = [arb(0.5), arb(2.0)], [arb(1.5), arb(0.25)]
        reaches = [one, one, two]
        told = [float(size) for size in norms([
            term(d.tolist(), A.tolist(), reach)
            for d, A, reach in zip(scales, matrices, reaches, strict=True)
        ])]  # fmt: skip
        for _ in range(200):
            y, z = (v / np.linalg.norm(v) for v in rng.normal(size=(2, 3)))
            D = scales * rng.choice([-1.0, 1.0], size=(3, 2))
            for b, (first, second) in enumerate(zip(one, two, strict=True)):
                moves = float(first) * y, float(first) * y, float(second) * z
                seen = sum(d * (A @ m) for d, A, m in zip(D, matrices, moves, strict=True))
                assert np.linalg.norm(seen) <= told[b] * (1 + 1e-12)


def test_the_smaller_of_two_bounds_has_no_radius_that_it_need_not_have() -> None:
    """If balls overlap, that with the smaller one is a bound as well."""
    one, ball = arb(1), arb(1, 2.0**-100)
    assert smaller(one, ball).is_exact()
    assert smaller(ball, one).is_exact()
    assert smaller(arb(2), ball).contains(1)
    assert smaller(arb("nan"), one) == one
    assert smaller(one, arb("inf")) == one
