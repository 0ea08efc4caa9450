"""Polynomials hold each member of a ball, with the generators of its own, and lose it by little."""

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations_with_replacement

import pytest
import torch
from torch import Tensor

from rnnbounds.impl.memory.tube.chords import curve
from rnnbounds.impl.memory.tube.ends import Ends
from rnnbounds.impl.memory.tube.polynomials import Polynomial, Polynomials
from rnnbounds.impl.memory.tube.zonotopes import Zonotope

N, SLACK, TINY = 3, 1e-13, 2.0**-40
ORDERS = [2, 3, 4]
Number = tuple[Polynomial, Tensor]
CURVES = ["tanh", "sigmoid", "relu", "exp", "sin"]


def drawn(count: int = 160) -> Tensor:
    """Points of |α_i| ≤ 1 and |β_j| ≤ 1: corners, and others."""
    rng = torch.Generator().manual_seed(1)
    points = torch.rand(count, 2 * N, generator=rng, dtype=torch.float64) * 2 - 1
    points[::2] = points[::2].sign()
    points[0], points[2] = 1.0, -1.0
    return points


POINTS = drawn()
ALPHA, BETA = POINTS.split(N, 1)


def polynomial(v: Polynomial) -> Tensor:
    """c + P(α) at every point."""
    found = v.centre.expand(len(ALPHA), -1)
    for degree, part in enumerate(v.parts, 1):
        chosen = list(combinations_with_replacement(range(v.variables), degree))
        found = found + ALPHA[:, torch.tensor(chosen)].prod(-1) @ part[0].mT
    return found


def ball(p: int, radius: float = 1.0, rest: float = 0.0, centre: float = 0.0) -> Number:
    """c + r α + ρ β, unit by unit, and its members."""
    v = Polynomial.ball(torch.full((1, N), radius, dtype=torch.float64), p)
    c = torch.full((1, N), centre, dtype=torch.float64)
    z = Zonotope(rest * torch.eye(N, dtype=torch.float64)[None], torch.zeros_like(c))
    size = radius + rest
    return v.of(
        c, v.parts, z, 0 * c, Ends(c - size, c + size)
    ), centre + radius * ALPHA + rest * BETA


def lost(v: Polynomial, members: Tensor) -> float:
    """The largest share of the box that a member needs, whose α and β are known."""
    G = v.rest.generators[0]
    linear = BETA[:, : G.shape[-1]] @ G.mT
    off = (members - polynomial(v) - linear).abs()
    assert (members >= v.ends.low - SLACK).all()
    assert (members <= v.ends.high + SLACK).all()
    assert (off <= v.rest.box + SLACK).all()
    z = v.zonotope  # α as generators: what is of a higher degree is in its box
    around = (members - v.centre - ALPHA @ z.generators[0, :, :N].mT).abs()
    rest = z.generators[..., N:].abs().sum(-1) + z.box
    assert (around <= rest + SLACK).all()
    assert ((members - v.centre).abs() <= v.reach + SLACK).all()
    return float((off / (v.rest.box + 1e-9)).amax())


@pytest.mark.parametrize("p", ORDERS)
def test_products_keep_all_of_a_member(p: int) -> None:
    """At a corner all terms beyond the degree add up, and that is what is lost."""
    power, members = one, of_one = ball(p)
    for _ in range(p):
        power, members = power * one, members * of_one
    assert lost(power, members) > 0.99
    for _ in range(2):
        power, members = power * one, members * of_one
        assert lost(power, members) > 0.99


@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.parametrize("centre", [-0.5, 0.0, 1.0])
def test_products_of_rests_are_within_the_box(p: int, centre: float) -> None:
    """z (P′ + z′/2) + z′ (P + z/2), nearly all of it at a corner."""
    v, members = ball(p, 0.25, 0.5, centre)
    assert lost(v * v, members * members) > 0.7
    w, others = ball(p, TINY, 0.5, centre)
    assert lost(w * w, others * others) > 0.99
    assert lost((v + w) * (v - w), (members + others) * (members - others)) > 0.1


