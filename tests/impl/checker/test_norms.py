"""What the checker proves of each norm, at the edge: just above each constant it holds, just below
it falls. The constants are computed here from their definitions, in floats."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from msgspec.structs import replace

from rnnbounds.impl.checker.cells.activations import BALL_ACTIVATIONS
from rnnbounds.impl.checker.cells.claimed import norm_of
from rnnbounds.impl.checker.cells.norms import Cell, Greatest, Quadratic, Scaled, Total
from rnnbounds.impl.checker.cells.remaining import _held, _of_units, _start, left
from rnnbounds.impl.checker.cells.stacked import Cascade, Stack, _coupling, _layer
from rnnbounds.impl.checker.cells.stepped import Blocks, Stepped
from rnnbounds.impl.checker.cells.units import Weights, still
from rnnbounds.impl.checker.definite import norm_at_most
from rnnbounds.impl.format.fields import Layer, RecordError, Stated

W = np.array([[0.3, -0.2], [0.1, 0.4]])
U = np.array([[1.0, -2.0], [0.5, 0.25]])
O, BOX, B = np.array([0.25, 0.5]), np.array([2.0, 3.0]), 1.5
v = np.array([0.5, 2.0])
Q = np.array([[1.0, 0.5], [-0.25, 2.0]])
D = np.diag(v)
LINEAR = BALL_ACTIVATIONS["linear"]


def rational(A):
    """Of a vector or a matrix, exactly."""
    return [rational(a) for a in A] if np.ndim(A) else fmpq(*float(A).as_integer_ratio())


def cell(name="linear", **more):
    """Two units under ‖x‖₂ ≤ B, with |ρ(b)| ≤ O and |h| ≤ BOX."""
    sizes = (list(map(arb, numbers.tolist())) for numbers in (O, BOX))
    offset, box = sizes
    return Cell(rational(W), rational(U), offset, BALL_ACTIVATIONS[name], arb(B), box, **more)


def size(A):
    """‖A‖₂."""
    return float(np.linalg.norm(A, 2))


def unit_drive():
    """|φ(0, x)_i| at most."""
    return np.linalg.norm(U, axis=1) * B + O


inverse = np.linalg.inv(Q)
# Of each norm: λ, the drive, C with ‖h‖₂ ≤ C‖h‖, c with ‖h‖ ≤ c‖h‖₂, R of the box, L of inputs.
KNOWN = {
    "greatest": (
        Greatest(rational(v)), (abs(W) @ v / v).max(), (unit_drive() / v).max(), size(v),
        1 / v.min(), (BOX / v).max(), (np.linalg.norm(U, axis=1) / v).max(),
    ),
    "total": (
        Total(), abs(W).sum(0).max(), unit_drive().sum(), 1.0, math.sqrt(2), BOX.sum(),
        np.linalg.norm(U, axis=1).sum(),
    ),
    "scaled": (
        Scaled(rational(v)), size(D @ W @ np.linalg.inv(D)), size(D @ U) * B + size(D @ O),
        1 / v.min(), v.max(), size(D @ BOX), size(D @ U),
    ),
    "quadratic": (
        Quadratic(rational(Q)), size(Q @ W @ inverse), size(Q @ U) * B + size(abs(Q) @ O),
        size(inverse), size(Q), size(abs(Q) @ BOX), size(Q @ U),
    ),
}  # fmt: skip


def at_edges(norm, one, lam, C, c, sizes):
    """Just above λ, C and c each holds, just below it falls; and drive, movement and radius."""
    with ctx.workprec(256):
        for share, holds in ((1 + 1e-9, True), (1 - 1e-9, False)):
            assert norm.contracts(one, lam * share) is holds
            assert norm.equivalent(one, C * share) is holds
            assert norm.reached(one, c * share) is holds
        found = [float(size) for size in (norm.drive(one), norm.moved(one), norm.radius(one))]
    assert found == pytest.approx(sizes, rel=1e-9)


@pytest.mark.parametrize("which", KNOWN)
def test_vanilla_norms(which):
    """Each constant of each norm; in a quadratic one nothing but a linear system contracts."""
    norm, lam, drive, C, c, R, L = KNOWN[which]
    at_edges(norm, cell(), lam, C, c, [drive, L, R])
    assert (which == "quadratic") != norm.contracts(cell("rnn-tanh"), 2 * lam)


def test_what_units_keep():
    """κ of the unit that keeps most is added to what the rest does; inputs in a box drive less."""
    kept = cell(kept=rational(np.array([0.1, 0.4])))
    lam = 0.4 + size(D @ W @ np.linalg.inv(D))
    for share, holds in ((1 + 1e-9, True), (1 - 1e-9, False)):
        assert Scaled(rational(v)).contracts(kept, lam * share) is holds
    boxed = cell(first=[arb(0.75), arb(0.5)])
    assert float(Greatest(rational(v)).drive(boxed)) == pytest.approx(1.5)
    assert float(Scaled(rational(v)).drive(boxed)) == pytest.approx(math.hypot(0.375, 1.0))


def test_norm_of_a_vector():
    """‖(3, 4)‖₂ is 5, and ‖(0.3, 0.4)‖₂ is not 0.3: limits are squared as entries are."""
    assert norm_at_most(rational(np.array([[3.0, 4.0]])), 5.0)
    assert not norm_at_most(rational(np.array([[3.0, 4.0]])), 4.99)
    assert not norm_at_most(rational(np.array([[0.3], [0.4]])), 0.3)


def gated(**more):
    """What norms of cells with gates ask of one: four numbers in two blocks, the last two shown."""
    told = {
        "n": 2, "states": 4, "rest": [arb(a) for a in (1, 2, 3, 4)],
        "box": [arb(a) for a in (2, 2, 5, 12)],
        "rates": lambda v: [arb(a) for a in (0.5, 0.25, 1.0, 2.0)],
        "fed": lambda: [arb(a) for a in (1, 2, 3, 8)],
        "slopes": [[arb(3), arb(0)], [arb(0), arb(4)], [arb(6), arb(0)], [arb(8), arb(0)]],
        "between_blocks": lambda plain: [[arb(0.25), arb(0.125)], [arb(0.5), arb(0.25)]],
    }  # fmt: skip
    return SimpleNamespace(**told | more)


def test_norms_of_units_and_of_blocks():
    """max |s_i|/v_i of v = (1, 1, 2, 4) and max ‖s_b‖₂/w_b of w = (0.5, 2); outputs are the last
    two. λ = (0.25 · 0.5 + 0.125 · 2)/0.5 of the blocks."""
    units = Greatest(rational(np.array([1.0, 1.0, 2.0, 4.0])))
    at_edges(units, gated(), 0.5, math.sqrt(20), 1.0, [2.0, 2.0, 3.0])
    blocks = Blocks(rational(np.array([0.5, 2.0])))
    at_edges(blocks, gated(), 0.75, 2.0, 2.0, [math.sqrt(5) / 0.5, 8.0, 13.0 / 2.0])


def layer(lam, drive, C, c, R, coupling):
    """A layer of a stack, as it is stated."""
    return Layer(Stated("x", lam, None, drive, C, c, R), None, coupling, 1.0, None)


def test_cascades():
    """max ‖s^l‖_l/t_l of t = (1, 4): λ_2 + μ λ_1 t_1/t_2 = 0.5 + 2 · 0.25/4 for the second."""
    below, top = layer(0.25, 3.0, 7.0, 2.0, 9.0, 0.0), layer(0.5, 8.0, 0.5, 12.0, math.inf, 2.0)
    first = SimpleNamespace(moved=lambda *_: arb(3))
    norm = Cascade([arb(1), arb(4)], [first, first])
    stack = Stack([None, None], (below, top))
    # The radius is that of 3/0.75 and 9; of 8/0.5 over 4.
    at_edges(norm, stack, 0.625, 0.5 * 4, 3.0, [3.0, 3.0, 4.0])
    steep = Stack([None, None], (below, layer(0.5, 8.0, 0.5, 12.0, math.inf, 20.0)))
    assert float(norm.moved(steep)) == 15.0  # 20 · 3/4


def test_each_kind_of_cell_has_its_norms():
    """What a record names and the cell lacks is refused."""
    stated = Stated("", 0.5, [1.0, 2.0], 1.0, 1.0, 1.0, math.inf)
    gated = SimpleNamespace(states=2, blocks=1, cell="gru")
    for name, one in (("perron", gated), ("comparison", gated), ("perron", cell())):
        assert isinstance(norm_of(replace(stated, name=name), one), Greatest)
    for name, one in (("comparison", cell()), ("diagonal", gated), ("one", gated), ("", gated)):
        with pytest.raises(RecordError, match="no such norm"):
            norm_of(replace(stated, name=name), one)


def test_both_norms_of_a_layer_are_proved():
    """That of the windows, and the one that bounds the outputs, which may state what is false."""
    lam, drive = abs(W).sum(1).max(), unit_drive().max()
    good = Stated("infinity", 1.001 * lam, None, 1.001 * drive, 1.001 * math.sqrt(2), 1.0, math.inf)
    false = replace(good, drive=drive / 2)
    chosen = norm_of(good, cell())
    for bounded, holds in ((None, True), (good, True), (false, False)):
        found = _layer(1, Layer(good, bounded, 0.0, B, None), chosen, cell())
        assert all(part.holds for part in found) is holds


def test_an_input_moves_what_it_feeds_alone():
    """The slopes by inputs are |W_in|, and 0 where a step passes no input on."""
    held = Weights({"a": np.array([[0.5, 0.0], [0.0, 0.25]])})
    still_step = lambda m, s, x: m.affine("a", None, s)  # noqa: E731
    one = Stepped("", held, still_step, 2, 2, 1, arb(1), None, [arb(1), arb(1)])
    assert one.slopes == [[0.0], [0.0]]


def test_couplings():
    """N = ((1, 2), (3, 4)) from outputs ‖h‖₂ ≤ C‖s‖ of a layer below, in max |s_i|/v_i: through C,
    or unit by unit with the last two of u; in a norm of blocks by ‖N‖₂ alone."""
    one = SimpleNamespace(slopes=[[arb(1), arb(2)], [arb(3), arb(4)]])
    upper, lower = (Greatest(rational(np.array(w))) for w in ([2.0, 4.0], [9.0, 3.0, 5.0]))
    blocks = Blocks(rational(np.ones(1)))

    def found(norms, C):
        reach, below = (Stated("x", 0.5, None, 1.0, size, 3.0, 1.0) for size in (1.0, C))
        return float(_coupling(reach, norms, below, one, 2))

    assert found([lower, upper], 2.0) == pytest.approx(2 * 5 / 4)
    assert found([lower, upper], 10.0) == pytest.approx((9 + 20) / 4)
    assert found([blocks, upper], 10.0) == pytest.approx(10 * 5 / 4)
    assert found([lower, blocks], 10.0) == pytest.approx(3 * size([[1, 2], [3, 4]]) * 10)


def test_where_what_is_left_starts():
    """|s_i| ≤ w_b R for the units of block b, R = S/(1 − λ) or the radius, within the box."""
    told = Stated("spectral", 0.5, [1.0, 3.0], 1.0, 1.0, 1.0, math.inf)
    norm, one = Blocks(rational(np.array([1.0, 3.0]))), gated()
    assert [float(a) for a in _start(told, norm, one)] == [2.0, 2.0, 5.0, 6.0]
    held = _held(told, rational(np.array([1.0, 3.0])), [arb(9), arb(9)])
    assert [float(a) for a in held] == [2.0, 6.0]
    near = Stated("spectral", 0.5, [1.0, 3.0], 1.0, 1.0, 1.0, 0.5)
    assert [float(a) for a in _start(near, norm, one)] == [0.5, 0.5, 1.5, 1.5]


def test_what_is_left_of_a_stack():
    """Each layer moves with what is left of the one below: 8/2 + 4/2, then 6/2 + 2/2."""
    below = SimpleNamespace(n=1, moves=lambda g, x: [a / 2 for a in g])
    top = SimpleNamespace(n=1, moves=lambda g, x: [a / 2 + b for a, b in zip(g, x, strict=True)])
    sizes = _of_units([[arb(4)], [arb(9), arb(8)][1:]], [below, top])
    assert [float(next(sizes)) for _ in range(3)] == [8.0, 6.0, 4.0]


def test_what_is_left_of_a_cell():
    """Of h⁺ = h/2 from |h| ≤ 4, and another number that is not shown: the most of the steps."""

    def halved(_, s, x):
        return still([arb(0.5)] * 2) * s

    one = Stepped("halved", Weights({}), halved, 2, 1, 1, arb(1), None, [arb(64), arb(4)])
    told = Stated("infinity", 0.5, None, 100.0, 1.0, 1.0, math.inf)
    norm = Greatest(rational(np.ones(2)))
    for steps, size in ((range(3), 4.0), (range(1, 4), 2.0), (range(2, 3), 1.0)):
        assert float(left(told, norm, one, steps)) == size
    assert not left(Stated("infinity", 1.0, None, 1.0, 1.0, 1.0, 1.0), norm, one, range(3)) < 99
