"""Checks the certificate of a unitary network anew, from the file alone and without torch.

What is believed is the file's numbers and ball arithmetic (Arb). With n the original states and
V = ( W W₂ ; W₃ W₄ ) it proves:

- shape: the further units get no input, their second bias is 0, and there are n of them;
- defect: ‖VᵀV − I‖_F is at most what is claimed;
- norms: ‖W‖₂ ≤ the claimed λ < 1 and ‖U‖₂ ≤ the claimed one, by positive pivots of s²I − WᵀW;
- states: B_h ≥ max(‖h_{−1}‖, (‖U‖₂B + ‖ReLU(b)‖)/(1 − λ)), and the same for computed states;
- killed: ‖row of W₃‖B_h ≤ −b₂ for every further unit, in exact and in rounded arithmetic, whence
  they stay 0 and the outputs are the same;
- difference: the claimed bounds on what rounding adds;
- weights: W, U and the biases are, in the claimed dtype, those of the claimed digest;
- source, where the original model is given: its cell, its dtype and these weights are its own.

The input bound and the initial state are what the certificate speaks of; what it calls information
is not looked at.

Sources: Emami et al., Theorem 3.1; Johansson, Arb; Sylvester's law of inertia for the pivots.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx

from rnnbounds.impl.checker.definite import exact, exact_rows, float_above, norm, norm_at_most
from rnnbounds.impl.checker.machine import require_floats
from rnnbounds.impl.checker.unitary_bounds import (
    DTYPES,
    PRECISION,
    Machine,
    System,
    computed_bound,
    drift,
    state_bound,
    stays_off,
)
from rnnbounds.impl.errors import at_least, factor
from rnnbounds.impl.format.tensors import Array, digest, encoded
from rnnbounds.impl.format.unitary import BIASES, CELL, UnitaryFile, read_unitary


@dataclass(frozen=True)
class Finding:
    """One thing that was checked: its name, whether it is proved, and what was found."""

    name: str
    holds: bool
    detail: str


@dataclass(frozen=True, eq=False)
class Source:
    """An original model: its cell, its dtype and its weights by role, in float64."""

    cell: str
    dtype: str
    weights: Mapping[str, Array]

    def equals(self, cell: str, dtype: str, weights: Mapping[str, Array]) -> bool:
        """True if these equal the source's, bit for bit; a missing weight differs from zeros."""
        return (
            (self.cell, self.dtype) == (cell, dtype)
            and self.weights.keys() == weights.keys()
            and all(_alike(self.weights[role], part) for role, part in weights.items())
        )


def check(path: Path, source: Source | None = None) -> tuple[dict[str, Any], tuple[Finding, ...]]:
    """The certificate of the file and what was found; it stands if every finding holds.

    ``source``: the original weights (`weight_hh` (n, n), `weight_ih` (n, d), and biases where there
    are any) in float64. Raises FileError for a file that is not intact.
    """
    require_floats()
    file = read_unitary(path)
    with ctx.workprec(PRECISION):
        held = _held(file)
        found = [_shape(file), _defect(file), _weights(file, held)]
        found += _norms(file, held) + _states(file, held)
        if source is not None:
            found.append(_source(file, held, source))
    return file.certificate, tuple(found)


def _shape(file: UnitaryFile) -> Finding:
    further = slice(file.n, None)
    quiet = not file.weights["weight_ih_l0"][further].any()
    quiet = quiet and not file.weights["bias_hh_l0"][further].any()
    detail = f"{file.states} states for {file.n}, the further ones without input"
    return Finding("shape", bool(quiet) and file.states == 2 * file.n, detail)


def _defect(file: UnitaryFile) -> Finding:
    V = arb_mat(file.weights["weight_hh_l0"].tolist())
    gram = V.transpose() * V
    m = file.states
    parts = (gram[i, j] - int(i == j) for i in range(m) for j in range(m))
    size = norm(list(parts))
    bound = file.record.orthogonality_defect
    seen, most = (at_least(v, 3) for v in (float_above(size), bound))
    return Finding("defect", size <= arb(bound), f"‖VᵀV − I‖_F ≤ {seen}, stated ≤ {most}")


def _norms(file: UnitaryFile, held: Mapping[str, Array]) -> list[Finding]:
    lam, U_norm = file.record.constants.W_norm, file.record.constants.U_norm
    most = factor(lam)
    W, U = exact_rows(held["weight_hh"]), exact_rows(held["weight_ih"])
    return [
        Finding("contraction", lam < 1 and norm_at_most(W, lam), f"‖W‖₂ ≤ {most} < 1"),
        Finding("input norm", norm_at_most(U, U_norm), f"‖U‖₂ ≤ {at_least(U_norm, 9)}"),
    ]


