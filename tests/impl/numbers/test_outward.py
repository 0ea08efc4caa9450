import math
from collections.abc import Callable
from fractions import Fraction

import pytest
import torch
from flint import arb
from torch import Tensor

from rnnbounds.impl.numbers import outward
from rnnbounds.impl.numbers.ball_functions import float_above
from rnnbounds.impl.numbers.outward import TINY, UNIT

PLAIN = [0.0, 1.0, -1.0, 0.1, 1 / 3, 3.0, 1e16, 1 + 2**-52, 1e-160, 5e-324, 1e300, 1.7e308]
A = torch.tensor([a for a in PLAIN for _ in PLAIN], dtype=torch.float64)
B = torch.tensor(PLAIN * len(PLAIN), dtype=torch.float64)


def exact(value: float) -> Fraction:
    """The rational that a float is."""
    return Fraction(value)


def check(rounded: float, truth: Fraction, relative: float = 2**-51) -> None:
    """At least the truth, and at most two floats above it."""
    if rounded == math.inf:
        assert truth > Fraction(1.79e308)
        return
    assert Fraction(rounded) >= truth
    spread = max(abs(truth) * Fraction(relative), Fraction(2) ** -1073)
    assert Fraction(rounded) - truth <= spread


def test_add_and_subtract() -> None:
    """Sums are rounded up and differences down, and exact ones are left alone."""
    sums, gaps = outward.add_up(A, B).tolist(), outward.subtract_down(A, B).tolist()
    for a, b, s, g in zip(A.tolist(), B.tolist(), sums, gaps, strict=True):
        check(s, exact(a) + exact(b))
        if abs(g) < math.inf:
            assert Fraction(g) <= exact(a) - exact(b)
    assert outward.add_up(0.5, 0.25).item() == 0.75
    assert outward.subtract_down(1.0, torch.tensor(0.25, dtype=torch.float64)).item() == 0.75


def test_multiply() -> None:
    """Products are rounded up at every scale, and exact ones are left alone."""
    for a, b, p in zip(A.tolist(), B.tolist(), outward.mul_up(A, B).tolist(), strict=True):
        check(p, exact(a) * exact(b))
    assert outward.mul_up(0.75, 0.75).item() == 0.5625
    assert outward.mul_up(0.0, 5.0).item() == 0.0


def test_divide_and_root() -> None:
    """Quotients and roots are rounded up, and exact ones are left alone."""
    positive = (A >= 0) & (B > 0)
    a, b = A[positive], B[positive]
    for x, y, q in zip(a.tolist(), b.tolist(), outward.div_up(a, b).tolist(), strict=True):
        check(q, exact(x) / exact(y))
    for x, r in zip(a.tolist(), outward.sqrt_up(a).tolist(), strict=True):
        assert Fraction(r) ** 2 >= exact(x)
    assert outward.div_up(1.0, 0.25).item() == 4.0
    assert outward.sqrt_up(0.25).item() == 0.5
    assert outward.sqrt_up(2.0).item() == pytest.approx(2**0.5, rel=1e-15)


def of_usual_size(x: Tensor, like: Tensor) -> Tensor:
    """Where no operand is of a size whose square over- or underflows."""
    size = x.abs().reshape(*like.shape, -1)
    return ((size > 2.0**-400) & (size < 2.0**400) | (size == 0)).all(-1)


def test_arrays_and_tensors_come_to_the_same_bits() -> None:
    """The processor's rounding against the error-free transformations, which what carries gradients
    takes: equal at usual sizes, and no more at any."""
    special = [math.nan, math.inf, -math.inf, -0.0, 2.0**-1060, -(2.0**-900)]
    values = torch.tensor([*PLAIN, *special], dtype=torch.float64)
    a, b = (v.flatten() for v in torch.meshgrid(values, values, indexing="ij"))
    a, b = torch.cat([a, A * 3]), torch.cat([b, B / 7])

    def compare(operation: Callable[..., Tensor], *given: Tensor) -> None:
        found = operation(*given)
        long = operation(*(x.clone().requires_grad_() for x in given)).detach()
        assert (found <= long).all()
        usual = torch.stack([of_usual_size(x, found) for x in given]).all(0)
        assert torch.equal(found[usual], long[usual])

    for operation in (outward.add_up, outward.mul_up):
        compare(operation, a, b)
    compare(outward.div_up, a.abs(), b.abs())
    compare(outward.sqrt_up, a.abs())
    for rows in (torch.stack([a, b], dim=1), torch.stack([a, b, -a, b / 3, a * 0], dim=1)):
        for operation in (outward.norm_up, outward.sum_up):
            compare(operation, rows)
            each = torch.cat([operation(row[None]) for row in rows])
            assert torch.equal(each, operation(rows))
    compare(outward.norm_up, torch.rand(9000, 3, dtype=torch.float64))  # in several goes


