"""The readout f of a certificate about outputs f(h), whose windows and gain are those of h times a
Lipschitz constant L of f: that f is the model's, and that the L that is stated is one.

L is the product of a bound for each stage: ‖C‖₂ of a linear layer, proved by pivots or exactly,
sup |ρ′| of an activation, in balls, and max|γ_i|/√e of a normalisation, whose Jacobian before γ is
symmetric between 0 and I/√e. Biases belong to f, but move no distance by more than that. Or L is by
segments: with ρ_l(u) − ρ_l(v) = (m_l I + r_l E)(u − v), ‖E‖₂ ≤ 1, between linear maps M_l, at least

    L_g,  L_j = Σ_{i ≤ j} L_{i−1} r_i m_{i+1} ⋯ m_j ‖M_j ⋯ M_i‖₂,  L_{−1} r_0 = 1,

where each norm is proved by pivots. Source: Combettes & Pesquet (2020).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import prod
from pathlib import Path
from typing import Any

from flint import arb, arb_mat, ctx
from msgspec import UNSET
from numpy import diag

from rnnbounds import disk
from rnnbounds.impl.checker.cells.activations import BALL_ACTIVATIONS, BallActivation
from rnnbounds.impl.checker.definite import Rows, below, exact, norm_at_most
from rnnbounds.impl.checker.unitary import Finding
from rnnbounds.impl.errors import at_least, shown
from rnnbounds.impl.format.fields import RecordError
from rnnbounds.impl.format.readout import (
    NORMALISATION,
    BoundedChain,
    bounded_readout,
    stage_names,
)
from rnnbounds.impl.format.tensors import MOST, Array, Part, digest, encoded
from rnnbounds.impl.format.text import strict

_PRECISION = 256


@dataclass(frozen=True, eq=False)
class Readout:
    """A readout as it was read: `stages` by name, each the numbers of its weight (p, q) in float64,
    γ (n,) of a normalisation, or None for an activation or without γ; `tensors` has the dtype and
    the numbers of all that its digest is of, weights and biases, by full name."""

    stages: Sequence[tuple[str, Array | None]]
    tensors: Mapping[str, tuple[str, Array]]


def readout_named(path: Path) -> Sequence[str] | None:
    """The stages of the readout that a certificate says it is about, None if it says none."""
    try:
        return stage_names(strict(disk.read(path, MOST).decode())["readout"])
    except (OSError, LookupError, ValueError, TypeError, RecursionError):
        return None  # whoever reads the rest says what is wrong


def readout_norm(told: Any, read: Readout | None) -> tuple[float, tuple[Finding, ...]]:
    """The L that is stated, and whether it is proved of this readout; raises RecordError for a
    statement of another kind, or of another readout."""
    stated = bounded_readout(told)
    if read is None:
        raise RecordError("no readout of the model")
    parts = {name: encoded(part, dtype) for name, (dtype, part) in read.tensors.items()}
    names = [name for name, _ in read.stages]
    title = f"readout {','.join(names)}" if isinstance(stated, BoundedChain) else "readout"
    same = names == [*stage_names(told)] and stated.outputs == _outputs(read)
    if not same or _digest(title, parts) != stated.sha256:
        raise RecordError("another readout")
    found = [
        _stage(name, weight, norm)
        for (name, weight), norm in zip(read.stages, stated.norms, strict=True)
    ]
    if isinstance(stated, BoundedChain):
        most = at_least(stated.norm, 9)
        if stated.segments is UNSET:
            holds = prod(map(exact, stated.norms)) <= exact(stated.norm)
            found.append(Finding("readout", holds, f"L ≤ {most}, the product of these"))
        else:
            holds = _by_segments(read, stated.segments, stated.norm)
            detail = f"L ≤ {most}, by norms of products of its linear maps"
            found.append(Finding("readout", holds, detail))
    return stated.norm, tuple(found)


def _stage(name: str, weight: Array | None, norm: float) -> Finding:
    """Prove the bound of one stage."""
    if (e := _normalised(name, weight)) is not None:
        size = 1 if weight is None else exact(float(abs(weight).max()))
        holds = size * size <= exact(norm) * exact(norm) * exact(e)
        return Finding("readout", holds, f"max|γ_i|/√e ≤ {at_least(norm, 9)} of {shown(name)}")
    if weight is None:
        with ctx.workprec(_PRECISION):
            holds = bool(_activation(name).slope <= arb(norm))
        return Finding("readout", holds, f"sup |ρ′| ≤ {at_least(norm, 9)} of ρ = {shown(name)}")
    detail = f"‖C‖₂ ≤ {at_least(norm, 9)} of C = {shown(name)}"
    return Finding("readout", norm_at_most(_rational(weight), norm), detail)


def _activation(name: str) -> BallActivation:
    return BALL_ACTIVATIONS["linear" if name == "identity" else f"rnn-{name}"]


def _normalised(name: str, weight: Array | None) -> float | None:
    """The e of a normalisation, None for another stage."""
    known = None if weight is not None and weight.ndim == 2 else NORMALISATION.match(name)
    return None if known is None else float(known[2])


def _by_segments(read: Readout, segments: Sequence[Sequence[float]], norm: float) -> bool:
    """True if each segment's norm is proved, and L_g of these is at most `norm`."""
    blocks: list[list[Array]] = [[]]
    averages: list[tuple[arb, arb]] = []
    for name, weight in read.stages:
        if weight is not None and weight.ndim == 2:
            blocks[-1].append(weight)
            continue
        averages.append(_average(name, weight))
        blocks.append([] if weight is None else [diag(weight)])
    if len(segments) != len(blocks):
        return False
    spans = [(i, j) for j in range(len(blocks)) for i in range(j + 1)]
    if not all(
        _product_at_most([*chain(*blocks[i : j + 1])], segments[i][j - i]) for i, j in spans
    ):
        return False
    with ctx.workprec(_PRECISION):
        found = [arb(0)] * len(blocks)
        for i, j in spans:
            start = found[i - 1] * averages[i - 1][1] if i else arb(1)
            found[j] += start * prod((m for m, _ in averages[i:j]), start=arb(segments[i][j - i]))
        return bool(found[-1] <= arb(norm))


def _average(name: str, weight: Array | None) -> tuple[arb, arb]:
    """m and r of an activation, or of a normalisation before γ."""
    with ctx.workprec(_PRECISION):
        if (e := _normalised(name, weight)) is not None:
            half = 1 / (2 * arb(e).sqrt())
            return half, half
        rho = _activation(name)
        return (rho.slope + rho.least) / 2, (rho.slope - rho.least) / 2


def _product_at_most(matrices: Sequence[Array], most: float) -> bool:
    """True if ‖M_j ⋯ M_i‖₂ ≤ `most` is proved, and 1 ≤ `most` for none."""
    if len(matrices) < 2:
        return norm_at_most(_rational(matrices[0]), most) if matrices else most >= 1
    with ctx.workprec(_PRECISION):
        product, *others = (arb_mat(one.tolist()) for one in matrices)
        for matrix in others:
            product = matrix * product
        return below(product, arb(most))


def _rational(weight: Array) -> Rows:
    return [[exact(value) for value in row] for row in weight.tolist()]


def _outputs(read: Readout) -> int:
    return [len(weight) for _, weight in read.stages if weight is not None and weight.ndim == 2][-1]


def _digest(title: str, parts: Mapping[str, Part | None]) -> str | None:
    """The digest of the tensors; None if one is not what its dtype holds."""
    exact_parts = {name: part for name, part in parts.items() if part is not None}
    return digest(title, exact_parts) if len(exact_parts) == len(parts) else None