def _states(file: UnitaryFile, held: Mapping[str, Array]) -> list[Finding]:
    claimed, n = file.record, file.n
    system = _system(file, held)
    states, computed = claimed.constants.B_h, claimed.constants.B_h_computed
    own = DTYPES[claimed.dtype]
    terms = file.states + file.d + 3
    float64 = Machine(terms, n, largest=2.0**1000)
    machines = (float64, Machine(terms, n, *own))
    found = [
        Finding("states", arb(states) >= state_bound(system), f"‖h‖ ≤ {at_least(states, 9)}"),
        Finding("killed", _killed(file, arb(states), None), "W₃h + b₂ ≤ 0 in exact arithmetic"),
    ]
    if computed is not None:
        bound, detail = arb(computed), f"≤ {at_least(computed, 9)} in float64"
        found += [
            Finding("computed states", bound >= computed_bound(system, float64), detail),
            Finding("killed in float64", _killed(file, bound, float64), "fl(W₃h + b₂) ≤ 0"),
        ]
    drifts = [drift(system, machine, computed_bound(system, machine)) for machine in machines]
    for name, limit, total in (
        ("float64", claimed.difference.float64, 2 * drifts[0]),
        ("own_dtype", claimed.difference.own_dtype, drifts[0] + drifts[1]),
    ):
        if limit is not None:
            holds = computed is not None and bool(arb(limit) >= total)
            detail = f"≤ {at_least(limit, 3)} after rounding"
            found.append(Finding(f"difference ({name})", holds, detail))
    return found


def _system(file: UnitaryFile, held: Mapping[str, Array]) -> System:
    constants, B = file.record.constants, arb(file.record.input_bound)
    pairs = [
        (exact(i), exact(h)) for i, h in zip(*(held[role].tolist() for role in BIASES), strict=True)
    ]
    offset = norm([arb(i + h) for i, h in pairs if i + h > 0])
    return System(
        lam=arb(constants.W_norm),
        drive=arb(constants.U_norm) * B + offset,
        weight=norm(list(map(arb, held["weight_hh"].ravel().tolist()))),
        inputs=norm(list(map(arb, held["weight_ih"].ravel().tolist()))) * B,
        bias=norm([arb(abs(i) + abs(h)) for i, h in pairs]),
        initial=norm(list(map(arb, file.record.initial_state))),
    )


def _killed(file: UnitaryFile, states: arb, machine: Machine | None) -> bool:
    """True if every further unit is proved to stay at 0 while the states are within their bound."""
    n = file.n
    rows = file.weights["weight_hh_l0"][n:, :n].tolist()
    for row, bias in zip(rows, file.weights["bias_ih_l0"][n:].tolist(), strict=True):
        size = norm(list(map(arb, row)))
        off = size.is_zero() or states.is_zero() if bias == 0 else False
        if not (off or stays_off(size, states, arb(bias), machine)):
            return False
    return True


def _held(file: UnitaryFile) -> Mapping[str, Array]:
    """The original weights by role."""
    n = file.n
    sides = {role: file.weights[f"{role}_l0"][:n] for role in ("weight_ih", *BIASES)}
    return {"weight_hh": file.weights["weight_hh_l0"][:n, :n], **sides}


def _weights(file: UnitaryFile, held: Mapping[str, Array]) -> Finding:
    """The digest is that of the weights in the dtype; a bias of zeros may be one that is not there,
    which is all the same."""
    dtype, claimed = file.record.dtype, file.record.digest
    parts = {role: encoded(part, dtype) for role, part in held.items()}
    known = {role: part for role, part in parts.items() if part is not None}
    absent = [role for role in BIASES if not held[role].any()]
    choices = [{}, *({role: None} for role in absent), dict.fromkeys(absent)]
    same = len(known) == len(parts) > 0 and any(
        digest(CELL, {role: part for role, part in known.items() if role not in choice}) == claimed
        for choice in choices
    )
    detail = f"the first units are the network of the digest, in {dtype}"
    return Finding("weights", same, detail)


def _source(file: UnitaryFile, held: Mapping[str, Array], source: Source) -> Finding:
    zeros = {role: np.zeros(file.n) for role in BIASES}
    given = Source(source.cell, source.dtype, zeros | dict(source.weights))
    same = given.equals(CELL, file.record.dtype, held)
    return Finding("source", same, "the first units are the source's, to the last bit")


def _alike(A: Array, B: Array) -> bool:
    """True if shapes and bits are equal; −0 differs from 0."""
    return A.shape == B.shape and A.tobytes() == B.tobytes()
