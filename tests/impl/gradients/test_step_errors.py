"""One step in a dtype against the exact one, for every kind of cell and operation."""

import math

import pytest
import torch
from flint import arb, arb_mat, ctx

from rnnbounds.impl.arithmetic.base import Arithmetic, Floats, Program, Rows, V
from rnnbounds.impl.arithmetic.inputs.sets import input_box
from rnnbounds.impl.arithmetic.roundings import Runs
from rnnbounds.impl.arithmetic.spans import reached
from rnnbounds.impl.cells.stacks.stack import PREFIX
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.gradients.step_errors import step_error
from rnnbounds.properties.systems.certified.models import certified
from rnnbounds.properties.systems.certified.specs import COMMON
from rnnbounds.properties.systems.table import system

DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
CELLS = [cell for cell in COMMON if cell not in ("linear", "rnn-tanh", "rnn-relu")]
COLUMNS = 16
EACH = [(cell, DTYPES[i % 3]) for i, cell in enumerate(CELLS)] + [
    (cell, dtype) for cell in ("lstm", "gru") for dtype in DTYPES[1:]
]


def model_of(cell, dtype, seed=0):
    """A small model of the kind."""
    layers = 2 if cell.startswith((PREFIX, "deep-")) else 1
    spec = system(
        "certified", cell=cell, norm="auto", regime="gaussian", n=3, d=2, T=4, K=4, lam=0.5,
        bias=0.5, seed=seed, layers=layers, dtype=str(dtype).removeprefix("torch."),
    )  # fmt: skip
    return certified(spec, 0)


@pytest.mark.slow
@pytest.mark.parametrize(("cell", "dtype"), EACH)
def test_steps_are_within(cell, dtype):
    """States of the box and inputs on the ball, rounded to the dtype: the step that runs there is
    no further from the one in balls than is said, unit by unit."""
    model, certificate = model_of(cell, dtype)
    kind, B = kind_of(model.name), certificate.input_bound
    box = model.cell.held(B).box
    bound = step_error(model.cell.program, model.cell.parameters, box, B, model.d, dtype)
    assert bool(torch.isfinite(bound).all())
    draw, inward = torch.Generator().manual_seed(1), 1 - 2 * torch.finfo(dtype).eps
    s = (2 * torch.rand(COLUMNS, box.shape[1], dtype=torch.float64, generator=draw) - 1) * box
    x = torch.randn(COLUMNS, model.d, dtype=torch.float64, generator=draw)
    x = B * x / x.norm(dim=1, keepdim=True)
    s, x = (inward * s).to(dtype), (inward * x).to(dtype)
    ran = kind.step(model.weights, kind.drive(model.weights, x), s).double()
    with ctx.workprec(120):
        for i in range(0, COLUMNS, 4):
            columns = (arb_mat([[v] for v in part[i].double().tolist()]) for part in (s, x))
            exact = model.cell.ball_step(*columns)[0].entries()
            for there, value, most in zip(ran[i].tolist(), exact, bound[0].tolist(), strict=True):
                assert abs(arb(there) - value) <= most


