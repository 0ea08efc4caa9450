"""Sets that recorded inputs fill: they hold the data, and what is bounded over them is."""

import itertools
import math

import pytest
import torch
import z3
from draws import normal
from flint import fmpq

from rnnbounds.impl.arithmetic.inputs.data_sets import (
    changing_box,
    input_axes,
    input_frames,
    input_hull,
    input_zonotope,
    largest_change,
    zonotope_set,
)
from rnnbounds.impl.arithmetic.inputs.input_images import image_of_set
from rnnbounds.impl.arithmetic.inputs.maximisers import input_set_of
from rnnbounds.impl.arithmetic.inputs.membership import in_hull, in_zonotope, quickly_in_zonotope
from rnnbounds.impl.arithmetic.inputs.sets import InputSet, input_box, input_rows
from rnnbounds.impl.arithmetic.intervals import Interval
from rnnbounds.impl.errors import InputError

KINDS = (input_frames, input_hull, input_axes, input_zonotope)


def rational(a: float) -> fmpq:
    """A float as the number that it is."""
    return fmpq(*float(a).as_integer_ratio())


def recorded(m: int, d: int, scale: float = 1.0) -> torch.Tensor:
    """Frames near a line, away from zero."""
    t = torch.linspace(0, 7, m, dtype=torch.float64)[:, None]
    return scale * (torch.sin(t) * (1 + torch.arange(d)) + 0.05 * normal(m, d) + 0.5)


def decided(
    columns: torch.Tensor, x: torch.Tensor, *, convex: bool, center: torch.Tensor | None = None
) -> bool:
    """Membership by an exact solver: Σ w_j a_j = x with w ≥ 0, Σ w = 1, or with |w| ≤ 1."""
    w, solver = z3.Reals([f"w{j}" for j in range(len(columns))]), z3.Solver()
    solver.add(*[a >= (0 if convex else -1) for a in w], *[a <= 1 for a in w])
    if convex:
        solver.add(z3.Sum(w) == 1)
    for i, a in enumerate(x.tolist()):
        row = [z3.Q(*float(b).as_integer_ratio()) for b in columns[:, i].tolist()]
        c = 0.0 if center is None else float(center[i])
        aim = z3.Q(*float(a).as_integer_ratio()) - z3.Q(*c.as_integer_ratio())
        solver.add(z3.Sum([b * weight for b, weight in zip(row, w, strict=True)]) == aim)
    return solver.check() == z3.sat


@pytest.mark.parametrize("d", [1, 2, 4])
def test_membership_is_what_an_exact_solver_says(d: int) -> None:
    """At, within and beyond the boundary: no point is taken in that is not in the set, and all
    are that lie 2⁻²⁰ within."""
    rows, G, c = recorded(9, d), normal(d + 2, d, seed=1), torch.zeros(d, dtype=torch.float64)
    for seed in range(12):
        weights = torch.softmax(4 * normal(9, seed=seed), 0)
        corner = torch.sign(normal(d + 2, seed=seed)) @ G
        for edge, middle, convex in ((weights @ rows, rows.mean(0), True), (corner, c, False)):
            for share in (1 - 2.0**-20, 1.0, 1 + 2.0**-40, 1.5):
                x = middle + share * (edge - middle)
                if convex:
                    told = in_hull(rows.numpy(), x.tolist())
                else:
                    told = in_zonotope(c.numpy(), G.numpy(), x.tolist())
                assert told or share >= 1
                assert not told or decided(rows if convex else G, x, convex=convex)


