"""What verdicts rest on, checked on a device: rounding, subnormals, activations, log and exp."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from flint import arb, ctx

from impl.activation import ACTIVATIONS, Activation
from theory.interval import Interval, exp, log

POINTS = 400


@dataclass(frozen=True)
class Finding:
    """One check: what was found, and whether it is as verdicts need it."""

    check: str
    found: str
    ok: bool


def examine(device: str = "cpu") -> list[Finding]:
    """All checks on one device."""
    return [
        rounding_to_nearest(device),
        subnormals_kept(device),
        no_reduced_precision(),
        *(activation_error(rho, device) for rho in ACTIVATIONS.values()),
        library("exp", np.linspace(-700, 700, POINTS)),
        library("log", np.geomspace(1e-300, 1e300, POINTS)),
    ]


def rounding_to_nearest(device: str) -> Finding:
    """1 + u rounds to 1 and 1 + 1.5u to 1 + 2u: float64, to nearest."""
    u, one = 2.0**-53, torch.ones(3, dtype=torch.float64, device=device)
    found = (
        one + torch.tensor([u, 1.5 * u, -0.25 * u], device=device, dtype=torch.float64)
    ).tolist()
    return Finding("float64 rounds to nearest", str(found), found == [1.0, 1 + 2 * u, 1.0])


def subnormals_kept(device: str) -> Finding:
    """2⁻¹⁰²² halves to a subnormal, not to 0."""
    half = torch.tensor([2.0**-1022], dtype=torch.float64, device=device) * 0.5
    # Compared by its bits: where subnormals count as 0 they equal 0.
    return Finding("subnormals are kept", str(half.item()), half.view(torch.int64).item() == 2**51)


def no_reduced_precision() -> Finding:
    """TF32 and the like concern float32 alone; they are recorded, and verdicts use float64."""
    setting = torch.get_float32_matmul_precision()
    return Finding("float32 products", setting, setting in ("highest", "high", "medium"))


def activation_error(rho: Activation, device: str) -> Finding:
    """The float64 function against balls, on a grid with the far left, zero and subnormals."""
    grid = np.concatenate(
        [
            np.linspace(-40, 40, POINTS),
            np.geomspace(1e-310, 700, POINTS),
            -np.geomspace(1e-310, 700, POINTS),
            [0.0],
        ]
    )
    z = torch.from_numpy(grid).to(device)
    computed, allowed = rho(z).cpu().tolist(), rho.error(1, z.abs()).cpu().tolist()
    worst, ok = 0.0, True
    with ctx.workprec(200):
        for point, value, error in zip(grid.tolist(), computed, allowed, strict=True):
            off = abs(arb(value) - rho.ball(arb(point)))
            ok = ok and bool(off <= arb(error))
            worst = max(worst, float(off.upper()) / error if error else 0.0)
    return Finding(f"{rho.name} within its error model", f"{worst:.3f} of it at worst", ok)


def library(name: str, points: np.ndarray) -> Finding:
    """NumPy's function inside the enclosure that the evaluator derives from it."""
    function = {"exp": exp, "log": log}[name]
    found = function(Interval(points, points))
    ok = True
    with ctx.workprec(200):
        for point, low, high in zip(
            points.tolist(), found.lo.tolist(), found.hi.tolist(), strict=True
        ):
            true = getattr(arb(point), name)()
            ok = ok and bool(arb(low) <= true) and bool(true <= arb(high))
    return Finding(f"{name} inside its enclosure", f"{len(points)} points", ok)
