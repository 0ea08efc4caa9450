"""What changed between two certificates of a model: how fast it forgets, what is known."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec

from reports import disk
from reports.errors import InputError, RecordError
from reports.gate.compare import burden, grown, lacking, ranked, reworded
from reports.gate.thresholds import Thresholds
from reports.records.changes import Change, Changes, Kind, change, cut
from reports.records.codec import require_unique

LIMIT = 64 * 2**20
VERSIONS = {"certificate": (1,), "truncated-certificate": (1,), "unitary-certificate": (2, 1)}
BOUNDS = ("rounding", "orthogonality defect", "rounding of the unitary equivalent")
TASK = ("loss", "steps", "alpha", "length", "readout_norm")
VERDICTS = ("certified", "undecided", "refuted")
Positive = Annotated[float, msgspec.Meta(ge=0)]
Length = Annotated[int, msgspec.Meta(ge=0)]


class Header(msgspec.Struct):
    """The name that every record bears."""

    schema: str


class Window(msgspec.Struct, frozen=True):
    """The memory k for one ε, None where none is certified."""

    eps: Positive
    k: Length | None = None


class Rounding(msgspec.Struct, frozen=True):
    """What rounding adds to a state, None where nothing is known."""

    state: Positive | None = None


class Training(msgspec.Struct, frozen=True):
    """The windows after training, and the training that they speak of."""

    windows: tuple[Window, ...] = ()
    steps: Length | None = None
    alpha: Positive | None = None
    length: Length | None = None
    loss: str = ""
    readout_norm: Positive | None = None

    @property
    def task(self) -> str:
        """The training in a line."""
        told = {name: getattr(self, name) for name in TASK}
        return ", ".join(f"{name} {one}" for name, one in told.items() if one not in (None, ""))


class Information(msgspec.Struct, frozen=True):
    """Where what was converted came from."""

    ignored: tuple[str, ...] = ()


class Difference(msgspec.Struct, frozen=True):
    """How far a unitary equivalent's states are from the model's."""

    own_dtype: Positive | None = None


class Certificate(msgspec.Struct, frozen=True):
    """What is compared of a certificate, whichever command wrote it."""

    schema: str
    cell: str
    verdict: str
    input_bound: Positive
    dtype: str = ""
    sha256: str = ""
    lam: Positive | None = msgspec.field(name="lambda", default=None)
    norm: str = ""
    constants: dict[str, float | None] = {}
    truncation: tuple[Window, ...] = ()
    rounding: Rounding | None = None
    rounds_to_one: dict[str, Length] = {}
    training: Training | None = None
    states: Length | str = ""
    orthogonality_defect: Positive | None = None
    difference: Difference | None = None
    shape: dict[str, Length] = {}
    ignored: tuple[str, ...] = ()
    information: Information = Information()

    @property
    def left_out(self) -> tuple[str, ...]:
        """The tensors of the model that nothing is said of, as its user asked."""
        return self.ignored + self.information.ignored

    @property
    def size(self) -> str:
        """Its shape in a few words."""
        return ", ".join(f"{name} = {size}" for name, size in sorted(self.shape.items()))

    @property
    def family(self) -> str:
        """What sort of certificate it is, without its version."""
        return self.schema.partition("/")[2].partition("/")[0]

    @property
    def bounds(self) -> tuple[float | None, ...]:
        """What it says of `BOUNDS`."""
        rounding, apart = self.rounding, self.difference
        return (
            None if rounding is None else rounding.state,
            self.orthogonality_defect,
            None if apart is None else apart.own_dtype,
        )


class PairError(InputError):
    """Two certificates that say nothing of one another."""

    def __init__(self, what: str, old: str, new: str) -> None:
        told = f"{old[:80]!r} and {new[:80]!r}"
        super().__init__(f"certificates of different {what}, {told}; compare those of one model")


def load_certificate(path: Path) -> Certificate:
    """The certificate in a JSON file, as `certify --format json` prints it; raises RecordError."""
    try:
        data = disk.read(path, LIMIT)
        told = _unread(msgspec.json.decode(data, type=Header).schema)
        if told:
            raise RecordError(told)
        certificate = msgspec.json.decode(data, type=Certificate)
        require_unique(data)
        return certificate
    except OSError as error:
        raise RecordError(f"{path}: it {error.strerror}; give a certificate in JSON") from None
    except RecordError as error:
        raise RecordError(f"{path}: {error}; write the certificate again") from None
    except (ValueError, RecursionError, msgspec.MsgspecError) as error:
        told = " ".join(str(error).split())[:300]
        raise RecordError(f"{path}: no certificate ({told}); write it again") from None


def _unread(schema: str) -> str:
    """Why a certificate of that schema is not read; empty if it is."""
    known = re.fullmatch(r"rnnbounds/([a-z-]+)/(\d{1,9})", schema)
    if known is not None and int(known[2]) in VERSIONS.get(known[1], ()):
        return ""
    read = [f"rnnbounds/{name}/{version}" for name, all in VERSIONS.items() for version in all]
    return f"schema {schema[:80]!r}, not among {', '.join(read)}"


def compare_certificates(old: Certificate, new: Certificate, allowed: Thresholds) -> Changes:
    """All changes from one to another; raises PairError for two sorts, cells or shapes."""
    for what, name in (("sorts", "family"), ("cells", "cell"), ("shapes", "size")):
        names = [getattr(one, name) for one in (old, new)]
        if names[0] != names[1]:
            raise PairError(what, *names)
    rows = tuple(_rows(old, new, allowed))
    return Changes(old=title(old), new=title(new), rows=rows, fails=allowed.fails)


def title(certificate: Certificate) -> str:
    """A certificate in a few words."""
    words = (certificate.family.replace("-", " "), certificate.cell, certificate.sha256[:12])
    return ", ".join(cut(word, 80) for word in words if word)


def _rows(old: Certificate, new: Certificate, allowed: Thresholds) -> Iterator[Change]:
    name, share = new.cell, allowed.factor
    yield from ranked(name, "verdict", VERDICTS, old.verdict, new.verdict)
    yield from reworded(name, "dtype", old.dtype, new.dtype)
    if old.input_bound != new.input_bound:  # a smaller bound speaks of fewer inputs
        told = [f"‖x_t‖₂ ≤ {one.input_bound:.12g}" for one in (old, new)]
        fewer: Kind = "regressed" if new.input_bound < old.input_bound else "improved"
        yield change(fewer, name, "inputs", *told)
    yield from grown(name, "λ", old.lam, new.lam, share=share)
    yield from _windows("k", name, allowed, old.truncation, new.truncation)
    yield from burden(name, "tensors left out", old.left_out, new.left_out)
    yield from _training(name, allowed, *(one.training or Training() for one in (old, new)))
    for what in {**old.constants, **new.constants}:
        sizes = [one.constants.get(what) for one in (old, new)]
        yield from grown(name, what, *sizes, share=share)
    for what, before, after in zip(BOUNDS, old.bounds, new.bounds, strict=True):
        yield from grown(name, what, before, after, share=share)
    if isinstance(old.states, int) and isinstance(new.states, int):
        yield from grown(name, "states", old.states, new.states)
    else:
        yield from reworded(name, "states", str(old.states), str(new.states))
    for dtype in {**old.rounds_to_one, **new.rounds_to_one}:
        counts = [one.rounds_to_one.get(dtype, 0) for one in (old, new)]
        yield from grown(name, f"decays that may round to 1 in {dtype}", *counts)


def _training(name: str, allowed: Thresholds, old: Training, new: Training) -> Iterator[Change]:
    """Windows of one training are compared; those of another say nothing of them."""
    if (new.task or new.windows) and old.task != new.task:
        kind: Kind = "regressed" if old.task else "new"
        yield change(kind, name, "training", old.task, new.task)
    else:
        yield from _windows("k after training", name, allowed, old.windows, new.windows)


def _windows(
    what: str, name: str, allowed: Thresholds, old: tuple[Window, ...], new: tuple[Window, ...]
) -> Iterator[Change]:
    before, after = ({f"{one.eps:g}": one.k for one in windows} for windows in (old, new))
    yield from lacking(name, f"{what} for ε", before, after)
    for eps in (eps for eps in before if eps in after):
        yield from grown(
            name, f"{what} for ε = {eps}", before[eps], after[eps], room=allowed.window
        )
