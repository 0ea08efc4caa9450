"""The readout f of a certificate about outputs f(h), whose windows and gain are those of h times a
Lipschitz constant L of f: that f is the model's, and that the L that is stated is one.

L is the product of a bound for each stage: ‖C‖₂ of a linear layer, proved by pivots or exactly, and
sup |ρ′| of an activation, in balls. Biases belong to f, but move no distance by more than that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from flint import arb, ctx

from rnnbounds import disk
from rnnbounds.impl.checker.cells.activations import BALL_ACTIVATIONS
from rnnbounds.impl.checker.definite import exact, norm_at_most
from rnnbounds.impl.checker.unitary import Finding
from rnnbounds.impl.errors import at_least, shown
from rnnbounds.impl.format.fields import RecordError
from rnnbounds.impl.format.readout import BoundedChain, bounded_readout, stage_names
from rnnbounds.impl.format.tensors import MOST, Array, Part, digest, encoded
from rnnbounds.impl.format.text import strict

_PRECISION = 256


@dataclass(frozen=True, eq=False)
class Readout:
    """A readout as it was read: `stages` by name, each the numbers of its weight (p, q) in float64,
    or None for an activation; `tensors` has the dtype and the numbers of all that its digest is of,
    weights and biases, by full name."""

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
    chain = isinstance(stated, BoundedChain)
    title = f"readout {','.join(names)}" if chain else "readout"
    same = names == [*stage_names(told)] and stated.outputs == _outputs(read)
    if not same or _digest(title, parts) != stated.sha256:
        raise RecordError("another readout")
    found = [
        _stage(name, weight, norm)
        for (name, weight), norm in zip(read.stages, stated.norms, strict=True)
    ]
    if chain:
        holds = prod(map(exact, stated.norms)) <= exact(stated.norm)
        detail = f"L ≤ {at_least(stated.norm, 9)}, the product of these"
        found.append(Finding("readout", holds, detail))
    return stated.norm, tuple(found)


def _stage(name: str, weight: Array | None, norm: float) -> Finding:
    """Prove the bound of one stage."""
    if weight is None:
        with ctx.workprec(_PRECISION):
            slope = BALL_ACTIVATIONS["linear" if name == "identity" else f"rnn-{name}"].slope
            holds = bool(slope <= arb(norm))
        return Finding("readout", holds, f"sup |ρ′| ≤ {at_least(norm, 9)} of ρ = {shown(name)}")
    rows = [[exact(value) for value in row] for row in weight.tolist()]
    detail = f"‖C‖₂ ≤ {at_least(norm, 9)} of C = {shown(name)}"
    return Finding("readout", norm_at_most(rows, norm), detail)


def _outputs(read: Readout) -> int:
    return [len(weight) for _, weight in read.stages if weight is not None][-1]


def _digest(title: str, parts: Mapping[str, Part | None]) -> str | None:
    """The digest of the tensors; None if one is not what its dtype holds."""
    exact_parts = {name: part for name, part in parts.items() if part is not None}
    return digest(title, exact_parts) if len(exact_parts) == len(parts) else None
