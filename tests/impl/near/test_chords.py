"""Slopes of chords: every chord between two neighbourhoods is within what is told of them."""

import math

import pytest
import torch
from flint import arb, ctx

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS, activation
from rnnbounds.impl.near.chords import Curve, Ends, Known

NAMES = sorted(ACTIVATIONS)
POINTS = (-30.0, -2.5, -1.3169578969248167, -0.6585, -1e-9, 0.0, 1e-9, 0.3, 0.6585, 1.4, 3.0, 25.0)
RADII = (0.0, 1e-12, 0.125, 2.0)


def ball(name: str, z: float) -> arb:
    """f(z)."""
    return activation(name).ball(arb(z))


def grid() -> tuple[Known, Known]:
    """Pairs of neighbourhoods, each with each."""
    each = (POINTS, POINTS, RADII, RADII)
    a, b, r, s = torch.cartesian_prod(*(torch.tensor(p, dtype=torch.float64) for p in each)).T
    return Known(a, r), Known(b, s)


def off(value: Known, i: int, slope: arb) -> bool:
    """True if a slope is certainly not within what is told."""
    centre, radius = value.centre[i].item(), value.radius[i].item()
    return math.isfinite(centre + radius) and bool(abs(slope - arb(centre)) > arb(radius))


@pytest.mark.parametrize("name", NAMES)
def test_every_chord_is_within(name: str) -> None:
    """At the ends and within both neighbourhoods, whether they are apart or the same."""
    f, (u, w) = Curve(activation(name)), grid()
    chord = f.chord(u, w)
    limited = chord if f.convex else f.limited(chord)
    with ctx.workprec(200):
        for i in range(0, len(u.centre), 13):
            a, b = u.centre[i].item(), w.centre[i].item()
            r, s = u.radius[i].item(), w.radius[i].item()
            for p, q in ((a - r, b + s), (a + r, b - s), (a - r, b - s), (a + r / 3, b + s / 2)):
                if p == q:
                    continue
                slope = (ball(name, p) - ball(name, q)) / (arb(p) - arb(q))
                assert not off(chord, i, slope), (a, b, r, s)
                assert not off(limited, i, slope), (a, b, r, s)


@pytest.mark.parametrize("name", [name for name in NAMES if not Curve(activation(name)).convex])
def test_the_first_order_of_a_chord(name: str) -> None:
    """What moving both ends moves a chord by, beyond its first order, is within what |f‴| says."""
    f, (v, z) = Curve(activation(name)), grid()
    for r, s in ((0.125, 0.25), (0.5, 0.0), (1.0, 1.0)):
        with ctx.workprec(300):
            for i in range(0, len(v.centre), 37):
                a, b = v.centre[i].item(), z.centre[i].item()
                if a == b or not math.isfinite(f.third):
                    continue
                m, here, there = slopes(name, a, b)
                for p, q in ((r, s), (-r, s), (r, -s), (-r, -s)):
                    moved = (ball(name, a + p) - ball(name, b + q)) / (arb(a + p) - arb(b + q))
                    first = m + ((here - m) * arb(p) + (m - there) * arb(q)) / (arb(a) - arb(b))
                    bound = arb(f.third) * arb(r * r + r * s + s * s) / 6
                    assert not abs(moved - first) > bound, (a, b, p, q)


def slopes(name: str, a: float, b: float) -> tuple[arb, arb, arb]:
    """f[a, b], f′(a) and f′(b), the last two by differences that are far below what is asked."""
    h = arb(2) ** -60

    def at(z: float) -> arb:
        low, high = arb(z) - h, arb(z) + h
        g = activation(name).ball
        return (g(high) - g(low)) / (2 * h)

    return (ball(name, a) - ball(name, b)) / (arb(a) - arb(b)), at(a), at(b)


@pytest.mark.parametrize("name", ["sigmoid", "tanh"])
def test_curvature_between_two_numbers(name: str) -> None:
    """At least |f″| at many places between, and no more than its largest value anywhere."""
    f, z = Curve(activation(name)), torch.linspace(-6, 6, 241, dtype=torch.float64)
    most = activation(name).curvature
    with ctx.workprec(120):
        h = arb(2) ** -40
        g = activation(name).ball_derivative
        bends = [float(abs((g(arb(p) + h) - g(arb(p) - h)) / (2 * h)).mid()) for p in z.tolist()]
    for i in range(0, 241, 12):
        for j in range(i, 241, 12):
            told = float(f.curvature(z[i : i + 1], z[j : j + 1]))
            assert max(bends[i : j + 1]) * (1 - 1e-9) <= told <= most * (1 + 1e-9)


def test_what_lies_beyond_all_floats() -> None:
    """softplus rises by half of what its argument does from −z to z, though that overflows; and the
    least float is no bound on what lies below it."""
    zero = torch.zeros(1, dtype=torch.float64)
    ends = Known(zero + 1.5e308, zero), Known(zero - 1.5e308, zero)
    chord = Curve(activation("softplus")).chord(*ends)
    assert float((chord.centre - 0.5).abs()) <= float(chord.radius)
    low, high = torch.tensor([[-math.inf, -1.5e308], [1e308, -1e308]], dtype=torch.float64)
    found = Ends.outward(low, high)
    assert found.low[0] == (found + found).low[1] == -math.inf
    assert (-found).high[0] == (-found + -found).high[1] == math.inf
    none = Ends.outward(low * math.nan, high * math.nan)
    assert (none.low == -math.inf).all()
    assert (none.high == math.inf).all()
