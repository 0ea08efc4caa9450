"""Laws of every lift, over every operation and every kind of cell: inclusion, isotony and zero.

Inclusion: what is computed at points of a box, in balls or in the dtype that is spoken of, lies in
what is said of the box. Isotony: of a smaller box no more is said. Zero: where nothing moves and
nothing is rounded nothing is said.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import pytest
import torch
from flint import arb, arb_mat, ctx
from gated_draws import cho, corners, draw, generator, gru, lstm
from program_draws import SAMPLES, cells
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.impl.arithmetic.base import Floats, Program, Rows, V
from rnnbounds.impl.arithmetic.derivatives.dual_numbers import (
    _TWICE,
    Dual,
    DualArithmetic,
    ball_step,
    float_step,
    step_with_jacobian,
)
from rnnbounds.impl.arithmetic.derivatives.second_order import (
    JetArithmetic,
    second_order_constants,
    step_jets,
)
from rnnbounds.impl.arithmetic.entries import Balls, Columns
from rnnbounds.impl.arithmetic.interval_arithmetic import IntervalArithmetic, step_bound
from rnnbounds.impl.arithmetic.intervals import Interval
from rnnbounds.impl.arithmetic.roundings import DtypeRun
from rnnbounds.impl.arithmetic.running import Running, RunningError
from rnnbounds.impl.arithmetic.slopes import compare_runs, step_lipschitz
from rnnbounds.impl.gradients.step_errors import step_error
from rnnbounds.impl.models.torch_machine import keeps_to_its_model
from rnnbounds.impl.numbers.outward import norm_up

B, COLUMNS = 0.75, 8
HAIR = 1 + 1e-12


def lost(v: V) -> V:
    """v, off by 256 units of the dtype."""
    return (v + 256.0) - 256.0


OPERATIONS = {
    "sum": lambda m, s, x: s + x + 0.1,
    "difference": lambda m, s, x: 0.5 - s - x,
    "product": lambda m, s, x: s * x - 0.3 * s,
    "mix": lambda m, s, x: m.mix(s.sigmoid(), x, -s),
    "gate": lambda m, s, x: m.mix(lost(s).sigmoid(), 8.0 * x, -8.0 * s),
    "carried left": lambda m, s, x: lost(s) * x,
    "carried right": lambda m, s, x: x * lost(s),
    "carried through": lambda m, s, x: lost(s).tanh(),
    "kernel": lambda m, s, x: x + s.sigmoid() * (s - x),
    "exp": lambda m, s, x: (s + x).exp(),
    "waves": lambda m, s, x: (3.0 * s).sin() * (x - s).cos(),
    "reciprocal": lambda m, s, x: (0.75 + 0.5 * s).reciprocal() + x,
    "sqrt": lambda m, s, x: (2.5 + 0.5 * s + x).sqrt() - 0.5 * x,
    "softplus": lambda m, s, x: (40.0 * s).softplus(),
    "affine": lambda m, s, x: m.affine("W", "b", s - x),
    "rows": lambda m, s, x: m.affine("V", None, s * m.vector("b"), slice(1, 4)) + x,
    "parts": lambda m, s, x: m.join(s.part(0, 1), x.part(1, 3)) * m.join(x, s).chunk(2)[0],
} | {
    f"activate {name}": partial(lambda m, s, x, name: m.activate(name, s), name=name)
    for name in ACTIVATIONS
}  # fmt: skip
GATED = {"lstm": lstm, "gru": gru, "gru-cho": cho}
SYSTEMS = (*OPERATIONS, *GATED, *SAMPLES)


@dataclass(frozen=True, eq=False)
class System:
    """One step over |s| ≤ box (1, N) and ‖x‖₂ ≤ B, and points of that set, (1, ·, COLUMNS)."""

    program: Program
    parameters: Mapping[str, Tensor]
    box: Tensor
    d: int

    @property
    def step(self) -> tuple[Program, Mapping[str, Tensor], Tensor, float, int]:
        """As lifts ask for it."""
        return self.program, self.parameters, self.box, B, self.d

    def points(self, seed: int = 1) -> tuple[Tensor, Tensor]:
        """Corners of the box, inputs on the ball and within."""
        by = generator(seed)
        x = torch.randn(1, self.d, COLUMNS, generator=by, dtype=torch.float64)
        x = B * x / x.norm(dim=1, keepdim=True) / HAIR
        x[..., ::3] *= torch.rand(x[..., ::3].shape, generator=by, dtype=torch.float64)
        return corners(self.box, COLUMNS, by), x

    def exact(self, s: Tensor, x: Tensor, column: int) -> list[arb]:
        """The step of one column in balls."""
        m = Balls({name: part[0] for name, part in self.parameters.items()})
        at = (Columns([[arb(v)] for v in part[0, :, column].tolist()]) for part in (s, x))
        return self.program(m, *at).matrix.entries()


def system(name: str, size: float = 1.0, dtype: torch.dtype = torch.float64) -> System:
    """An operation on three units, or a cell on boxes that it keeps, of weights of the dtype."""
    if name in OPERATIONS:
        by = generator(4)
        shapes = {"W": (3, 3), "b": (3,), "V": (5, 3)}
        weights = {
            k: torch.randn(1, *v, generator=by).to(dtype).double() for k, v in shapes.items()
        }
        wide = 4.0 * size if name.startswith("activate") else size
        return System(OPERATIONS[name], weights, torch.full((1, 3), wide).double(), 3)
    cell = draw(GATED[name], 2, seed=12) if name in GATED else cells(name, 1)
    weights = {k: part.to(dtype).double() for k, part in cell.parameters.items()}
    return System(cell.program, weights, size * cell.proved_box(B).box.clamp(max=4.0), cell.d)


DTYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


@pytest.mark.parametrize("name", SYSTEMS)
def test_values_and_differences(name):
    """Intervals hold values, and slopes differences, row by row and in Euclidean norms."""
    one, (s, x) = system(name), system(name).points()
    spans = step_bound(*one.step)[0].tolist()
    found = step_lipschitz(*one.step)
    norm = float(compare_runs(*one.step).euclidean)
    N, closest = one.box.shape[1], 0.0
    with ctx.workprec(160):
        ends = [one.exact(s, x, i) for i in range(COLUMNS)]
        alike = [one.exact(s, x[..., :1].expand_as(x), i) for i in range(COLUMNS)]
        for end in ends:
            for value, low, high in zip(end, *(e[0].tolist() for e in bounds(found)), strict=True):
                assert not value < low
                assert not value > high
            assert not any(abs(value) > most for value, most in zip(end, spans, strict=True))
        for i in range(COLUMNS - 1):
            moved = [abs(a - b) for a, b in zip(ends[i], ends[i + 1], strict=True)]
            v = torch.cat([s, x], dim=1)[0]
            gaps = arb_mat([[abs(arb(a) - arb(b))] for a, b in v[:, i : i + 2].tolist()])
            rows = [(arb_mat(M.tolist()) * gaps).entries() for M in found.slopes[0]]
            for row, gap in enumerate(moved):
                assert not all(gap > each[row] for each in rows)
                most = max(float(each[row].mid()) for each in rows)
                closest = max(closest, float(gap.mid()) / most if most else 0.0)
            apart = [a - b for a, b in zip(alike[i], alike[i + 1], strict=True)]
            assert not length(apart) > arb(norm) * length(gaps.entries()[:N]) * HAIR
    assert 0.1 < closest <= 1


def bounds(found):
    """The ends of its range."""
    return found.range.low, found.range.high


def length(entries: list[arb]) -> arb:
    """‖a‖₂."""
    return sum((a * a for a in entries), arb(0)).sqrt()


@pytest.mark.parametrize("name", SYSTEMS)
def test_tangents(name):
    """Duals over floats are torch's derivatives, and lie in those over balls."""
    one, (s, x) = system(name), system(name).points()
    found = step_with_jacobian(one.program, one.parameters, s, x)[1]
    for i in range(0, COLUMNS, 3):
        at = (s[0, :, i], x[0, :, i])
        told = torch.func.jacrev(partial(column, one))(*at)
        assert torch.allclose(found[0, i], told, rtol=1e-11, atol=1e-12)
        with ctx.workprec(120):
            point = (arb_mat([[v] for v in part.tolist()]) for part in at)
            balls = ball_step(one.program, Balls.of_one(one.parameters), *point)[1].entries()
        flat = found[0, i].flatten().tolist()
        assert all(abs(b - v) < 1e-11 for b, v in zip(balls, flat, strict=True))


