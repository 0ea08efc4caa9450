"""The readout f of a certificate about outputs f(h), whose windows and gain are those of h times a
Lipschitz constant L of f: that f is the model's, and that the L that is stated is one.

L is the product of a bound for each stage: ‖C‖₂ of a linear layer, proved by pivots or exactly,
sup |ρ′| of an activation, in balls, and max|γ_i|/√e of a normalisation, whose Jacobian before γ is
symmetric between 0 and I/√e. Biases belong to f, but move no distance by more than that. Or L is by
averaged operators between linear maps M_l: a ρ_l with slopes in [a, b], which is proved, moves
differences by m_l + d_l E d_l with ‖E‖₂ ≤ 1, m_l = (a + b)/2 and d_l = √((b − a)/2), and so

    L_g,   L_j = Σ_{i ≤ j} L_{i−1} ‖d_{j+1} M_j m_j M_{j−1} ⋯ m_{i+1} M_i d_i‖₂,   L_{−1} = 1,

where d_0 = d_{g+1} = I and each norm is proved by pivots. `reached`: that of all ‖h‖₂ ≤ B, for
windows from the zero state. Source: Combettes & Pesquet (2020).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from flint import arb, arb_mat, ctx
from msgspec import UNSET

from rnnbounds import disk
from rnnbounds.impl.checker.definite import Rows, below, diagonal, exact, norm_at_most
from rnnbounds.impl.checker.readout_slopes import activation_of, normalisation_of, slopes_within
from rnnbounds.impl.checker.unitary import Finding
from rnnbounds.impl.errors import at_least, shown
from rnnbounds.impl.format.fields import RecordError
from rnnbounds.impl.format.readout import Averaged, BoundedChain, bounded_readout, stage_names
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


def readout_norm(
    told: Any, read: Readout | None, states: float = math.inf
) -> tuple[tuple[float, float], tuple[Finding, ...]]:
    """The L that is stated, that of all ‖h‖₂ ≤ `states`, and whether they are proved of this
    readout; raises RecordError for a statement of another kind, or of another readout."""
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
    scale = stated.norm
    if isinstance(stated, BoundedChain):
        found += [_whole(read, stated)]
        if stated.reached is not UNSET:
            scale, near = min(scale, stated.reached.norm), stated.reached
            holds = near.radius >= states and _averaged(read, near, near.radius)
            detail = f"L ≤ {at_least(near.norm, 9)} on ‖h‖₂ ≤ {at_least(near.radius, 9)}"
            found.append(Finding("readout", holds, detail))
    return (stated.norm, scale), tuple(found)


def _whole(read: Readout, stated: BoundedChain) -> Finding:
    """Prove L of all h."""
    most = f"L ≤ {at_least(stated.norm, 9)}"
    if stated.averaged is UNSET:
        holds = prod(map(exact, stated.norms)) <= exact(stated.norm)
        return Finding("readout", holds, f"{most}, the product of these")
    holds = stated.averaged.norm <= stated.norm and _averaged(read, stated.averaged)
    return Finding("readout", holds, f"{most}, by averaged operators between linear maps")


def _stage(name: str, weight: Array | None, norm: float) -> Finding:
    """Prove the bound of one stage."""
    if (known := normalisation_of(name, weight)) is not None:
        size = 1 if weight is None else exact(float(abs(weight).max()))
        holds = size * size <= exact(norm) * exact(norm) * exact(known[1])
        return Finding("readout", holds, f"max|γ_i|/√e ≤ {at_least(norm, 9)} of {shown(name)}")
    if weight is None:
        with ctx.workprec(_PRECISION):
            holds = bool(activation_of(name).slope <= arb(norm))
        return Finding("readout", holds, f"sup |ρ′| ≤ {at_least(norm, 9)} of ρ = {shown(name)}")
    detail = f"‖C‖₂ ≤ {at_least(norm, 9)} of C = {shown(name)}"
    return Finding("readout", norm_at_most(_rational(weight), norm), detail)


def _averaged(read: Readout, stated: Averaged, radius: float = math.inf) -> bool:
    """True if the slopes on ‖h‖₂ ≤ radius lie in the ranges, each segment's norm is proved, and the
    L that follows is at most the one that is stated."""
    blocks: list[list[Array]] = [[]]
    for _, weight in read.stages:
        if weight is not None and weight.ndim == 2:
            blocks[-1].append(weight)
        else:
            blocks.append([] if weight is None else [weight])
    tensors = {name: part for name, (_, part) in read.tensors.items()}
    fits = len(stated.segments) == len(blocks)
    if not fits or not slopes_within(read.stages, tensors, stated.ranges, radius):
        return False
    with ctx.workprec(_PRECISION):
        means = [
            [(arb(a) + arb(b)) / 2 for a, b in zip(*one, strict=True)] for one in stated.ranges
        ]
        roots = [
            [((arb(b) - arb(a)) / 2).sqrt() for a, b in zip(*one, strict=True)]
            for one in stated.ranges
        ]
        found = [arb(1)]
        for j in range(len(blocks)):
            total = arb(0)
            for i in range(j + 1):
                factors: list[Any] = [roots[i - 1]] if i else []
                for l in range(i, j + 1):
                    factors += blocks[l] + ([means[l]] if l < j else [])
                factors += [roots[j]] if j < len(roots) else []
                if not _product_at_most(factors, stated.segments[i][j - i]):
                    return False
                total += found[i] * stated.segments[i][j - i]
            found.append(total)
        return bool(found[-1] <= arb(stated.norm))


def _product_at_most(factors: Sequence[Any], most: float) -> bool:
    """True if ‖F_j ⋯ F_1‖₂ ≤ `most` is proved of matrices, diagonals and single numbers."""
    scale, product = arb(1), None
    for factor in factors:
        rows = factor if isinstance(factor, list) else factor.tolist()
        if len(rows) == 1 and not isinstance(rows[0], list):
            scale *= abs(arb(rows[0]))
            continue
        matrix = arb_mat(rows) if isinstance(rows[0], list) else diagonal(rows)
        if product is not None and matrix.ncols() != product.nrows():
            return False  # slopes of another number of units
        product = matrix if product is None else matrix * product
    if product is None:
        return bool(scale <= arb(most))
    return bool(scale == 0) or below(product, arb(most) / scale)


def _rational(weight: Array) -> Rows:
    return [[exact(value) for value in row] for row in weight.tolist()]


def _outputs(read: Readout) -> int:
    return [len(weight) for _, weight in read.stages if weight is not None and weight.ndim == 2][-1]


def _digest(title: str, parts: Mapping[str, Part | None]) -> str | None:
    """The digest of the tensors; None if one is not what its dtype holds."""
    exact_parts = {name: part for name, part in parts.items() if part is not None}
    return digest(title, exact_parts) if len(exact_parts) == len(parts) else None
