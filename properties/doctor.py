"""Checks of a device's arithmetic: rounding, subnormals, activations, log and exp."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from flint import arb, ctx

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS, Activation
from rnnbounds.impl.checker.machine import FLUSHED, ailments_of_arrays, ailments_of_floats
from rnnbounds.impl.models.torch_machine import ailments_of_tensors, worst_error
from rnnbounds.theory.numbers.interval import Interval, exp, log

POINTS = 400


@dataclass(frozen=True)
class Finding:
    """One check: what was found, and whether it is as verdicts need it."""

    check: str
    found: str
    ok: bool


def examine_device(device: str = "cpu") -> list[Finding]:
    """All checks on one device."""
    return [
        rounding_to_nearest(device),
        subnormals_kept(device),
        no_reduced_precision(),
        *(activation_error(rho, device) for rho in ACTIVATIONS.values()),
        library_enclosure("exp", np.linspace(-700, 700, POINTS)),
        library_enclosure("log", np.geomspace(1e-300, 1e300, POINTS)),
    ]


def rounding_to_nearest(device: str) -> Finding:
    """Floats, arrays and tensors round to nearest even, and carry no excess precision."""
    found = "; ".join(sorted(arithmetic_faults(device) - {FLUSHED}))
    return Finding("float64 rounds to nearest", found or "as it should", not found)


def subnormals_kept(device: str) -> Finding:
    """Floats, arrays and tensors keep subnormals, as operands and as results."""
    flushed = FLUSHED in arithmetic_faults(device)
    return Finding("subnormals are kept", FLUSHED if flushed else "as they should", not flushed)


def arithmetic_faults(device: str) -> set[str]:
    """Find faults of a device's float, array and tensor arithmetic; see `impl.checker.machine`."""
    return ailments_of_floats() | ailments_of_arrays() | ailments_of_tensors(device)


def no_reduced_precision() -> Finding:
    """TF32 and the like concern float32 alone; they are recorded, and verdicts use float64."""
    setting = torch.get_float32_matmul_precision()
    return Finding("float32 products", setting, setting in ("highest", "high", "medium"))


def activation_error(rho: Activation, device: str) -> Finding:
    """The float64 function against balls, on a grid with the far left, zero and subnormals."""
    far = np.geomspace(1e-300, 700, POINTS)
    small = np.arange(1, 2**52, 2**45, dtype=np.int64).view(np.float64)  # subnormal, by their bits
    grid = np.concatenate([np.linspace(-40, 40, POINTS), far, -far, small, -small, [0.0]])
    worst, is_within = worst_error(rho, torch.from_numpy(grid), device)
    return Finding(f"{rho.name} within its error model", f"{worst:.3g} of it at worst", is_within)


def library_enclosure(name: str, points: np.ndarray) -> Finding:
    """NumPy's function inside the enclosure that the evaluator derives from it."""
    function = {"exp": exp, "log": log}[name]
    enclosure = function(Interval(points, points))
    ok = True
    with ctx.workprec(200):
        for point, low, high in zip(
            points.tolist(), enclosure.lo.tolist(), enclosure.hi.tolist(), strict=True
        ):
            true = getattr(arb(point), name)()
            ok = ok and bool(arb(low) <= true) and bool(true <= arb(high))
    return Finding(f"{name} inside its enclosure", f"{len(points)} points", ok)