@pytest.mark.parametrize("name", SYSTEMS)
def test_tangents_of_parameters_and_of_tangents(name):
    """Parameters that move along a direction move the step as torch says; and duals over duals are
    second derivatives, where slopes are made of elementary functions."""
    one, (s, x) = system(name), system(name).points()
    by = generator(3)
    along = {k: torch.randn(p.shape, generator=by).double() for k, p in one.parameters.items()}
    still = [Dual(Rows(part.mT), Rows(torch.zeros_like(part.mT))) for part in (s, x)]
    found = one.program(DualArithmetic(Floats(one.parameters), Floats(along)), *still)
    run = partial(float_step, one.program)
    told, moved = torch.func.jvp(lambda p: run(p, s, x), (one.parameters,), (along,))
    assert torch.allclose(found.value.value.mT, told, rtol=1e-13, atol=1e-14)
    assert torch.allclose(found.tangent.value.mT, moved, rtol=1e-11, atol=1e-12)
    if ("activate" in name and name.split()[-1] not in _TWICE) or name in ("leaky-relu",):
        return
    way = torch.randn(s.shape, generator=generator(4), dtype=torch.float64)
    state = Dual(Dual(Rows(s.mT), Rows(way.mT)), Dual(Rows(way.mT), still[0].tangent))
    found = one.program(
        DualArithmetic(DualArithmetic(Floats(one.parameters))),
        state,
        Dual(still[1], 0.0 * still[1]),
    )

    def first(at):
        return torch.func.jvp(lambda a: run(one.parameters, a, x), (at,), (way,))[1]

    second = torch.func.jvp(first, (s,), (way,))[1]
    assert torch.allclose(found.tangent.tangent.value.mT, second, rtol=1e-9, atol=1e-10)