def test_quick_membership_is_membership() -> None:
    """Frames of the zonotopes around them are found without rationals; whatever else is taken in,
    near the boundary or beyond it, is a member by the exact proof too; and nothing is taken in of a
    zonotope without channels."""
    x = recorded(300, 3)
    for given in (input_axes(x), input_zonotope(x)):
        assert given.zonotope is not None
        assert quickly_in_zonotope(*given.zonotope, x).all()
        center, G = given.zonotope
        shares = torch.tensor([0.999, 1.0, 1.001, 1.1], dtype=torch.float64).repeat(10)
        far = center + shares[:, None] * (torch.sign(normal(40, 6)) @ G)
        taken = far[quickly_in_zonotope(center, G, far)]
        assert len(taken) >= 4
        assert all(decided(G, row, convex=False, center=center) for row in taken)
    assert not quickly_in_zonotope(center, G[:3] + G[3:].flip(1), x).any()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("m", "d", "scale"), [(1, 1, 1.0), (40, 1, 1e6), (30, 3, 1.0),
                                               (2, 5, 1e-3), (60, 4, 1e-100)])  # fmt: skip
def test_sets_hold_their_data(kind, m: int, d: int, scale: float) -> None:
    """Every frame is proved to be of the set, channels that stand still too; one that is twice as
    far out is not."""
    x = recorded(m, d, scale)
    x[:, 0] = x[0, 0]
    given = kind(x)
    assert all(given.holds(row) for row in x.tolist())
    assert given.holds_run(x)
    assert not given.holds((2 * x[x.abs().sum(1).argmax()]).tolist())
    assert float(given) >= float(torch.linalg.vector_norm(x, dim=1).max())
    middle = x.mean(0)
    assert kind is not input_frames or d == 1 or not given.holds(middle.tolist())


@pytest.mark.parametrize("kind", [input_axes, input_zonotope])
@pytest.mark.parametrize("noise", [0.0, 1e-15, 1e-13, 1e-11])
def test_zonotopes_hold_data_of_fewer_dimensions(kind, noise: float) -> None:
    """Channels that are 0, multiples of others, or off these by no more than rounding leave axes
    of hardly any length; every frame is still proved to be of the set, without rationals."""
    x = recorded(200, 24).relu() @ normal(24, 12).relu()
    x = torch.cat([x, torch.zeros(200, 6), 2 * x[:, :6], x[:, :8] @ normal(8, 40)], dim=1)
    given = kind(x + noise * normal(*x.shape))
    assert given.zonotope is not None
    assert quickly_in_zonotope(*given.zonotope, x + noise * normal(*x.shape)).all()


def exact_within(told: Interval, W: torch.Tensor, x: torch.Tensor) -> None:
    """W x lies in the intervals, in rationals."""
    for i, row in enumerate(W[0].tolist()):
        value = sum((rational(w) * rational(a) for w, a in zip(row, x.tolist(), strict=True)),
                    fmpq(0))  # fmt: skip
        assert rational(told.low[0, i]) <= value <= rational(told.high[0, i])


@pytest.mark.parametrize("scale", [1.0, 1e-150, 1e150])
def test_support_functions(scale: float) -> None:
    """W x of frames, of points between them and of all corners of a zonotope, in rationals; what
    is bounded is reached but for rounding, and is never more than of the box."""
    W, x = normal(1, 5, 3) * scale, recorded(20, 3)
    corners = zonotope_set(x[0], x[1:5])
    assert corners.zonotope is not None
    signs = torch.tensor(list(itertools.product((-1.0, 1.0), repeat=4)), dtype=torch.float64)
    vertices = corners.zonotope.center + signs @ corners.zonotope.generators
    for given, points in ((input_hull(x), x), (corners, vertices)):
        told, box = image_of_set(given, W, Interval), image_of_set(given.box, W, Interval)
        assert (told.high <= box.high).all()
        assert (told.low >= box.low).all()
        assert torch.allclose(told.high[0], (W[0] @ points.mT).amax(1), rtol=1e-12, atol=0)
        assert torch.allclose(told.low[0], (W[0] @ points.mT).amin(1), rtol=1e-12, atol=0)
        for point in points if given.rows is not None else ():
            exact_within(told, W, point)
    told = image_of_set(corners, W, Interval)
    for sign in signs:  # corners in rationals, as floats would round them
        G = corners.zonotope.generators
        for i, row in enumerate(W[0].tolist()):
            value = fmpq(0)
            for j, w in enumerate(row):
                sums = sum((rational(s) * rational(g) for s, g in zip(sign, G[:, j], strict=True)),
                           rational(corners.zonotope.center[j]))  # fmt: skip
                value += rational(w) * sums
            assert rational(told.low[0, i]) <= value <= rational(told.high[0, i])


