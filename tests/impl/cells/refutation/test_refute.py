"""Witnesses of instability: each is replayed in floats, and stable models have none."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from draws import doubles
from flint import arb_mat, ctx
from gated_draws import cho, draw, generator, gru, lstm

from rnnbounds.impl.arithmetic.inputs.sets import input_box, input_rows
from rnnbounds.impl.cells.refutation import refute
from rnnbounds.impl.cells.refutation.periodic import Frozen
from rnnbounds.impl.cells.refutation.refute import ALL, BOX, SIZE, refute_gated
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.numbers.outward import norm_up
from rnnbounds.impl.reading.adapters import load_model

NILPOTENT, TURN = [[2.0, 4.0], [-1.0, -2.0]], [[0.0, -1.0], [1.0, 0.0]]
POSITIVE = np.random.default_rng(0).random((6, 6))
PAIR, GROWS, EIGEN = "two-orbits", "growth", "eigenvalue"


def model(cell, W, b=None, U=None):
    """A model of those weights in float64, all units fed alike by one input by default."""
    echo = cell.startswith("leaky")
    names = ("W", "W_in", "b") if echo else ("weight_hh", "weight_ih", "bias_ih")
    parts = (W, np.ones((len(W), 1)) if U is None else U, b)
    held = {
        name: doubles(part) for name, part in zip(names, parts, strict=True) if part is not None
    }
    return load_model(held | ({"leak": torch.ones(len(W)).double()} if echo else {}), cell)


def gated(cell, W, b):
    """One unit with the recurrent weight W of the candidate, biases b, and small inputs."""
    rows = [[0.0], [0.0], [W]] + [[0.0]] * (cell == "lstm")
    return model(cell, rows, b, np.full((len(rows), 1), 0.125))


def sought(model, B):
    """The witness of that model under inputs within B."""
    return kind_of(model.name).analyse(model, B).refute()


UNSTABLE = {
    "tanh with two rests": (model("rnn-tanh", [[3.0]]), 0.0, PAIR, 1),
    "tanh that alternates": (model("rnn-tanh", [[-3.0]]), 0.0, PAIR, 2),
    "tanh, far bias, reached by inputs": (model("rnn-tanh", [[3.0]], [-10.0]), 20.0, PAIR, 1),
    "sigmoid, reached by inputs": (model("rnn-sigmoid", [[5.0]]), 10.0, PAIR, 1),
    "gelu below 1": (model("rnn-gelu", [[0.95]]), 1.0, PAIR, None),
    "silu": (model("rnn-silu", [[1.5]]), 0.0, PAIR, None),
    "sin": (model("rnn-sin", [[3.0]]), 0.0, PAIR, None),
    "a cycle of three": (model("rnn-sin", [[2.3]], [-1.8]), 0.0, PAIR, None),
    "relu with two rests": (model("rnn-relu", [[2.0]], [-1.0]), 0.0, PAIR, 1),
    "turning tanh": (model("rnn-tanh", 1.5 * np.array(TURN)), 0.0, None, None),
    "gaussian": (model("rnn-tanh", np.random.default_rng(6).normal(size=(16, 16)) / 2), 0.0, None,
                 None),
    "relu that grows": (model("rnn-relu", [[2.0]], [1.0]), 0.0, GROWS, 2.0),
    "relu at exactly 1": (model("rnn-relu", [[1.0]]), 0.0, GROWS, 1.0),
    "relus that swap": (model("rnn-relu", [[0.0, 1.0], [1.0, 0.0]]), 0.0, GROWS, 1.0),
    "nilpotent relu": (model("rnn-relu", NILPOTENT), 0.0, GROWS, 2.0),
    "nilpotent relu, biased": (model("rnn-relu", NILPOTENT, [0.3, -0.7]), 0.0, GROWS, 2.0),
    "nilpotent leaky relu": (model("rnn-leaky-relu", NILPOTENT), 0.0, GROWS, 1.98),
    "beside a contraction": (model("rnn-relu", [[2.0, 0.0], [0.0, 0.5]], [1.0, 1.0]), 0.0, GROWS,
                             2.0),
    "a fixed point beyond": (model("rnn-relu", [[2.0, 0.0], [-1.0, 0.0]], [-3.0, -1.0]), 0.0, None,
                             None),
    "positive": (model("rnn-relu", POSITIVE), 0.0, GROWS,
                 np.abs(np.linalg.eigvals(POSITIVE)).max()),
    "positive, leaky": (model("rnn-leaky-relu", POSITIVE, [0.1] * 6), 0.0, GROWS, None),
    "identity": (model("linear", np.eye(2), [1.0, 1.0]), 1.0, EIGEN, 1.0),
    "rotation": (model("linear", TURN), 1.0, EIGEN, 1.0),
    "integrator": (model("linear", [[1.0]]), 0.0, EIGEN, 1.0),
    "lstm that latches": (gated("lstm", 6.0, [9.0, 2.0, 0.0, 9.0]), 0.5, PAIR, 1),
    "lstm that hardly keeps": (gated("lstm", 6.0, [9.0, -9.0, 0.0, 9.0]), 1.0, PAIR, 1),
    "gru that latches": (gated("gru", 3.0, [9.0, -3.0, 0.0]), 1.0, PAIR, 1),
    "gru of Cho's that latches": (gated("gru-cho", 3.0, [9.0, -3.0, 0.0]), 1.0, PAIR, 1),
    "gru that alternates": (gated("gru", -6.0, [9.0, -9.0, 0.0]), 0.0, PAIR, 2),
    "echo state, reached by inputs": (model("leaky-tanh", [[3.0]], [-4.0], [[8.0]]), 1.0, PAIR, 1),
    "echo states that turn": (model("leaky-tanh", 1.5 * np.array([[0.6, -0.8], [0.8, 0.6]])), 0.0,
                              None, None),
    "stack": (load_model({"weight_hh_l0": doubles([[0.5]]), "weight_ih_l0": doubles([[1.0]]),
                          "weight_hh_l1": doubles([[3.0]]), "weight_ih_l1": doubles([[1.0]])},
                         "rnn-tanh"), 1.0, PAIR, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", UNSTABLE)
def test_witnesses_are_replayed(name):
    """The input is within B, points of a period come back, pairs stay apart or part by the factor,
    and eigenvalues are those of the Jacobian; a proved box holds the points."""
    held, B, kind, more = UNSTABLE[name]
    found = sought(held, B)
    assert kind in (None, found.kind)
    assert found.text
    assert found.bound == B
    assert float(norm_up(doubles(found.input or [0.0]))) <= B
    x = doubles(found.input or [0.0])[None, :, None]
    points = [doubles(point)[None, :, None] for point in found.points]
    if found.states == BOX:
        box = held.cell.proved_box(B).box[0]
        assert all(bool((point[0, :, 0].abs() <= box + found.radius).all()) for point in points)
    if found.kind == EIGEN:
        assert found.modulus == pytest.approx(np.abs(np.linalg.eigvals(held.cell.W[0])).max())
        assert found.modulus >= 1
        return
    assert found.kind == GROWS or more in (None, found.period)
    if found.kind == GROWS:
        assert more is None or found.modulus == pytest.approx(more, abs=1e-9)
        for _ in range(12):
            before = float((points[0] - points[1]).norm())
            points = [held.cell.step(point, x) for point in points]
            assert float((points[0] - points[1]).norm()) >= before * (found.modulus - 1e-6)
        return
    for start in points:
        h = start
        for _ in range(found.period):
            h = held.cell.step(h, x)
        assert float((h - start).norm()) < 1e-9 * max(1.0, float(start.norm()))
    if found.kind == PAIR:
        assert float((points[0] - points[1]).norm()) > 2 * found.radius
        return
    J = torch.eye(points[0].shape[1]).double()
    for _ in range(found.period):
        one = torch.func.jacrev(lambda s: held.cell.step(s[None, :, None], x)[0, :, 0])
        J, h = one(h[0, :, 0]) @ J, held.cell.step(h, x)
    assert 1 < found.modulus <= np.abs(np.linalg.eigvals(J)).max() + 1e-9


STABLE = {
    "tanh at exactly 1": (model("rnn-tanh", [[1.0]]), 1.0),
    "tanh, nearly fixed": (model("rnn-tanh", [[1 - 1e-9]]), 0.0),
    "tanh, bias out of reach": (model("rnn-tanh", [[3.0]], [-10.0]), 1.0),
    "sigmoid at 3.9": (model("rnn-sigmoid", [[3.9]]), 10.0),
    "contraction": (model("rnn-tanh", [[0.3, 0.2], [0.1, 0.4]], [0.1, 0.2]), 1.0),
    "zero": (model("rnn-relu", [[0.0]], [1.0]), 1.0),
    "relu below 1": (model("rnn-relu", [[np.nextafter(1, 0)]]), 0.0),
    "relu below 0": (model("rnn-relu", [[-3.0]]), 0.0),
    "relu that shifts": (model("rnn-relu", [[0.0, 5.0], [0.0, 0.0]]), 0.0),
    "relu that drifts": (model("rnn-relu", [[1.0]], [1.0]), 0.0),
    "units on the wrong side": (model("rnn-relu", [[2.0, 0.0], [0.0, 3.0]], [1.0, 1.0]), 0.0),
    "weights that overflow": (model("rnn-relu", np.full((2, 2), 1e308)), 0.0),
    "states that overflow": (model("rnn-relu", [[0.5, 0.0], [0.0, 2.0]], [1.0, 1e308]), 0.0),
    "nilpotent, linear": (model("linear", NILPOTENT), 1.0),
    "one below 1, linear": (model("linear", [[np.nextafter(1, 0)]]), 1.0),
    "softplus that diverges": (model("rnn-softplus", [[2.0]]), 0.0),
    "dead inputs": (model("rnn-tanh", [[0.5]], None, [[0.0]]), 1.0),
    "inputs that no float can scale": (model("rnn-tanh", [[0.5]], [1e308], [[5e-324]]), 1.0),
}


@pytest.mark.parametrize("name", STABLE)
def test_no_witness(name):
    """Stable models, and those without a witness, are never convicted."""
    assert sought(*STABLE[name]) is None


@pytest.mark.slow
@pytest.mark.parametrize("cell", ["rnn-tanh", "rnn-relu", "rnn-gelu", "linear", "lstm", "gru"])
def test_contractions_are_never_refuted(cell):
    """Random models that contract have no witness, whatever their bias."""
    by = np.random.default_rng(5)
    if (make := {"lstm": lstm, "gru": gru}.get(cell)) is not None:
        cells = [draw(make, 2, scale=0.1, seed=seed) for seed in range(2)]
        assert [refute_gated(one, one.proved_box(1.0).box[0], 1.0) for one in cells] == [None] * 2
        return
    for n in (1, 2, 5, 9):
        W = by.normal(size=(n, n))
        W *= 0.88 / np.linalg.norm(W, 2)
        assert sought(model(cell, W, 3 * by.normal(size=n)), 5.0) is None


@pytest.mark.parametrize("is_gated", [False, True])
def test_limits(monkeypatch, is_gated):
    """Large models are not tried, and a float search that fails claims nothing."""
    small = model("rnn-tanh", [[3.0]])
    large = model("rnn-tanh", 3 * np.eye(SIZE + 1))
    seek = refute.refute_vanilla if not is_gated else (
        lambda held, B: refute_gated(draw(gru, 2), torch.ones(2 if held is small else SIZE + 1), B)
    )  # fmt: skip
    assert seek(large, 1.0) is None

    def lost(*_, **__):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(refute, "periodic_candidates", lost)
    assert seek(small, 1.0) is None


@pytest.mark.parametrize("bound", [2.0**-700, 2.0**-1074])
def test_witness_inputs_keep_their_bound_where_squares_underflow(bound):
    """No witness has an input longer than B, however small B is."""
    held = model("rnn-tanh", [[2.0]], [1.0], [[2.0**560, 0.0]])
    assert sought(held, bound) is None
    witness = sought(held, 2.0**-530)
    assert float(norm_up(doubles(witness.input))) <= 2.0**-530
    assert "zero input" not in witness.text


@pytest.mark.parametrize("cell", ["rnn-tanh", "rnn-relu", "linear"])
def test_witnesses_without_a_box_speak_of_all_states(cell):
    """Of vanilla cells and linear systems ℝⁿ is refuted, whether inputs reach it or not."""
    witness = sought(model(cell, [[2.0]], None, [[0.0]]), 1.0)
    assert witness.states == ALL
    assert "ℝⁿ" in witness.claim_text
    of_box = sought(*UNSTABLE["lstm that latches"][:2])
    assert of_box.states == BOX
    assert of_box.claim_text.startswith("for ‖x_t‖₂ ≤ 0.5 no norm")
    assert of_box.claim_text.endswith("the proved box around all runs from zero")


MAKES = pytest.mark.parametrize("make", [lstm, gru, cho])


@MAKES
def test_jacobians_in_balls(make):
    """The ball Jacobian of a step is autograd's, to rounding."""
    cell = draw(make, 3)
    size = 6 if make is lstm else 3
    x = torch.randn(2, generator=generator(0), dtype=torch.float64)
    for seed in range(5):
        s = torch.rand(size, generator=generator(seed), dtype=torch.float64) - 0.5
        found = Frozen(cell.program, cell.parameters, x.numpy(), size)
        moved, slopes = found.orbit(s.numpy()[None], 2)
        with ctx.workprec(128):
            exact, turned, smooth = found.enclose(arb_mat([[a] for a in s.tolist()]), 2)
        assert smooth
        assert np.allclose(moved[0], [float(a.mid()) for a in exact.entries()], rtol=0, atol=1e-14)
        balls = [[float(a.mid()) for a in row] for row in turned.tolist()]
        assert np.allclose(slopes[0], balls, rtol=0, atol=1e-13)


