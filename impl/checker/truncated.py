"""Checks the certificate of a truncated vanilla model anew, from the file and without torch.

What is believed is the file's numbers, ball arithmetic (Arb) and, for rounding, the error models of
torch's functions. Everything that the certificate states is proved for the weights as stored, but
for what it calls information; the cell, the input bound and each ε are what it speaks of:

- contraction: the cell contracts by the claimed λ < 1 in the certificate's norm, whoever found the
  weights of that norm: by row sums in rationals, by positive pivots of s²I − AᵀA, or, for several
  steps, by the factors of `impl.checker.iterated_balls`;
- drive: sup ‖φ(0, x)‖_* over ‖x‖₂ ≤ B, and x in the stated box if there is one, is at most the
  claimed S;
- equivalence: ‖h‖₂ ≤ C‖h‖_* for all h; reach: ‖h‖_* ≤ c‖h‖₂;
- gain: C L/(1 − λ), where φ moves by at most L‖Δx‖₂ in ‖·‖_*, is at most the claimed one;
- constants: each of L_ρ, M_ρ, ‖W‖₂, ‖U‖₂, L_x and S_0 is at least what its name means;
- radius: ‖h_t‖_* ≤ R for all t, by the bound on ρ alone;
- states: ‖h_t‖₂ ≤ B_h, by C S/(1 − λ), by C R or by the bound on ρ;
- window: C λᵏ min(S/(1 − λ), R) ≤ ε for each pair (ε, k);
- rounding: the bound of `impl.checker.rounding_balls`;
- source, where the original model is given: its cell, its dtype and its weights are the file's.

A constant that is null is one of which nothing is claimed. Sources: Miller & Hardt, Lemma 1;
Johansson, Arb; Sylvester's law of inertia for the pivots; Higham for the rounding.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from flint import arb, ctx

from impl.checker.ball_activations import BALL_ACTIVATIONS
from impl.checker.definite import exact, norm_at_most
from impl.checker.machine import require_floats
from impl.checker.norms import Cell, Greatest, Norm, Quadratic, Scaled, Total, first_steps
from impl.checker.rounding_balls import BEYOND, Format, rounding_bound
from impl.checker.truncated_file import TruncatedFile, TruncatedFileError, read
from impl.checker.truncated_record import CONSTANTS, Record, RecordError, number, signed
from impl.checker.unitary import Finding, Source
from impl.checker.unitary_file import DTYPES
from impl.errors import exactly

_PRECISION = 512  # so that what is equal in floats is equal in balls
_STEPS = 64
_FINITE = ("L_rho", "B_x", "drive", "equivalence", "steps")


def check_truncated(
    path: Path, source: Source | None = None
) -> tuple[dict[str, Any], tuple[Finding, ...]]:
    """The certificate of the file and what was found; it stands if every finding holds.

    Raises TruncatedFileError for a file that is not intact or states what its format does not know,
    UncheckedCellError for cells that are not vanilla, MachineError.
    """
    require_floats()
    file = read(path)
    with ctx.workprec(_PRECISION):
        try:
            norm, cell = _norm(file), _cell(file)
        except RecordError:
            raise TruncatedFileError(path, "holds no readable certificate") from None
        found = _in_norm(file.record, norm, cell) + _constants(file.record, cell)
        found += _of_states(file.record, cell) + _rounding(file, cell)
    if source is not None:
        same = source.equals(file.record.cell, file.record.dtype, file.weights)
        detail = "the cell, its dtype and its weights are the source's, to the last bit"
        found.append(Finding("source", same, detail))
    return file.certificate, tuple(found)


def _in_norm(told: Record, norm: Norm, cell: Cell) -> list[Finding]:
    """What depends on the norm."""
    lam, (C, S) = told.lam, (told.constants[name] for name in ("equivalence", "drive"))
    contracts = lam < 1 and norm.contracts(cell, lam)
    driven = contracts and norm.drive(cell, lam) <= arb(S)
    found = [
        Finding("contraction", contracts, f"λ ≤ {lam:.9g} < 1 in the {told.norm} norm"),
        Finding("drive", bool(driven), f"‖φ(0, x)‖ ≤ {S:.9g}"),
        Finding("equivalence", norm.equivalent(C), f"‖h‖₂ ≤ {C:.9g} ‖h‖"),
    ]
    if (c := told.constants["reach"]) < math.inf:
        reached = contracts and norm.reached(cell, lam, c)
        found.append(Finding("reach", reached, f"‖h‖ ≤ {c:.9g} ‖h‖₂"))
    if (R := told.constants["radius"]) < math.inf:
        held = contracts and cell.rho.bound * norm.corner(cell, lam) <= R
        found.append(Finding("radius", bool(held), f"‖h‖ ≤ {R:.9g} at all times"))
    if (gain := told.constants["gain"]) < math.inf:
        detail = f"inputs δ apart drive outputs at most {gain:.9g} δ apart"
        found.append(Finding("gain", contracts and _gains(cell, norm, lam, C, gain), detail))
    return found


def _gains(cell: Cell, norm: Norm, lam: float, C: float, gain: float) -> bool:
    """Whether C L_*/(1 − λ) is at most the gain; L_* is the drive of ‖x‖₂ ≤ 1 without biases."""
    alone = replace(cell, offset=[arb(0)] * len(cell.W), B=arb(1), first=None)
    return bool(arb(C) * norm.drive(alone, lam) <= arb(gain) * (1 - arb(lam)))


def _constants(told: Record, cell: Cell) -> list[Finding]:
    """What is claimed of the activation and of the Euclidean norms, by name."""
    steep = [[cell.slope * v for v in row] for row in cell.U]
    plain = Scaled([exact(1.0)] * len(cell.W))
    proofs: dict[str, Callable[[float], bool]] = {
        "L_rho": lambda v: bool(cell.rho.slope <= arb(v)),
        "M_rho": lambda v: bool(cell.rho.bound <= arb(v)),
        "W_norm": lambda v: norm_at_most(cell.W, v),
        "U_norm": lambda v: norm_at_most(cell.U, v),
        "L_x": lambda v: norm_at_most(steep, v),
        "B_x": lambda v: v == told.input_bound,
        "S_0": lambda v: bool(plain.drive(cell, told.lam) <= arb(v)),
    }
    known = ((name, told.constants[name]) for name in proofs)
    return [
        Finding(name, proofs[name](value), f"{name} = {value:.9g}")
        for name, value in known
        if value < math.inf
    ]


def _of_states(told: Record, cell: Cell) -> list[Finding]:
    """What follows for states and windows."""
    if not told.lam < 1:
        return [Finding("states", False, "λ is not below 1")]
    lam, (C, S, R) = arb(told.lam), (told.constants[n] for n in ("equivalence", "drive", "radius"))

    def within(size: arb | int, most: float) -> bool:
        """Whether C min(S/(1 − λ), R) size ≤ most."""
        by_drive = arb(C) * arb(S) * size <= arb(most) * (1 - lam)
        return bool(by_drive or (not math.isinf(R) and arb(C) * arb(R) * size <= most))

    found = []
    if (states := told.constants["B_h"]) < math.inf:
        root = arb(len(cell.W)).sqrt()
        bounded = within(1, states) or cell.rho.bound * root <= states
        found.append(Finding("states", bool(bounded), f"‖h‖₂ ≤ {states:.9g}"))
    for epsilon, k in told.windows:
        found.append(
            Finding("window", within(lam**k, epsilon), f"ε = {exactly(epsilon)} for k = {k}")
        )
    return found


def _rounding(file: TruncatedFile, cell: Cell) -> list[Finding]:
    """The bound on rounding, if there is one; it takes B_h, C, c and λ as the file states them."""
    told = file.record
    if told.rounding == math.inf:
        return []
    states, C, c = (told.constants[name] for name in ("B_h", "equivalence", "reach"))
    known = max(states, c) < math.inf and told.lam < 1
    if not known or (told.cell, told.dtype) in BEYOND:
        return [Finding("rounding", False, "nothing bounds it")]
    biases = [arb(abs(exact(i)) + abs(exact(h))) for i, h in _biases(file)]
    factor = arb(C) * arb(c) / (1 - arb(told.lam))
    bound = rounding_bound(cell, biases, states, factor, Format(*DTYPES[told.dtype]))
    holds = bound is not None and bool(bound <= arb(told.rounding))
    detail = f"{told.dtype} moves a state by at most {told.rounding:.3g}"
    return [Finding("rounding", holds, detail)]


def _cell(file: TruncatedFile) -> Cell:
    """The cell in rationals; the biases are added without rounding."""
    rho = BALL_ACTIVATIONS[file.record.cell]
    W, U = (
        [[exact(v) for v in row] for row in file.weights[role].tolist()]
        for role in ("weight_hh", "weight_ih")
    )
    sums, B = [arb(exact(i) + exact(h)) for i, h in _biases(file)], arb(file.record.input_bound)
    cell = Cell(W, U, [abs(rho.function(b)) for b in sums], rho, B)
    ends = file.record.inputs
    return cell if ends is None else replace(cell, first=first_steps(cell, sums, ends))


def _biases(file: TruncatedFile) -> list[tuple[float, float]]:
    both = (file.weights.get(role, np.zeros(file.n)).tolist() for role in ("bias_ih", "bias_hh"))
    return list(zip(*both, strict=True))


def _norm(file: TruncatedFile) -> Norm:
    """The norm that a certificate names, with its weights; raises RecordError for what is none."""
    told, n = file.record, file.n
    if told.constants.keys() != set(CONSTANTS):
        raise RecordError("other constants than those of a vanilla cell")
    if any(told.constants[name] == math.inf for name in _FINITE):
        raise RecordError("a window without its constants")
    steps = told.constants["steps"]
    if steps not in range(1, _STEPS + 1 if told.norm == "iterated" else 2):
        raise RecordError("no number of steps")
    name, weights = told.norm, told.weights
    if name in ("spectral", "infinity", "one"):
        if weights is not None:
            raise RecordError("weights of a norm that has none")
        one = [exact(1.0)] * n
        plain: dict[str, Norm] = {"spectral": Scaled(one), "infinity": Greatest(one)}
        return plain.get(name, Total())
    if weights is None or len(weights) != n:
        raise RecordError("no weights of a norm")
    if name == "quadratic":
        if any(type(row) is not list or len(row) != n for row in weights):
            raise RecordError("no square matrix")
        return Quadratic([[exact(signed(v)) for v in row] for row in weights])
    v = [exact(number(a)) for a in weights]
    if name not in ("perron", "diagonal", "diagonal-sdp", "iterated") or not all(a > 0 for a in v):
        raise RecordError("no such norm")
    return Greatest(v) if name == "perron" else Scaled(v, int(steps))
