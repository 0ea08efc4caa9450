"""Checks the certificate of a truncated vanilla model anew, from the file and without torch.

What is believed is the file's numbers and ball arithmetic (Arb). It proves, for the weights as
stored:

- contraction: the cell contracts by the claimed λ < 1 in the certificate's norm, whoever found the
  weights of that norm: by row sums in rationals, by positive pivots of s²I − AᵀA, or, for several
  steps, by the factors of `impl.iterated_balls`;
- drive: sup ‖φ(0, x)‖_* over ‖x‖₂ ≤ B is at most the claimed S;
- equivalence: ‖h‖₂ ≤ C‖h‖_* for all h;
- states: ‖h_t‖₂ ≤ B_h, by C S/(1 − λ) or by the bound on ρ;
- window: C S λᵏ/(1 − λ) ≤ ε for each pair (ε, k);
- source, where the original weights are given: they are the file's, to the last bit.

What the certificate says of rounding, of training and of other norms is not looked at. Sources:
Miller & Hardt, Lemma 1; Johansson, Arb; Sylvester's law of inertia for the pivots.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from flint import arb, ctx

from impl.ball_activations import BALL_ACTIVATIONS
from impl.definite import exact
from impl.machine import require_floats
from impl.recheck import Finding
from impl.recheck_norms import Cell, Greatest, Norm, Quadratic, Scaled, Total
from impl.truncated_file import Array, TruncatedFile, TruncatedFileError, number, read

_PRECISION = 512  # so that what is equal in floats is equal in balls
_STEPS = 64


@dataclass(frozen=True)
class _Claim:
    """What the certificate claims in numbers."""

    lam: float
    drive: float
    equivalence: float
    states: float
    windows: list[tuple[float, int]]


def check_truncated(
    path: Path, source: Mapping[str, Array] | None = None
) -> tuple[dict[str, Any], tuple[Finding, ...]]:
    """The certificate of the file and what was found; it stands if every finding holds.

    ``source``: the original weights by role, in float64. Raises TruncatedFileError for a file that
    is not intact, and for cells that are not vanilla.
    """
    require_floats()
    file = read(path)
    with ctx.workprec(_PRECISION):
        try:
            claim, norm, cell = _claim(file), _norm(file), _cell(file)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            raise TruncatedFileError(path, "holds no readable certificate") from None
        found = _in_norm(claim, norm, cell, str(file.certificate["norm"]))
        found += _of_states(claim, cell)
    if source is not None:
        same = source.keys() == file.weights.keys() and all(
            np.array_equal(source[role], part) for role, part in file.weights.items()
        )
        found.append(Finding("source", same, "the weights are the source's, to the last bit"))
    return file.certificate, tuple(found)


def _in_norm(claim: _Claim, norm: Norm, cell: Cell, name: str) -> list[Finding]:
    """What depends on the norm."""
    lam, C, S = claim.lam, claim.equivalence, claim.drive
    contracts = lam < 1 and norm.contracts(cell, lam)
    driven = contracts and norm.drive(cell, lam) <= arb(S)
    return [
        Finding("contraction", contracts, f"λ ≤ {lam:.9g} < 1 in the {name} norm"),
        Finding("drive", bool(driven), f"‖φ(0, x)‖ ≤ {S:.9g}"),
        Finding("equivalence", norm.equivalent(C), f"‖h‖₂ ≤ {C:.9g} ‖h‖"),
    ]


def _of_states(claim: _Claim, cell: Cell) -> list[Finding]:
    """What follows for states and windows."""
    if not claim.lam < 1:
        return [Finding("states", False, "λ is not below 1")]
    lam = arb(claim.lam)
    size = arb(claim.equivalence) * arb(claim.drive)
    root = arb(len(cell.W)).sqrt()
    bounded = size <= arb(claim.states) * (1 - lam) or cell.rho.bound * root <= claim.states
    found = [Finding("states", bool(bounded), f"‖h‖₂ ≤ {claim.states:.9g}")]
    for epsilon, k in claim.windows:
        holds = bool(size * lam**k <= arb(epsilon) * (1 - lam))
        found.append(Finding("window", holds, f"ε = {epsilon:g} for k = {k}"))
    return found


def _cell(file: TruncatedFile) -> Cell:
    """The cell in rationals; the biases are added without rounding."""
    rho, zero = BALL_ACTIVATIONS[file.cell], np.zeros(file.n)
    W, U = (
        [[exact(v) for v in row] for row in file.weights[role].tolist()]
        for role in ("weight_hh", "weight_ih")
    )
    biases = [file.weights.get(role, zero).tolist() for role in ("bias_ih", "bias_hh")]
    sums = [arb(exact(i) + exact(h)) for i, h in zip(*biases, strict=True)]
    B = arb(number(file.certificate["input_bound"]))
    return Cell(W, U, [abs(rho.function(b)) for b in sums], rho, B)


def _claim(file: TruncatedFile) -> _Claim:
    """The numbers; raises ValueError for those that make no sense."""
    told, named = file.certificate, file.certificate["constants"]
    windows = [(number(entry["eps"]), entry["k"]) for entry in told["truncation"]]
    if any(type(k) is not int or not 0 <= k < 10**9 for _, k in windows):
        raise ValueError
    S, C, B_h = (number(named[name]) for name in ("drive", "equivalence", "B_h"))
    return _Claim(number(told["lambda"]), S, C, B_h, windows)


def _norm(file: TruncatedFile) -> Norm:
    """The norm that a certificate names, with its weights; raises ValueError for what is none."""
    told, n = file.certificate, file.n
    name, weights = told["norm"], told["weights"]
    if name in ("spectral", "infinity", "one"):
        one = [exact(1.0)] * n
        plain: dict[str, Norm] = {"spectral": Scaled(one), "infinity": Greatest(one)}
        return plain.get(name, Total())
    if name == "quadratic":
        if len(weights) != n or any(len(row) != n for row in weights):
            raise ValueError
        return Quadratic([[exact(v) for v in row] for row in weights])
    v = [exact(number(a)) for a in weights]
    steps = told["constants"]["steps"] if name == "iterated" else 1
    if len(v) != n or not all(a > 0 for a in v) or type(steps) is not int or steps > _STEPS:
        raise ValueError
    if name not in ("perron", "diagonal", "diagonal-sdp", "iterated") or steps < 1:
        raise ValueError
    return Greatest(v) if name == "perron" else Scaled(v, steps)