def column(one: System, s: Tensor, x: Tensor) -> Tensor:
    """The step of one column in floats."""
    return float_step(one.program, one.parameters, s[None, :, None], x[None, :, None])[0, :, 0]


SMOOTH = [name for name in SYSTEMS if name.split()[-1] not in ("relu", "leaky-relu", "elu")]


@pytest.mark.parametrize("name", SMOOTH)
def test_jets(name):
    """First and second derivatives in the state and in every parameter, and pairs of these."""
    one, (s, x) = system(name), system(name).points()
    v = 0.5 + torch.rand(1, one.box.shape[1], generator=generator(3), dtype=torch.float64)
    found, by, names = step_jets(*one.step[:3], v, B, one.d), generator(2), list(one.parameters)
    at = (s, one.parameters)

    def run(s: Tensor, parameters: Mapping[str, Tensor]) -> Tensor:
        return float_step(one.program, parameters, s, x)

    ways = []
    for place in range(len(names) + 1):
        still = {key: torch.zeros_like(part) for key, part in one.parameters.items()}
        signs = torch.randn(s.shape, generator=by, dtype=torch.float64).sign() * v[:, :, None]
        if place:
            moved = torch.randn(still[names[place - 1]].shape, generator=by, dtype=torch.float64)
            still[names[place - 1]] = moved / moved.norm()
        ways.append((signs * (not place), still))
    for a, first in enumerate(ways):
        once = torch.func.jvp(run, at, first)[1].abs().amax(2)
        assert bool((once <= found.first[:, :, a] * (1 + 1e-9) + 1e-11).all())
        for b, second in enumerate(ways[: a + 1]):
            twice = torch.func.jvp(lambda *p: torch.func.jvp(run, p, second)[1], at, first)[1]  # noqa: B023
            bound = found.second[:, :, a, b] * (1 + 1e-9) + 1e-9
            assert bool((twice.abs().amax(2) <= bound).all())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SYSTEMS)
def test_runs_of_dtypes(name, dtype):
    """A step in the dtype is no further from the exact one than is said, and where spans have it;
    so is one that is off before, in float64."""
    one, (s, x) = system(name, dtype=dtype), system(name).points()
    s, x = ((part * (1 - 2 * torch.finfo(dtype).eps)).to(dtype).double() for part in (s, x))
    off = step_error(*one.step, dtype)[0].tolist()
    if (name, dtype) == ("activate erf", torch.bfloat16):  # it keeps to no error model
        assert not keeps_to_its_model("erf", dtype="bfloat16")
        assert min(off) == torch.inf
        return
    most = step_bound(*one.step, DtypeRun(dtype, fused=True))[0].tolist()
    own = {key: part.to(dtype) for key, part in one.parameters.items()}
    ran = one.program(Floats(own), Rows(s.mT.to(dtype)), Rows(x.mT.to(dtype))).value.double()[0]
    e = 1e-3 * torch.rand(s.mT.shape, generator=generator(6), dtype=torch.float64)
    near = one.program(
        Running(one.parameters), RunningError(s.mT + e, e * HAIR), RunningError.exactly(x.mT)
    )
    with ctx.workprec(200):
        for i in range(COLUMNS):
            for unit, value in enumerate(one.exact(s, x, i)):
                there = float(ran[i, unit])
                assert abs(arb(there) - value) <= off[unit]
                assert abs(there) <= most[unit]
                lost = abs(arb(float(near.value[0, i, unit])) - value)
                assert lost <= arb(float(near.error[0, i, unit]))
    assert max(off) < 2e4 * torch.finfo(dtype).eps


