"""Checks the certificate of a truncated model anew, from the file and without torch.

What is believed is the file's numbers, ball arithmetic (Arb) and, for rounding, the error models of
torch's functions. Everything that the certificate states is proved for the weights as stored, but
for what it calls information; the cell, the input bound and each ε are what it speaks of:

- box: the states of a cell that is not vanilla stay in the box that is stated;
- contraction: the cell contracts by the claimed λ < 1 in the certificate's norm, whoever found the
  weights of that norm: by row sums in rationals or balls, or by positive pivots of matrices;
- layers: of a stack, that each contracts, how large its inputs are and how far they move it; then
  its cascade: `impl.checker.cells.stacked`;
- drive: sup ‖φ(0, x)‖_* over ‖x‖₂ ≤ B, and x in the stated box if there is one, is at most the
  claimed S;
- equivalence: ‖h‖₂ ≤ C‖s‖_* for the output h of all states s; reach: ‖s‖_* ≤ c‖s‖₂;
- gain: C L/(1 − λ), where φ moves by at most L‖Δx‖₂ in ‖·‖_*, is at most the claimed one, in a
  norm of its own if one is stated, of which all of the above is proved as well; or ‖g_h‖₂ is, for
  stated g ≥ 0 such that a step moves by |Δφ_i| ≤ g_i for |Δs| ≤ g and ‖Δx‖₂ ≤ 1, as then |Δs| ≤ g
  at all times by induction;
- constants: S_0 and, of vanilla cells, each of L_ρ, M_ρ, ‖W‖₂, ‖U‖₂ and L_x is at least what its
  name means;
- radius: ‖s_t‖_* ≤ R for all t, by the box or the bound on ρ alone;
- readout: of a certificate about values C h, a bound on ‖C‖₂, by which gain and windows grow; C is
  in the file, or the source's;
- states: ‖h_t‖₂ ≤ B_h, by C S/(1 − λ), by C R or by the box;
- window: C λᵏ min(S/(1 − λ), R) ≤ ε for each pair (ε, k), or k steps and more leave as little by
  `impl.checker.cells.remaining`; of a k that is known of recorded inputs alone, that it is proved
  near them, and never of one that was only seen;
- rounding: of vanilla cells, the bound of `impl.checker.cells.rounding`;
- source, where the original model is given: its cell, its dtype, its weights and the readout are
  the file's.

A constant that is null is one of which nothing is claimed. Sources: Miller & Hardt, Lemma 1;
Johansson, Arb; Sylvester's law of inertia for the pivots; Higham for the rounding.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from flint import arb, ctx

from rnnbounds import disk
from rnnbounds.impl.checker.cells.claimed import biases, bounded, cell_of, norm_of, proofs
from rnnbounds.impl.checker.cells.layouts import STACKED, LayoutError, known
from rnnbounds.impl.checker.cells.norms import Cell, Norm
from rnnbounds.impl.checker.cells.remaining import left, steps_by_factor
from rnnbounds.impl.checker.cells.rounding import BEYOND, Format, rounding_bound
from rnnbounds.impl.checker.cells.stacked import Stack, stack_of
from rnnbounds.impl.checker.cells.units import InputRanges
from rnnbounds.impl.checker.definite import exact, norm, norm_at_most
from rnnbounds.impl.checker.machine import require_floats
from rnnbounds.impl.checker.unitary import Finding, Source
from rnnbounds.impl.checker.unitary_bounds import DTYPES
from rnnbounds.impl.checker.weights import (
    Readout,
    readout_norm,
    readout_of,
    sizes,
    unchecked,
    weights_of,
)
from rnnbounds.impl.errors import FileError, at_least, exactly, shown
from rnnbounds.impl.format.fields import RecordError, converted
from rnnbounds.impl.format.on_data import AnyRecord, Near, Seen, record_type
from rnnbounds.impl.format.record import Record
from rnnbounds.impl.format.sealed import no_certificate, no_truncated, read_truncated
from rnnbounds.impl.format.tensors import MOST, Array, digest, encoded, strict

Checked: TypeAlias = tuple[dict[str, Any], tuple[Finding, ...]]  # the record, and what was found
_PRECISION = 512  # so that what is equal in floats is equal in balls
PROVED = (
    "schema", "cell", "shape", "dtype", "sha256", "norm", "lambda", "verdict", "input_bound",
    "inputs", "constants", "truncation", "weights", "box", "layers", "rounding", "other_norms",
    "unit_gains", "readout",
)  # fmt: skip
INFORMATION = ("model", "tensors", "ignored", "unread")
_FINITE = ("L_rho", "B_x", "drive", "equivalence")


@dataclass(frozen=True, eq=False)
class Claim:
    """A record and the weights by role, in float64, of which it is to hold; scale: at least
    ‖C‖₂ of the readout that windows and gain are about."""

    weights: Mapping[str, Array]
    record: Record
    scale: float = 1.0


def check_truncated(
    path: Path, source: Source | None = None, readout: Readout | None = None,
    near: Callable[[], bool] | None = None,
) -> Checked:  # fmt: skip
    """The certificate of the file and what was found; it stands if every finding holds. The readout
    is the source's. near: proves again a k near recorded inputs, which are not in the file.

    Raises FileError for a file that is not intact or states what its format does not know,
    InputError for cells of which the checker knows nothing, MachineError.
    """
    require_floats()
    file = read_truncated(path)
    weights, own = weights_of(path, file), readout_of(file)
    record, found = file.record, []
    if not isinstance(record, Record):
        found.append(_on_data(path, record, near))
    else:
        claim = Claim(weights, record)
        try:
            if record.readout is not None:
                scale, bound = readout_norm(record.readout, own)
                claim, found = replace(claim, scale=scale), [bound]
            found += proved(claim)
        except RecordError:
            raise no_truncated(path, "holds no readable certificate") from None
    if source is not None:
        same = source.equals(file.record.cell, file.record.dtype, weights)
        parts = "its dtype and its weights"
        if own is not None:
            same = same and readout is not None and own.equals(readout)
            parts = "its dtype, its weights and the readout"
        detail = f"the cell, {parts} are the source's, to the last bit"
        found.append(Finding("source", same, detail))
    if isinstance(record, Record):
        return printed(file.certificate, record), tuple(found)
    information = {name: file.certificate[name] for name in INFORMATION}
    said = {name: part for name, part in file.certificate.items() if name not in INFORMATION}
    return said | {"information": information}, tuple(found)


def _on_data(path: Path, record: Near | Seen, near: Callable[[], bool] | None) -> Finding:
    """A k of recorded inputs: proved again by the program that it is from, not by one of its own.
    Raises FileError where these are needed."""
    detail = f"ε = {exactly(record.eps)} for k = {record.k}, {record.basis}"
    if isinstance(record, Seen):
        return Finding("window", False, detail)
    if near is None:
        reason = "is about recorded inputs, which are not in it"
        raise FileError(path, reason, f"name them, {shown(record.data.source)}, with --data")
    return Finding("window", near(), f"{detail}, again by the program that wrote it")


def check_certificate(path: Path, source: Source, readout: Readout | None = None) -> Checked:
    """The certificate that 'certify' wrote of a model, as `printed`, and what was found of it for
    these weights and this readout.

    Raises FileError for what is no certificate of this model, or one that certifies nothing that is
    proved here.
    """
    require_floats()
    try:
        document = strict(disk.read(path, MOST).decode())
        said: AnyRecord = converted(document, record_type(document))
    except (OSError, ValueError, RecursionError):
        raise no_certificate(path, "holds no certificate that can be checked") from None
    if not isinstance(said, Record):
        reason = f"certifies nothing: its k is {said.basis}"
        raise FileError(path, reason, "check the .safetensors that it was written beside")
    if said.verdict != "certified":
        reason = f"is of a model that is {said.verdict}: there is no window to check"
        raise FileError(path, reason, "check the certificate of a certified model")
    if said.inputs is not None and said.inputs.set == "rows":
        reason = "is about the rows of a table, which are not in it"
        remedy = (
            "certify their box with --inputs=LOW:HIGH, or check what 'rnnbounds truncate' wrote"
        )
        raise FileError(path, reason, remedy)
    if not known(said.cell):
        raise unchecked(path, said.cell)
    try:
        if not _about(said, source):
            raise no_certificate(path, "is the certificate of another model")
        claim, found = Claim(source.weights, said), []
        if said.readout is not None:
            scale, bound = readout_norm(said.readout, readout)
            claim, found = replace(claim, scale=scale), [bound]
        found += proved(claim)
    except (RecordError, LayoutError):
        raise no_certificate(path, "holds no certificate that can be checked") from None
    return printed(document, said), tuple(found)


def printed(document: Mapping[str, Any], record: Record) -> dict[str, Any]:
    """A certificate with what is not proved of it apart, as information: where the weights are
    from, the inputs in words, the rounding of other than vanilla cells, and, as `further`, the
    names of all else."""
    said = {name: document[name] for name in PROVED if name in document}
    constants, rounding, inputs = (said[name] for name in ("constants", "rounding", "inputs"))
    names, state = record.proved_constants, rounding["state"]
    said["constants"] = {name: constants[name] for name in names}
    said["rounding"] = {"dtype": rounding["dtype"], "state": state if record.is_vanilla else None}
    information = {name: document[name] for name in INFORMATION}
    if inputs is not None:
        said["inputs"] = {
            name: part for name, part in inputs.items() if name not in ("what", "rows")
        }
        information["inputs"] = inputs["what"]
    if not record.is_vanilla:
        information["rounding"] = state
    further = [name for name in document if name not in {*PROVED, *INFORMATION}]
    further += [f"constants.{name}" for name in constants if name not in names]
    return said | {"information": information | {"further": further}}


def _about(said: Record, source: Source) -> bool:
    """True if cell, dtype, sizes and weight digest of the record are the source's; raises
    LayoutError for weights that do not fit the cell."""
    if (said.cell, said.dtype) != (source.cell, source.dtype):
        return False
    parts = {role: encoded(w, said.dtype) for role, w in source.weights.items()}
    exact = {role: part for role, part in parts.items() if part is not None}
    _, n, d = sizes(said.cell, {role: w.shape for role, w in source.weights.items()})
    return (
        len(exact) == len(parts)
        and digest(said.cell, exact) == said.digest
        and (said.shape.n, said.shape.d) == (n, d)
    )


def proved(file: Claim) -> list[Finding]:
    """Prove each statement of a record; raises RecordError for a record that makes none."""
    told = file.record
    with ctx.workprec(_PRECISION):
        found, cell, norm = system(file)
        if not all(finding.holds for finding in found):
            return found
        found += [Finding(*proof) for proof in proofs(told.stated, norm, cell)]
        found += _constants(told, cell) + _of_states(file, cell, norm)
        for constant in told.other_norms or ():
            found += _in_another_norm(file, constant)
            if not all(finding.holds for finding in found):
                return found
        return found + _gain(file, cell, norm) + _rounding(file, cell)


def _in_another_norm(file: Claim, constant: str) -> list[Finding]:
    """Prove the norm in which that constant is stated, and the bounds on states in it."""
    other = file.record.of(constant)
    found, cell, norm = system(replace(file, record=other))
    if all(finding.holds for finding in found):
        found += [Finding(*proof) for proof in proofs(other.stated, norm, cell)]
    states = _held(other, cell)
    return [replace(one, name=f"{constant}: {one.name}") for one in [*found, *states]]


def system(file: Claim) -> tuple[list[Finding], Any, Norm]:
    """The cell with the norm that is stated, and what is proved of its box and its layers."""
    told, B = file.record, arb(file.record.input_bound)
    if not told.constants.keys() >= set(told.proved_constants):
        raise RecordError("other constants than those of such a cell")
    if not told.truncation:
        raise RecordError("no window")
    if told.inputs is not None and told.inputs.set != "box":
        raise RecordError("the rows of a table, which are not in the file")
    if any(told.constants.get(name) == math.inf for name in _FINITE):
        raise RecordError("a window without its constants")
    inputs = InputRanges.of(told.inputs)
    if told.cell.startswith(STACKED):
        return stack_of(told, file.weights, B, inputs)
    if told.layers is not None:
        raise RecordError("layers of no stack")
    cell = cell_of(told.cell, dict(file.weights), B, inputs, told.box)
    norm = norm_of(told.stated, cell)
    if isinstance(cell, Cell):
        return [], cell, norm
    return [Finding("box", cell.held(), "states stay in the box that is stated")], cell, norm


def _constants(told: Record, cell: Any) -> list[Finding]:
    """Prove the stated constants of the cell and of Euclidean norms, by name."""
    proofs: dict[str, Callable[[float], bool]] = {
        "B_x": lambda v: v == told.input_bound,
        "S_0": lambda v: bool(cell.start <= arb(v)),
    }
    if isinstance(cell, Cell):
        steep = [[cell.slope * v for v in row] for row in cell.U]
        proofs |= {
            "L_rho": lambda v: bool(cell.rho.slope <= arb(v)),
            "M_rho": lambda v: bool(cell.rho.bound <= arb(v)),
            "W_norm": lambda v: norm_at_most(cell.W, v),
            "U_norm": lambda v: norm_at_most(cell.U, v),
            "L_x": lambda v: norm_at_most(steep, v),
        }
    found = []
    for name, proof in proofs.items():
        value = told.constants[name]
        if value < math.inf:
            most = at_least(value, 9)
            detail = f"B_x = {exactly(value)}" if name == "B_x" else f"{name} ≤ {most}"
            found.append(Finding(name, proof(value), detail))
    return found


def _gain(file: Claim, cell: Any, norm: Norm) -> list[Finding]:
    """‖g_h‖₂ of the units, or C L/(1 − λ) in the norm in which the gain is stated, if there is
    one."""
    told, most = file.record.of("gain"), file.record.constants["gain"]
    if most == math.inf:
        if told.unit_gains is not None:
            raise RecordError("gains of units of which no gain follows")
        return []
    if told.unit_gains is not None:
        size = arb(file.scale) * _output_gain([arb(g) for g in told.unit_gains], cell)
        holds = bool(size <= arb(most))
    else:
        if told is not file.record:
            _, cell, norm = system(replace(file, record=told))
        size = arb(file.scale) * arb(told.constants["equivalence"]) * norm.moved(cell)
        holds = told.lam < 1 and bool(size <= arb(most) * (1 - arb(told.lam)))
    detail = f"inputs δ apart drive outputs at most {at_least(most, 9)} δ apart"
    return [Finding("gain", holds, detail)]


def _output_gain(g: list[arb], cell: Any) -> arb:
    """‖g_h‖₂ if a step moves each unit i by at most g_i where states do and inputs by 1, layer by
    layer; infinite if that is not proved. Raises RecordError for gains of other units."""
    layers = cell.cells if isinstance(cell, Stack) else [cell]
    below: list[arb] = []
    if len(g) != sum(len(layer.box) for layer in layers):
        raise RecordError("gains of other units than those of the state")
    for l, layer in enumerate(layers):
        own, g = g[: len(layer.box)], g[len(layer.box) :]
        moved = layer.moves(own, below if l else None)
        if not l:
            moved = [a + b for a, b in zip(moved, layer.fed(), strict=True)]
        if not all(bool(a <= b) for a, b in zip(moved, own, strict=True)):
            return arb("inf")
        below = own[-layer.n :]
    return norm(below)


def _held(told: Record, cell: Any) -> list[Finding]:
    """The bound on ‖h_t‖₂, if there is one."""
    states = told.constants["B_h"]
    if states == math.inf:
        return []
    held = bounded(told.stated, cell, states) or (isinstance(cell, Stack) and cell.below(states))
    return [Finding("states", held, f"‖h‖₂ ≤ {at_least(states, 9)}")]


def _of_states(file: Claim, cell: Any, norm: Norm) -> list[Finding]:
    """Prove the bounds on states and on truncation windows."""
    told = file.record
    if not told.lam < 1:
        return [Finding("states", False, "λ is not below 1")]
    lam, (C, S, R) = arb(told.lam), (told.constants[n] for n in ("equivalence", "drive", "radius"))

    def within(size: arb, most: float) -> bool:
        """True if c C min(S/(1 − λ), R) size ≤ most, where c bounds the readout."""
        size *= arb(file.scale) * arb(C)
        by_drive = arb(S) * size <= arb(most) * (1 - lam)
        return bool(by_drive or (not math.isinf(R) and arb(R) * size <= most))

    found = _held(told, cell)
    for one in told.truncation:
        if (k := one.k) is None:
            raise RecordError("a window that is not known")
        most, holds = arb(one.eps) / arb(file.scale), within(lam**k, one.eps)
        enough = steps_by_factor(told.stated, float(most), k)
        if not holds and within(lam**enough, one.eps):
            holds = bool(left(told.stated, norm, cell, range(k, enough)) <= most)
        found.append(Finding("window", holds, f"ε = {exactly(one.eps)} for k = {k}"))
    return found


def _rounding(file: Claim, cell: Any) -> list[Finding]:
    """The bound on rounding, if there is one; it takes B_h, C, c and λ as the file states them."""
    told = file.record.of("rounding")
    if told.rounding.state == math.inf or not isinstance(cell, Cell):
        return []
    states, C, c = (told.constants[name] for name in ("B_h", "equivalence", "reach"))
    bounds = max(states, c) < math.inf and told.lam < 1
    if not bounds or (told.cell, told.dtype) in BEYOND:
        return [Finding("rounding", False, "nothing bounds it")]
    sides = [(arb(abs(exact(i))), arb(abs(exact(h)))) for i, h in biases(dict(file.weights))]
    factor = arb(C) * arb(c) / (1 - arb(told.lam))
    bound = rounding_bound(cell, sides, states, factor, Format(*DTYPES[told.dtype]))
    holds = bound is not None and bool(bound <= arb(told.rounding.state))
    detail = f"{told.dtype} moves a state by at most {at_least(told.rounding.state, 3)}"
    return [Finding("rounding", holds, detail)]