def test_axes_fill_less_than_a_box() -> None:
    """Of frames near a line a box in principal axes is far thinner across; a zonotope is no longer
    than either, by the lengths of its generators."""
    x = recorded(200, 3)
    axes, around = input_axes(x), input_zonotope(x)
    across = torch.linalg.svd(x - x.mean(0))[2][2][None, None]
    widths = [
        float((image.high - image.low)[0, 0])
        for image in (image_of_set(one, across, Interval) for one in (axes, axes.box))
    ]
    assert widths[0] < widths[1] / 4

    def length(one: InputSet) -> float:
        assert one.zonotope is not None
        return float(one.zonotope.generators.norm(dim=1).sum())

    assert length(around) <= length(axes)
    assert length(around) <= float((x.amax(0) - x.amin(0)).sum()) / 2 * (1 + 1e-5)


@pytest.mark.parametrize("kind", [*KINDS, lambda x: changing_box(input_box(-9, 9, 3), 0.5)])
def test_what_attacks_pick_is_of_the_set(kind) -> None:
    """Maximisers, the least input, what lies between, and sequences of them."""
    given = kind(recorded(25, 3))
    inputs = input_set_of(given)
    ends = inputs.maximiser(normal(40, 6, 3))
    start = inputs.smallest_input(3).expand(40, 6, 3)
    for x in (ends, inputs.interpolate(start, ends, 0.25)):
        run = inputs.admissible(x)
        for column in run.unbind(1):
            assert inputs.holds(column)
            assert given.holds_run(column)
    if given.change is not None:
        assert not inputs.holds(torch.tensor([[0.0] * 3, [0.0, 0.0, 0.5 + 2.0**-20]]).double())
        assert not given.holds_run(torch.tensor([[0.0] * 3, [0.0, 0.0, 0.51]]).double())


def test_changes_are_those_of_sequences() -> None:
    """The largest step within a sequence, not from one to the next; a series of one has none."""
    first, second = torch.tensor([[0.0], [0.25]]), torch.tensor([[9.0], [9.125], [9.0]])
    assert largest_change([first.double(), second.double()]).tolist() == [0.25]
    assert largest_change([first[:1].double()]).tolist() == [0.0]
    box = changing_box(input_box([0, 0], [1, 2]), torch.tensor([0.5, 0.25]))
    assert box.to_json()["change"] == [0.5, 0.25]
    assert box.what.endswith("|x_t − x_{t−1}| ≤ δ, δ up to 0.5")


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: input_frames(torch.arange(2.0**16 + 1)[:, None]), "65537 different inputs of 1"),
        (lambda: input_hull(torch.zeros(0, 3)), "(rows, d)"),
        (lambda: input_axes(torch.tensor([[math.nan]])), "leave such rows out"),
        (lambda: input_zonotope(1e308 * torch.tensor([[1, 1], [-1, 0.0]]).double()), "a number"),
        (lambda: zonotope_set(torch.zeros(2), torch.ones(3, 3)), "beside a center (d,)"),
        (lambda: changing_box(input_rows(torch.ones(1, 1)), 1.0), "stands beside a box"),
        (lambda: changing_box(input_box(0, 1, 2), -1.0), "a number ≥ 0"),
        (lambda: changing_box(input_box(0, 1, 2), torch.ones(3)), "one number or 2"),
        (lambda: changing_box(input_box(0, 1, 2), math.nan), "a number ≥ 0"),
    ],
)
def test_what_is_no_set(call, says: str) -> None:
    """One line says why."""
    with pytest.raises(InputError) as told:
        call()
    assert says in str(told.value)
    assert "\n" not in str(told.value)