def test_nothing_is_nan() -> None:
    """What is not a number becomes infinity, the bound that always holds."""
    nan = torch.tensor([math.nan, math.inf], dtype=torch.float64)
    for value in (
        outward.add_up(nan, -math.inf),
        outward.mul_up(nan, 0.0),
        outward.div_up(0.0, nan * 0),
        outward.sqrt_up(nan),
        outward.norm_up(nan[:, None]),
        outward.sum_up(nan[:, None]),
        outward.sum_up(nan[:, None].clone().requires_grad_()),
        outward.sqrt_up(nan.clone().requires_grad_(), times=0),
        outward.div_up(torch.zeros(2, dtype=torch.float64), 0.0),
    ):
        assert (value == math.inf).all()


def test_nothing_left_to_divide_by() -> None:
    """A difference that vanishes is −0 when rounded down, and dividing by it gives infinity."""
    room = outward.subtract_down(1.0, 1.0).clamp(min=0.0)
    assert outward.div_up(1.0, room).item() == math.inf
    assert outward.div_up(torch.ones(2, dtype=torch.float64), -0.0).tolist() == [math.inf] * 2


def test_sums() -> None:
    """A sum of any length is at least the exact one and within a rounding an addition of it."""
    for size in (0, 1, 2, 5, 16, 33):
        x = torch.rand(size, dtype=torch.float64, generator=torch.Generator().manual_seed(size))
        total = sum((exact(v) for v in x.tolist()), Fraction(0))
        check(outward.sum_up(x).item(), total, relative=(size + 1) * 2**-52)


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200, 5e-324, 1e308])
def test_norm(scale: float) -> None:
    """The norm is rounded up without under- or overflow, and exact for one non-zero entry."""
    x = scale * torch.tensor([[3.0, 4.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]], dtype=torch.float64)
    norms = outward.norm_up(x).tolist()
    for row, norm in zip(x.tolist(), norms, strict=True):
        if norm < math.inf:
            assert Fraction(norm) ** 2 >= sum(exact(v) ** 2 for v in row)
    assert norms[1] == scale
    assert norms[3] == 0.0
    if scale < 1e308:
        assert norms[0] <= 5 * scale * (1 + 4 * UNIT) or scale == 5e-324


def test_norm_of_nothing() -> None:
    """A row without entries has norm 0."""
    assert outward.norm_up(torch.zeros(2, 0, dtype=torch.float64)).tolist() == [0.0, 0.0]


def test_norm_of_mixed_scales() -> None:
    """Entries that scaling makes subnormal still count."""
    x = torch.tensor([1e300, 5e-324], dtype=torch.float64)
    assert Fraction(outward.norm_up(x).item()) ** 2 >= exact(1e300) ** 2 + exact(5e-324) ** 2


def test_underflow_allowance() -> None:
    """The allowance is a float64 that is not itself lost, and none where all terms are zero."""
    lost = outward.underflow(torch.tensor([0.0, 1e-300], dtype=torch.float64))
    assert lost.tolist() == [0.0, TINY]
    assert TINY > 0


def test_float_above() -> None:
    """A ball becomes the least float above it, an exact one itself, NaN infinity."""
    assert float_above(arb(0.1)) == 0.1
    assert float_above(arb(1) / 3) == pytest.approx(1 / 3, rel=1e-15)
    assert arb(float_above(arb(1) / 3)) >= arb(1) / 3
    assert float_above(arb("1e-400")) == 5e-324
    assert float_above(arb("1e400")) == math.inf
    assert float_above(arb("nan")) == math.inf


def test_numbers_of_this_machine_go_where_the_others_are() -> None:
    """A scalar on the CPU draws no tensor of a device back to it."""
    there, one = torch.ones(3, dtype=torch.float64, device="meta"), torch.tensor(1.0).double()
    for found in (outward.add_up(one, there), outward.div_up(one, there)):
        assert (found.device.type, found.shape) == ("meta", there.shape)
