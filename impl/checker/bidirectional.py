"""Checks the certificate of a model in both directions anew, from the file and without torch.

- every cell: all that `impl.checker.truncated` proves of a cell by itself;
- inputs: those that the record of a cell of a higher layer is about hold all outputs (h→, h←) of
  the layer below, ‖y‖₂ ≤ √(B→² + B←²) and side by side;
- gain: Π √(G→² + G←²) over the layers is at most the claimed one;
- window: the gap of output t in the window [t − k₁, t + k₂] is at most ε, layer by layer as
  `impl.bidirectional.windows` states it, here in balls.

The bound on rounding of the whole is information; of vanilla cells that of each is proved.
Source: Miller & Hardt, Lemma 1, for each cell.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from flint import arb, ctx

from rnnbounds import disk
from rnnbounds.impl.checker.cells.layouts import LayoutError, known
from rnnbounds.impl.checker.cells.remaining import kept
from rnnbounds.impl.checker.definite import norm
from rnnbounds.impl.checker.machine import require_floats
from rnnbounds.impl.checker.readout import Readout, readout_norm
from rnnbounds.impl.checker.truncated import Checked, Claim, proved, system
from rnnbounds.impl.checker.unitary import Finding, Source
from rnnbounds.impl.checker.weights import LARGEST, UncheckedCellError, sizes
from rnnbounds.impl.errors import at_least, exactly
from rnnbounds.impl.format.bidirectional import (
    BidirectionalRecord,
    bidirectional_record,
    by_cell,
    document_of,
    read_bidirectional,
    stated_both,
)
from rnnbounds.impl.format.fields import RecordError
from rnnbounds.impl.format.record import Record
from rnnbounds.impl.format.sealed import ANOTHER
from rnnbounds.impl.format.tensors import MOST, Array, Part, decoded, dtype_of, encoded
from rnnbounds.impl.format.truncated import CertificateFileError, TruncatedFileError, is_about

WIDEST = 2**20  # inputs of a window, beyond which nobody waits for a check
_PRECISION = 128


@dataclass(frozen=True, eq=False)
class _Cell:
    """A proved cell: f(0), f(1), … and p, λ of the sum over its inputs."""

    kept: list[arb]
    push: arb
    lam: arb

    def gathered(self, e: Sequence[arb]) -> list[arb]:
        """Σ_{j ≤ s} λ^{s−j} p e_j for each s."""
        sums, total = [], arb(0)
        for size in e:
            total = (self.lam * total + self.push * size).upper()
            sums.append(total)
        return sums


def check_bidirectional(path: Path, source: Source | None = None) -> Checked:
    """The certificate of the file and what was found; it stands if every finding holds.

    Raises as `impl.checker.truncated.check_truncated` does.
    """
    require_floats()
    file = read_bidirectional(path)
    try:
        weights = _weights(path, file.parts, file.record)
        found = list(_proved(file.record, weights))
    except (RecordError, LookupError):
        raise TruncatedFileError(path, "holds no readable certificate") from None
    if source is not None:
        named = {name: decoded(part) for name, part in file.parts.items()}
        same = source.equals(file.record.cell, file.record.dtype, named)
        detail = "the cells, their dtype and their weights are the source's, to the last bit"
        found.append(Finding("source", same, detail))
    return file.certificate, tuple(found)


def check_both(path: Path, source: Source, readout: Readout | None = None) -> Checked | None:
    """The record of what 'certify' wrote of a model in both directions, and what was found of it
    for these weights and this readout; None for a certificate of another schema.

    Raises CertificateFileError for what is no certificate of this model, or certifies nothing.
    """
    require_floats()
    whole = document_of(disk.read(path, MOST))
    if whole is None:
        return None
    if whole.get("verdict") in ("refuted", "undecided"):
        reason = f"is of a model that is {whole['verdict']}: there is no window to check"
        raise CertificateFileError(path, reason, "check the certificate of a certified model")
    try:
        told = stated_both(whole)
        said, found, scale = bidirectional_record(told), list[Finding](), 1.0
        parts = {name: encoded(part, said.dtype) for name, part in source.weights.items()}
        exact = {name: part for name, part in parts.items() if part is not None}
        weights = _weights(path, exact, said)
        if source.cell != said.cell or len(exact) < len(parts):
            raise CertificateFileError(path, "is the certificate of another model")
        if (about := whole.get("readout")) is not None:
            scale, shown = readout_norm(about, readout)
            told, found = told | {"readout": about}, [shown]
        found += _proved(said, weights, scale)
    except TruncatedFileError:
        raise CertificateFileError(path, "is the certificate of another model") from None
    except (RecordError, LayoutError, LookupError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, (CertificateFileError, UncheckedCellError)):
            raise
        raise CertificateFileError(path, "holds no certificate that can be checked") from None
    return told, tuple(found)


def _weights(
    path: Path, parts: Mapping[str, Part], said: BidirectionalRecord
) -> list[dict[str, Array]]:
    """The float64 arrays of each cell by role; raises TruncatedFileError where they are not those
    that the record is about, and UncheckedCellError for a cell of which nothing is known here."""
    found = []
    cells = by_cell(parts)
    if len(cells) != len(said.cells):
        raise TruncatedFileError(path, ANOTHER)
    for roles, cell in zip(cells, said.cells, strict=True):
        if not known(cell.cell):
            raise UncheckedCellError(path, cell.cell)
        if any(dtype_of(part) is None for part in roles.values()):
            raise TruncatedFileError(path, "has weights of a dtype that is not read")
        try:
            states, n, d = sizes(
                cell.cell, {role: tuple(part["shape"]) for role, part in roles.items()}
            )
        except LayoutError:
            raise TruncatedFileError(path, "has weights of wrong names or shapes") from None
        if states > LARGEST:
            raise TruncatedFileError(path, f"has over {LARGEST} states")
        if not is_about(cell, roles, n, d):
            raise TruncatedFileError(path, ANOTHER)
        arrays = {role: decoded(part) for role, part in roles.items()}
        if not all(np.isfinite(part).all() for part in arrays.values()):
            raise TruncatedFileError(path, "holds NaN or infinity")
        found.append(arrays)
    return found


def _proved(
    said: BidirectionalRecord, weights: Sequence[dict[str, Array]], scale: float = 1.0
) -> Iterator[Finding]:
    """Prove each statement of a record; stops at the first cell that fails. Raises RecordError."""
    claims = [Claim(part, cell) for part, cell in zip(weights, said.cells, strict=True)]
    names = [f"layer {i // 2 + 1}, {('forward', 'reverse')[i % 2]}" for i in range(len(claims))]
    for name, claim in zip(names, claims, strict=True):
        found = [replace(one, name=f"{name}: {one.name}") for one in proved(claim)]
        yield from found
        if not all(one.holds for one in found):
            return
    for l, (below, above) in enumerate(pairwise(said.layers), start=1):
        outputs = [below.forward, below.reverse]
        held = all(_holds(cell, outputs) for cell in (above.forward, above.reverse))
        yield Finding(f"layer {l + 1}: inputs", held, "hold all outputs of the layer below")
        if not held:
            return
    with ctx.workprec(_PRECISION):
        yield _gain(said, scale)
        longest = max(1 + one.past + one.future for one in said.truncation)
        if longest > WIDEST:
            raise RecordError("a window too wide to be checked")
        cells = [_cell(claim, longest) for claim in claims]
        layers = list(zip(cells[::2], cells[1::2], strict=True))
        for one in said.truncation:
            held = bool(arb(scale) * _gap(layers, one.past, one.future) <= arb(one.eps))
            detail = f"ε = {exactly(one.eps)} for inputs t − {one.past}, …, t + {one.future}"
            yield Finding("window", held, detail)


def _holds(cell: Record, below: Sequence[Record]) -> bool:
    """True if the inputs of a cell are proved to hold all outputs of the cells below."""
    if cell.shape.d != sum(one.shape.n for one in below):
        raise RecordError("layers that do not fit")
    most = norm([arb(one.constants["B_h"]) for one in below])
    sides = [side for one in below for side in _sides(one)]
    if cell.inputs is None:
        return bool(most <= arb(cell.input_bound))
    ends = zip(cell.inputs.low, sides, cell.inputs.high, strict=True)
    return bool(most <= arb(cell.input_bound)) and all(
        low <= -side and side <= high for low, side, high in ends
    )


def _sides(one: Record) -> list[float]:
    """At least |h_i| of all outputs of a cell: by its proved box, activation or bound."""
    most = min(one.constants["B_h"], one.constants.get("M_rho", one.constants["B_h"]))
    box = one.box or [most] * one.shape.n
    return [min(float(side), most) for side in box[-one.shape.n :]]


def _gain(said: BidirectionalRecord, scale: float) -> Finding:
    """Π √(G→² + G←²), times ‖C‖₂ of a readout."""
    total = arb(scale)
    for both in said.layers:
        total *= norm([arb(one.constants["gain"]) for one in (both.forward, both.reverse)])
    detail = f"inputs δ apart drive outputs at most {at_least(said.gain, 9)} δ apart"
    return Finding("gain", bool(total <= arb(said.gain)), detail)


def _cell(claim: Claim, count: int) -> _Cell:
    """The memory of a proved cell, of so many steps."""
    _, cell, one = system(claim)
    told = claim.record
    lam = arb(told.of("gain").lam)
    return _Cell(kept(told.stated, one, cell, count), arb(told.constants["gain"]) * (1 - lam), lam)


def _gap(layers: Sequence[tuple[_Cell, _Cell]], past: int, future: int) -> arb:
    """At least ‖y_t − y_t^window‖₂."""
    W = past + future + 1
    e: list[arb] | None = None
    for forward, reverse in layers:
        a, b = forward.kept[1 : W + 1], reverse.kept[1 : W + 1]
        if e is not None:
            a = [x + y for x, y in zip(a, forward.gathered(e), strict=True)]
            b = [x + y for x, y in zip(b, reverse.gathered(e[::-1]), strict=True)]
        e = [norm([x, y]).upper() for x, y in zip(a, b[::-1], strict=True)]
    return arb("inf") if e is None else e[past]
