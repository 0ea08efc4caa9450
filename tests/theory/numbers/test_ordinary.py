"""The fast path beside its plain twin: the same bits, or none at all."""

import numpy as np
import pytest

from rnnbounds.theory.numbers import interval, ordinary
from rnnbounds.theory.numbers.interval import Interval, exact
from rnnbounds.theory.numbers.rounded import LIMIT

SHAPES = [(), (1,), (3, 1, 1), (3, 1, 4), (3, 2, 1), (2, 3, 2, 4)]
SPECIAL = [0.0, -0.0, 1.0, 2.0, 0.1, -0.5, 1 / LIMIT, LIMIT, 2.0**-1060, 2.0**1000, np.inf, np.nan]


def drawn(rng: np.random.Generator, shape: tuple[int, ...], kind: str) -> Interval:
    """Points or intervals, of small whole numbers, positive or any numbers, or special ones."""
    lo = {
        "whole": lambda: rng.integers(0, 5, shape).astype(float),
        "positive": lambda: np.exp(rng.normal(0, 40, shape)),
        "any": lambda: rng.normal(0, 3, shape),
        "special": lambda: rng.choice(SPECIAL, shape),
    }[kind]()
    lo = np.asarray(lo)
    return exact(lo) if rng.random() < 0.4 else Interval(lo, lo + np.abs(lo) * rng.random())


def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing take the fast path."""
    for name in ("add", "multiply", "divide"):
        monkeypatch.setattr(ordinary, name, lambda x, y: None)


@pytest.mark.parametrize("kind", ["whole", "positive", "any", "special"])
def test_both_paths_give_the_same_bits(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums, differences, products, quotients and powers, whatever is broadcast."""
    rng = np.random.default_rng(0)
    pairs = []
    for shape in SHAPES:
        for other in SHAPES[:5]:
            pairs.append((drawn(rng, shape, kind), drawn(rng, other, kind)))

    def all_of() -> list[Interval]:
        with np.errstate(all="ignore"):
            found = [op for x, y in pairs for op in (x + y, x - y, x * y, x / y, x * x, y + y)]
            return found + [x**3.0 for x, _ in pairs] + [interval.sqrt(y) for _, y in pairs]

    fast = all_of()
    plain(monkeypatch)
    for one, two in zip(fast, all_of(), strict=True):
        for end, same in ((one.lo, two.lo), (one.hi, two.hi)):
            assert end.shape == same.shape
            np.testing.assert_array_equal(end, same)


@pytest.mark.parametrize("kind", ["whole", "any", "special"])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 12, -1, -2, -5])
def test_one_exponent_gives_what_many_give(kind: str, count: int) -> None:
    """The same bits, or a narrower enclosure where a product by 1 would have widened it."""
    x = drawn(np.random.default_rng(count + 9), (40, 3), kind)
    with np.errstate(all="ignore"):
        one, many = x ** float(count), x ** exact(np.full((2, 1, 1), count))
    for end, same in ((one.lo, many.lo[0]), (-one.hi, -many.hi[0])):
        assert np.array_equal(np.isnan(end), np.isnan(same))
        assert np.all((end >= same) | np.isnan(end))
        if kind != "special":
            np.testing.assert_array_equal(end, same)


def test_the_fast_path_is_taken() -> None:
    """Of ordinary numbers and of zeros, and of no others."""
    x, y = (np.array([0.0, 0.1]),) * 2, (np.array([3.0]), np.array([3.5]))
    for found in (ordinary.add(x, y), ordinary.multiply(x, y), ordinary.divide(x, y)):
        assert found is not None
        assert np.all(found[0] <= found[1])
    for bad in (np.inf, np.nan, -1.0, 2.0**-500, 2.0**500):
        z = (np.array([bad]),) * 2
        assert ordinary.multiply(x, z) is None
        assert ordinary.divide(x, z) is None
    assert ordinary.divide(y, x) is None
    assert ordinary.add(x, (np.array([np.inf]),) * 2) is None


def test_many_numbers_are_left_to_the_plain_path() -> None:
    """Beyond so many the calls are the least of the cost."""
    few, many = ((np.ones(size),) * 2 for size in (ordinary.MAX_SIZE, ordinary.MAX_SIZE + 1))
    for op in (ordinary.add, ordinary.multiply, ordinary.divide):
        assert op(few, few) is not None
        assert op(many, many) is None


def test_what_is_exact_stays_exact() -> None:
    """T - k, halves and doubles."""
    k = exact(np.arange(5.0))
    for found, true in ((7.0 - k, 7.0 - k.lo), (k * 2.0, k.lo * 2), (k / 2.0, k.lo / 2)):
        assert np.array_equal(found.lo, true)
        assert np.array_equal(found.hi, true)