OPERATIONS = {
    "sum": lambda m, s, x: s + x + 0.1,
    "product": lambda m, s, x: s * x - 0.3 * s,
    "mix": lambda m, s, x: m.mix(s.sigmoid(), x, -s),
    "kernel": lambda m, s, x: x + s.sigmoid() * (s - x),
    "exp": lambda m, s, x: (s + x).exp(),
    "waves": lambda m, s, x: (3.0 * s).sin() * (x - s).cos(),
    "reciprocal": lambda m, s, x: (1.5 + s * x).reciprocal(),
    "softplus": lambda m, s, x: (40.0 * s).softplus(),
    "gelu": lambda m, s, x: m.activate("gelu", 3.0 * s + x),
    "affine": lambda m, s, x: m.affine("W", "b", s - x),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_are_within(name, dtype):
    """Every operation against itself in float64, of which the bound is small."""
    program: Program = OPERATIONS[name]
    draw = torch.Generator().manual_seed(2)
    n = 3
    parameters = {
        "W": torch.randn(1, n, n, dtype=torch.float64, generator=draw).to(dtype).double(),
        "b": torch.randn(1, n, dtype=torch.float64, generator=draw).to(dtype).double(),
    }
    box = torch.ones(1, n, dtype=torch.float64)
    bound = step_error(program, parameters, box, input_box(-1.0, 1.0, n), n, dtype)
    s, x = (
        (2 * torch.rand(1, 4096, n, dtype=torch.float64, generator=draw) - 1).to(dtype)
        for _ in range(2)
    )
    if dtype == torch.float64:
        assert bool((bound <= 1e-12).all())
        return
    own = {key: part.to(dtype) for key, part in parameters.items()}
    ran = program(Floats(own), Rows(s), Rows(x)).value.double()
    exact = program(Floats(parameters), Rows(s.double()), Rows(x.double())).value
    off = (ran - exact).abs().amax((0, 1))
    assert bool((off <= bound[0]).all())
    assert bool((bound[0] <= 200 * torch.finfo(dtype).eps).all() | (name in ("exp", "softplus")))


def zero(m: Arithmetic[V], s: V, x: V) -> V:
    """tanh(Ws + Ux) of weights that are 0."""
    return m.activate("tanh", m.affine("W", None, s) + m.affine("U", None, x))


def test_ends():
    """Nothing is lost where all is 0; nothing is known of what overflows, of long sums of coarse
    numbers, of slopes, and of infinite boxes."""
    box = torch.ones(1, 2, dtype=torch.float64)
    still = {"W": torch.zeros(1, 2, 2).double(), "U": torch.zeros(1, 2, 1).double()}
    assert step_error(zero, still, box, 1.0, 1, torch.float16).tolist() == [[0.0, 0.0]]
    large = {**still, "W": torch.full((1, 2, 2), 2e4).double()}
    assert step_error(zero, large, box, 1.0, 1, torch.float16).tolist() == [[math.inf] * 2]
    assert step_error(zero, large, box, 1.0, 1, torch.float32).amax() < 1e-2 * 2e4
    wide = {"W": torch.full((1, 130, 130), 0.01).double(), "U": torch.ones(1, 130, 1).double()}
    many = torch.ones(1, 130, dtype=torch.float64)
    assert step_error(zero, wide, many, 1.0, 1, torch.bfloat16).amin() == math.inf
    assert step_error(zero, wide, many, 1.0, 1, torch.float16).amax() < math.inf
    assert step_error(zero, wide, many * math.inf, 1.0, 1, torch.float32).amin() == math.inf
    steep = step_error(lambda m, s, x: m.slope("tanh", s), still, box, 1.0, 1, torch.float32)
    assert steep.amin() == math.inf


def test_what_underflows():
    """Products below the least normal number are allowed for, flushed or not."""
    least = torch.finfo(torch.float16).tiny
    weights = {"W": torch.full((1, 2, 2), 2.0**-12).double(), "U": torch.zeros(1, 2, 1).double()}
    box = torch.full((1, 2), 2.0**-12, dtype=torch.float64)
    assert step_error(zero, weights, box, 0.0, 1, torch.float16).amin() >= 2 * least


@pytest.mark.parametrize("halves", [0.9, 1.1])
def test_sums_of_several_products(halves):
    """One after another, as a kernel may add them up: half units are lost beside what is there, or
    more than that is gained."""
    n, small = 64, float(torch.tensor(halves * 2.0**-11).half())
    weights = {"W": torch.full((1, n, n), small).double(), "U": torch.ones(1, n, 1).double()}

    def driven(m: Arithmetic[V], s: V, x: V) -> V:
        return m.affine("U", None, x) + m.affine("W", None, s)

    box = torch.ones(1, n, dtype=torch.float64)
    bound = step_error(driven, weights, box, 1.0, 1, torch.float16)
    most = reached(driven, weights, box, 1.0, 1, Runs((torch.float16,), fused=True))
    ran = torch.ones(n, dtype=torch.float16)
    for _ in range(n):
        ran += torch.tensor(small, dtype=torch.float16)
    off = (ran.double() - (1 + n * small)).abs()
    assert float(off.amax()) > 0.02
    assert bool((off <= bound[0]).all())
    assert bool((ran.double() <= most[0]).all())


def test_infinity_times_zero():
    """What overflows is no number after a product by 0, which nothing bounds."""
    weights = {"U": torch.full((1, 2, 1), 6e4).double(), "W": torch.zeros(1, 2, 2).double()}

    def silenced(m: Arithmetic[V], s: V, x: V) -> V:
        return m.activate("tanh", m.affine("W", None, m.affine("U", None, x)))

    box = torch.ones(1, 2, dtype=torch.float64)
    ran = silenced(Floats({k: p.half() for k, p in weights.items()}), Rows(box.half()),
                   Rows(torch.full((1, 1), 2.0, dtype=torch.float16)))  # fmt: skip
    assert bool(ran.value.isnan().all())
    assert step_error(silenced, weights, box, 2.0, 1, torch.float16).tolist() == [[math.inf] * 2]
    assert step_error(silenced, weights, box, 2.0, 1, torch.float32).tolist() != [[math.inf] * 2]
