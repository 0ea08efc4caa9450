"""One step in a dtype against the exact one, where it ends: see `arithmetic.test_laws`."""

import math

import pytest
import torch

from rnnbounds.impl.arithmetic.base import Arithmetic, Floats, Rows, V
from rnnbounds.impl.arithmetic.interval_arithmetic import step_bound
from rnnbounds.impl.arithmetic.roundings import DtypeRun
from rnnbounds.impl.gradients.step_errors import step_error


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
    most = step_bound(driven, weights, box, 1.0, 1, DtypeRun(torch.float16, fused=True))
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