@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.parametrize(("radius", "rest"), [(2.0, 0.0), (0.25, 1.0), (TINY, 2.0), (1.0, 1e-3)])
def test_functions_keep_all_of_a_member(name: str, p: int, radius: float, rest: float) -> None:
    """Of a function, its powers beyond the degree, and what slopes make of the rest."""
    f, worst = curve(name), 0.0
    for centre in (-1.0, 0.0, 0.5):
        v, members = ball(p, radius, rest, centre)
        worst = max(worst, lost(v.through(f), f.function(members)))
        squared = lost((v * v).through(f), f.function(members * members))
        worst = max(worst, squared)
    assert worst > 0.4


@pytest.mark.parametrize("p", ORDERS)
def test_a_form_may_be_wider_than_its_interval(p: int) -> None:
    """P alone may lie beyond the ends, where slopes are others than between them."""
    worst = 0.0
    for sign in (-1, 1):
        v, members = ball(p, 1.0, 0.75)
        inside = (sign * members >= -0.25) & (sign * members <= 0.5)
        ends = Ends(*(torch.full((1, N), end) for end in sorted((-0.25 * sign, 0.5 * sign))))
        v = replace(v, ends=Ends(*(end.double() for end in ends)))
        u = torch.where(inside, members, math.nan)
        found = v.through(curve("exp"))
        linear = BETA @ found.rest.generators[0].mT
        off = (curve("exp").function(u) - polynomial(found) - linear).abs()
        assert (off[inside] <= (found.rest.box + SLACK).expand_as(off)[inside]).all()
        worst = max(worst, float((off / found.rest.box)[inside].amax()))
    assert worst > 0.4


@pytest.mark.parametrize("p", ORDERS)
def test_what_is_not_kept_is_in_the_box(p: int) -> None:
    """Generators beyond those that are kept, and slopes of which none is."""
    v, members = ball(p, 2.0**-8, 0.5)
    m = Polynomials({"W": torch.ones(1, N, N, dtype=torch.float64)}, v)
    flat = m.affine("W", None, v).clamped(N)
    most = members.sum(-1, keepdim=True).abs().amax()
    assert (flat.swing + flat.rest.reach >= most).all()
    for centre in (0.0, 0.66, 1.0):
        v, members = ball(p, 2.0**-8, 2.0**-8, centre)
        slopes = 1 - members.tanh() ** 2
        assert ((m.slope("tanh", v).centre - slopes).abs() <= m.slope("tanh", v).reach).all()


def gru(m: Polynomials, s: Polynomial) -> Polynomial:
    """A step of gates and products."""
    z = m.affine("W", "b", s).function("sigmoid")
    return m.mix(z, s, m.affine("U", "b", z * s).function("tanh"))


def lstm(m: Polynomials, s: Polynomial) -> Polynomial:
    """Another one, that grows."""
    c = m.affine("W", "b", s).function("sigmoid") * s + m.affine("U", None, s).function("tanh")
    return m.join(c.part(0, 1), c.part(1, N)) * 1.5


@pytest.mark.parametrize("step", [gru, lstm])
@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.parametrize("radius", [0.1, 0.5, 2.0])
def test_steps_keep_all_of_a_member(
    step: Callable[[Polynomials, Polynomial], Polynomial], p: int, radius: float
) -> None:
    """Three steps from wide starts, against members that are computed alone."""
    rng = torch.Generator().manual_seed(3)
    weights = {
        name: torch.randn(1, *shape, generator=rng, dtype=torch.float64)
        for name, shape in (("W", (N, N)), ("U", (N, N)), ("b", (N,)))
    }
    v, members = ball(p, radius, radius / 16)
    points = Polynomial.ball(torch.zeros(len(members), N, dtype=torch.float64), p)
    alone = points.still(members)
    for _ in range(3):
        v, alone = step(Polynomials(weights, v), v), step(Polynomials(weights, points), alone)
        assert (alone.reach < 1e-9).all()
        lost(v, alone.centre)
        flat = v.clamped(2 * N)
        spread = flat.swing + flat.rest.reach
        assert ((alone.centre - flat.centre).abs() <= spread + SLACK).all()