@pytest.mark.parametrize("B", [0.0, 5e-324, 1e-323, 3e-323, 1e-320, 1e-308, 1.0, 1e300])
def test_constant_inputs_at_any_scale(B):
    """No constant input that is tried is larger than B, even where B is subnormal."""
    drawn = draw(gru, 3, d=4).U[0].tolist()
    for U in (drawn, [[0.6, 0.8], [0.6, 0.8001]], [[1.0, 2.0, 3.0]], [[1e308, 1e308]]):
        for x, _ in refute.constant_inputs(np.array(U), B):
            assert sum(Fraction(float(a)) ** 2 for a in x) <= Fraction(B) ** 2
    assert B > 0 or len(list(refute.constant_inputs(np.array(U), B))) == 1


def leaky(W, U, b):
    """An echo-state network without leak, and the box that is proved."""
    cell = model("leaky-tanh", W, b, U).cell
    return cell, cell.proved_box(1.0).box[0]


@pytest.mark.parametrize(("size", "where"), [(8.0, 0.5), (40 / 3, 0.3)])
def test_inputs_inside_of_the_ball(size, where):
    """tanh(3h + ux − 4) rests at one point for x = 0 and ±1, at two for x = 4/u: half of the
    largest input, or one of a table."""
    cell, box = leaky([[3.0]], [[size]], [-4.0])
    found = refute_gated(cell, box, 1.0)
    assert (found is None) == (where != 0.5)
    found = refute_gated(cell, box, input_rows(torch.tensor([[where], [1.0]])))
    assert found is not None
    assert found.input[0] == pytest.approx(where)
    assert refute_gated(cell, box, input_rows(torch.tensor([[0.1], [1.0]]))) is None


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 40])
def test_repellers_lie_in_the_box(n):
    """A rotation blown up by 1.5, under tanh: no two points of a small period, but 0 repels; of the
    box that is proved, and nothing where it leaves no room about 0."""
    c, s = np.cos(1.0), np.sin(1.0)
    turn = torch.block_diag(*[1.5 * torch.tensor([[c, -s], [s, c]])] * (n // 2))
    cell, box = leaky(turn.tolist(), np.zeros((n, 1)).tolist(), np.zeros(n).tolist())
    found = refute_gated(cell, box, 1.0)
    assert (found.kind, found.period) == ("unstable-orbit", 1)
    assert 1.5 - 1e-6 < found.modulus <= 1.5 + 1e-6
    assert refute_gated(cell, 0 * box, 1.0) is None


@pytest.mark.parametrize("cell", ["leaky-tanh", "rnn-tanh", "linear"])
def test_inputs_of_a_set(cell):
    """What is refuted of a set is refuted by inputs of it: not by zero, which it lacks."""
    held = model(cell, [[3.0]], [-4.0], [[40 / 3]])
    rows = input_rows(torch.tensor([[0.3], [1.0], [-1.0]]).double())
    for given, refuted in (
        (rows, True),
        (input_box(0.25, 0.35, 1), True),
        (input_box(0.6, 1, 1), False),
    ):
        told = certify(held, inputs=given, norm="infinity")
        assert (told.verdict == "refuted") == (refuted or cell == "linear")
        if told.witness is not None and cell != "linear":
            assert given.holds(told.witness.input)