@pytest.mark.parametrize("name", SYSTEMS)
def test_less_is_said_of_less(name):
    """Ranges, slopes, jets and errors over half of a box, and of fewer weights, are no larger."""
    whole, half = system(name), system(name, 0.5)
    radii = {k: 0.1 * norm_up(p.flatten(1)) for k, p in whole.parameters.items() if k != "leak"}
    still = {key: 0 * radius for key, radius in radii.items()}
    v = torch.ones_like(whole.box)
    large, small = (step_lipschitz(*each.step) for each in (whole, half))
    wide, same = (step_lipschitz(*whole.step, given) for given in (radii, still))
    for less, more in ((small, large), (large, wide)):
        assert bool((less.range.low >= more.range.low).all())
        assert bool((less.range.high <= more.range.high).all())
        assert bool((less.largest_slopes <= more.largest_slopes * HAIR).all())
    assert torch.equal(same.slopes, large.slopes)
    assert torch.equal(same.range.high, large.range.high)
    known = [
        second_order_constants(step_jets(*each.step[:3], v, B, each.d), v) for each in (half, whole)
    ]
    known.append(second_order_constants(step_jets(*whole.step[:3], v, B, whole.d, radii=radii), v))
    for less, more in pairwise(known):
        assert all(bool((less[part] <= more[part] * HAIR).all()) for part in more)
    errors = [step_error(*each.step, torch.float32) for each in (half, whole)]
    assert bool((errors[0] <= errors[1] * HAIR).all())


@pytest.mark.parametrize("name", SYSTEMS)
def test_no_weights_of_a_set_are_left_out(name):
    """Values and slopes of weights at the edge of a set are within what is said of all; without
    the radii some are not."""
    one, by = system(name), generator(5)
    radii = {k: 0.2 * norm_up(p.flatten(1)) for k, p in one.parameters.items() if k != "leak"}
    whole, alone = step_lipschitz(*one.step, radii), step_lipschitz(*one.step)
    driven = compare_runs(*one.step, radii=radii).drive
    beyond = False
    for _ in range(4):
        edge = dict(one.parameters)
        for key, radius in radii.items():
            way = torch.randn(edge[key].shape, generator=by, dtype=torch.float64)
            edge[key] = edge[key] + way * (radius / way.norm() / HAIR)
        there = step_lipschitz(one.program, edge, one.box, B, one.d)
        assert bool((there.range.high <= whole.range.high).all())
        assert bool((there.largest_slopes <= whole.largest_slopes * HAIR).all())
        assert bool((compare_runs(one.program, edge, one.box, B, one.d).drive <= driven).all())
        beyond = beyond or bool((there.range.high > alone.range.high).any())
    uses = not torch.equal(whole.range.high, alone.range.high)
    assert beyond or not uses


@pytest.mark.parametrize("lift", ["spans", "slopes", "jets", "errors", "running"])
def test_nothing_moves(lift):
    """tanh of weights that are 0: one value, no slope, no curvature, no rounding."""
    shapes = {"W": (2, 2), "U": (2, 1)}
    still = {name: torch.zeros(1, *shape).double() for name, shape in shapes.items()}
    box = torch.ones(1, 2).double()

    def step(m, s, x):
        return m.activate("tanh", m.affine("W", None, s) + m.affine("U", None, x))

    told = {
        "spans": lambda: step_bound(step, still, box, 1.0, 1),
        "slopes": lambda: step_lipschitz(step, still, box, 1.0, 1).slopes,
        "jets": lambda: step_jets(step, still, box, box, 1.0, 1).first[:, :, 0],
        "errors": lambda: step_error(step, still, box, 1.0, 1, torch.float16),
        "running": lambda: (
            step(Running(still), RunningError.exactly(box), RunningError.exactly(box[:, :1])).error
        ),
    }
    assert float(told[lift]().abs().amax()) <= 1e-290
    m = IntervalArithmetic(still)
    assert isinstance(step(m, m.box(box), m.inputs(1.0, box, 1)).range, Interval)
    assert JetArithmetic(still, {"W": 2}).directions == 3


def test_an_endless_set_of_weights():
    """Of weights that may be anything nothing is known."""
    one = system("lstm")
    radii = {key: torch.full((1,), torch.inf, dtype=torch.float64) for key in one.parameters}
    assert not (step_lipschitz(*one.step, radii).largest_slopes[:, :, :4] < 1e9).any(dim=2).all()
