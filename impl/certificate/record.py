"""Certificate of one model, and its JSON record.

Certificates from their documents, which a loaded certificate states word for word (`to_json`),
so that nothing that a field cannot hold is lost.
"""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal, SupportsFloat

import torch

from rnnbounds.impl.arithmetic.inputs.sets import InputSet
from rnnbounds.impl.cells.refutation.refute import ALL, NO_BOX_SUFFIX
from rnnbounds.impl.cells.table import NORM_NAMES
from rnnbounds.impl.certificate.advice import Advice
from rnnbounds.impl.certificate.notebook import Row, Shown
from rnnbounds.impl.errors import InputError, RangeError, at_least, exactly, factor, shown
from rnnbounds.impl.format.document import Document, Witness, document_in, of_record
from rnnbounds.impl.format.fields import bounded_readout
from rnnbounds.impl.format.record import WHOLE
from rnnbounds.impl.format.sealed import no_certificate, no_truncated
from rnnbounds.impl.numbers.json_values import as_json

EPSILONS = (1e-2, 1e-4, 1e-6)

Verdict = Literal["certified", "refuted", "undecided"]
_STABLE = {"certified": True, "refuted": False, "undecided": None}  # in a record


Epsilons = float | str | Sequence[float | str]
"""One ε or several, each a number or a share of the bound on the output, as "5%"."""


def share_of(text: str) -> float:
    """The share in a text, 0.05 of "5%"; raises RangeError unless it is above 0% and up to 100%,
    beyond which no input is needed."""
    number = text.removesuffix("%")
    if number != text and number.isascii():
        with suppress(ValueError):
            if 0 < (share := float(number)) <= 100:
                return share / 100
    raise RangeError("ε", repr(text), "a number > 0, or a share above 0% and up to 100%, as 5%")


def epsilons_of(eps: float | Sequence[float]) -> tuple[float, ...]:
    """One ε or several, as floats; raises RangeError for none and for what is no number > 0."""
    is_list = isinstance(eps, Iterable) and not isinstance(eps, str)
    is_list = is_list and getattr(eps, "ndim", 1) > 0  # of no tensor that is one number
    values: tuple[Any, ...] = tuple(eps) if is_list else (eps,)  # type: ignore[arg-type]
    if not values:
        raise RangeError("the list of ε", "empty", "at least one number > 0")
    for value in values:
        number = isinstance(value, SupportsFloat) and not isinstance(value, InputSet)
        if not (number and value <= sys.float_info.max and float(value) > 0):
            raise RangeError("ε", value if number else repr(value), "a number > 0")
    return tuple(map(float, values))


@dataclass(frozen=True, repr=False)
class Certificate(Shown):
    """The certificate of one model; see `to_json` for the record that is written.

    verdict: `certified` (λ < 1 in `norm`, on ℝⁿ or on the invariant box of a gated cell, with a
    finite bound on the states, so that there is a k for every ε), `refuted` (a `witness` shows that
    no norm makes the cell a contraction), or `undecided` (no norm tried certifies it, which says
    nothing). lam: the factor in `norm`, which is the best one found unless certified. windows:
    pairs (ε, k), ε in the Euclidean norm of the output h; k None where nothing is known. tried:
    (norm, its factor, its k at the smallest ε). weights: those of the norm (`StateNorm`). rounding:
    a bound on ‖fl(h_t) − h_t‖₂ for all t when the cell is run in its own dtype with accurate
    activations, None if none is known. skipped: norms that were not tried, and the search for a
    witness if it was not, each with why. rounds_to_one: how many decays of the cell may round to 1
    in its dtype, by its name; where some do, what is certified about real numbers says nothing
    about the model as it is run, so that the verdict is `undecided`, with the `reason`. unrounded:
    why no bound on rounding is known. states: those that are spoken of. refused: why the box that
    the cell states is not proved, and what to do; nothing is certified on it. tensors: the full
    names in the source of what was read as the `cell`, by role. ignored, unread: those that the
    caller said to leave out of it, and those of tensors elsewhere (`LoadedModel`). inputs: the set
    of all inputs, None for the ball ‖x‖₂ ≤ B. readout: the linear map that ε is about, with its
    bound on ‖C‖₂; None for h itself. proof: what `impl.checker` needs beside the rest: the box or
    the layers, `unit_gains` where the gain is ‖g_h‖₂ of the gains of all units, and `other_norms`,
    those of the gain and of rounding where it is another. advising: seeks the `advice`. measuring:
    the call or the command that measures an undecided model on recorded inputs. infinite: by norm,
    why its factor is infinite. document: of a certificate that was read from a file, the JSON data
    that it states; what JSON does not hold is then left out: `advice`, `refused` and the rows of
    `inputs`.

    >>> certificate = rnnbounds.certify(torch.nn.LSTM(1, 16), inputs=1.0, eps=0.1)
    >>> certificate.verdict, certificate.lam, certificate.window(0.1)
    """

    model: str
    cell: str
    n: int
    d: int
    dtype: str
    digest: str
    norm: str
    lam: float
    verdict: Verdict
    input_bound: float
    constants: Mapping[str, float]
    windows: tuple[tuple[float, int | None], ...]
    tried: tuple[tuple[str, float, int | None], ...]
    weights: tuple[float, ...] | tuple[tuple[float, ...], ...] | None
    rounding: float | None
    witness: Witness | None
    skipped: tuple[tuple[str, str], ...] = ()
    rounds_to_one: Mapping[str, int] = field(default_factory=dict)
    unrounded: str | None = None
    states: str = ALL
    refused: str | None = None
    tensors: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    readout: Mapping[str, Any] | None = None
    proof: Mapping[str, Any] = field(default_factory=dict)
    inputs: InputSet | None = None
    advising: Callable[[], Advice | None] = field(default=lambda: None, repr=False, compare=False)
    measuring: str = field(default="rnnbounds.measure(module, data)", compare=False)
    infinite: Mapping[str, str] = field(default_factory=dict)
    document: Mapping[str, Any] | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Raise ValueError for a certificate that contradicts itself."""
        if len(dict(self.windows)) != len(set(self.windows)):
            raise ValueError("one ε has two different k")
        known = self.lam < 1 and all(k is not None for _, k in self.windows)
        if self.verdict == "certified" and not known:
            raise ValueError("certified, without λ < 1 or without a k")
        if (self.verdict == "refuted") != (self.witness is not None):
            raise ValueError("refuted, without a witness or the reverse")

    @cached_property
    def advice(self) -> Advice | None:
        """Next steps for a model that no norm certifies and nothing refutes, None for others;
        computed on first use."""
        return self.advising()

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields to pickle or copy, with the computed advice in place of its search."""
        return {**vars(self), "advising": partial(_given, self.advice)}

    @property
    def speaks_of(self) -> str:
        """The set of inputs that the verdict is about, in words."""
        if self.inputs is None:
            return f"every ‖x_t‖₂ ≤ {exactly(self.input_bound)}"
        return f"every x_t in {self.inputs.what}, ‖x_t‖₂ ≤ {at_least(self.input_bound)}"

    @property
    def reason(self) -> str | None:
        """The reason that an undecided model is not certified, None for all other models."""
        if self.document is not None:
            return self.document.get("reason")
        count = self.rounds_to_one.get(self.dtype, 0)
        if self.verdict != "undecided":
            return None
        if self.refused is not None:
            return f"for {self.speaks_of}, {self.refused}"
        if self.lam < 1 and count:
            what = f"{count} decays" if count > 1 else "1 decay"
            return (
                f"{what} may round to 1 in {self.dtype}, or overflow: the model as run may never "
                f"forget"
            )
        if self.lam < 1:
            return (
                f"λ < 1 in the {self.norm} norm, but no k is certified: one step has no finite "
                f"bound, and so the states have none"
            )
        if self.states.endswith(NO_BOX_SUFFIX):
            return (
                f"no norm that was tried certifies it on {self.states}; define its box() if its "
                f"states stay in one"
            )
        return None

    @property
    def next_steps(self) -> list[str]:
        """Next steps for an undecided model, in lines of text; none for others."""
        advice = self._next()
        if advice is None:
            return []
        return [f"see what it remembers of recorded inputs: {advice['measure']}", *advice["lines"]]

    @property
    def stable(self) -> bool:
        """True if certified, False if refuted; raises InputError if undecided, which is neither."""
        if self.verdict == "undecided":
            raise InputError("undecided is neither stable nor unstable; compare the verdict")
        return self.verdict == "certified"

    def __bool__(self) -> bool:
        """Raise InputError: there are three verdicts."""
        raise InputError("a certificate is neither true nor false; compare its verdict")

    def window(self, epsilon: float) -> int | None:
        """The k of one of the ε that were asked for; raises RangeError for any other."""
        if epsilon not in dict(self.windows):
            asked = ", ".join(exactly(eps) for eps, _ in self.windows)
            raise RangeError("ε", epsilon, f"one of {asked}")
        return dict(self.windows)[epsilon]

    def line(self) -> str:
        """The verdict, and the memory at each ε."""
        outputs = self.n if self.readout is None else self.readout["outputs"]
        what = f"{self.model}: {self.cell}, {outputs} output{'s' * (outputs != 1)}, {self.verdict}"
        if self.verdict != "certified":
            return what
        memories = ", ".join(f"k = {k} at ε = {exactly(eps)}" for eps, k in self.windows)
        return f"{what} with λ ≤ {factor(self.lam)} in the {self.norm} norm; {memories}"

    def rows(self) -> list[Row]:
        """The memory k at each ε."""
        return [{"eps": eps, "k": k} for eps, k in self.windows]

    def draw(self, axes: Any) -> None:
        """The certified k against ε."""
        known = [(eps, k) for eps, k in self.windows if k is not None]
        axes.plot([eps for eps, _ in known], [k for _, k in known], marker="o")
        axes.set(xscale="log", xlabel="ε", ylabel="certified k", title=self.line())

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON data; what is infinite is null."""
        if self.document is not None:
            return deepcopy(dict(self.document))
        record: dict[str, Any] = as_json({
            "schema": WHOLE,
            "model": self.model,
            "cell": self.cell,
            "tensors": self.tensors,
            "ignored": self.ignored,
            "unread": self.unread,
            "shape": {"n": self.n, "d": self.d},
            "dtype": self.dtype,
            "sha256": self.digest,
            "norm": self.norm,
            "lambda": self.lam,
            "verdict": self.verdict,
            "reason": self.reason,
            "stable": _STABLE[self.verdict],
            "input_bound": self.input_bound,
            "inputs": self.inputs,
            "constants": self.constants,
            "truncation": [{"eps": eps, "k": k} for eps, k in self.windows],
            "norms_tried": [
                {"norm": name, "lambda": lam, "k": k} | self._infinite(name)
                for name, lam, k in self.tried
            ]
            + [
                {"norm": name, "lambda": None, "k": None, "skipped": reason}
                for name, reason in self.skipped
                if name in NORM_NAMES
            ],
            "weights": self.weights,
            "box": self.proof.get("box"),
            "layers": self.proof.get("layers"),
            "rounding": {"dtype": self.dtype, "state": self.rounding, "reason": self.unrounded},
            "states": self.states,
            "skipped": [{"what": what, "reason": reason} for what, reason in self.skipped],
            "rounds_to_one": self.rounds_to_one,
            "witness": self.witness,
        } | {
            name: value
            for name, value in (
                ("other_norms", self.proof.get("other_norms")),
                ("unit_gains", self.proof.get("unit_gains")),
                ("readout", self.readout),
                ("next", self._next()),
            )
            if value is not None
        })  # fmt: skip
        return record

    def _infinite(self, norm: str) -> dict[str, str]:
        """Entry of why a factor is infinite; {} of any other."""
        return {"reason": self.infinite[norm]} if norm in self.infinite else {}

    def _next(self) -> dict[str, Any] | None:
        """Return advice on an undecided model as JSON data, None for other verdicts."""
        if self.document is not None:
            return self.document.get("next")
        if self.verdict != "undecided":
            return None
        advice: dict[str, Any] = {"lines": []} if self.advice is None else self.advice.to_json()
        return {"measure": self.measuring} | advice


def _given(advice: Advice | None) -> Advice | None:
    return advice


def read_certificate(data: bytes, path: Path) -> Certificate:
    """The certificate in the bytes of a JSON file; raises FileError for what is none,
    contradicts itself, states a key twice, or holds NaN or infinity."""
    try:
        return _certificate(*document_in(data))
    except (LookupError, ValueError, OverflowError, RecursionError) as error:
        reason = "nested too deep" if isinstance(error, RecursionError) else str(error)
        raise no_certificate(path, f"no certificate ({shown(reason)})") from None


def of_truncated(stated: Mapping[str, Any], path: Path) -> Certificate:
    """The certificate of a truncated model, of the record that travels in its file. Raises
    FileError."""
    try:
        return _certificate(of_record(stated), dict(stated))
    except (LookupError, ValueError) as error:
        raise no_truncated(path, f"no certificate ({shown(error)})") from None


def _certificate(stated: Document, document: dict[str, Any]) -> Certificate:
    """The certificate of a document of which every part has its type."""
    certificate = Certificate(
        model=stated.model,
        cell=stated.cell,
        n=stated.shape.n,
        d=stated.shape.d,
        dtype=stated.dtype,
        digest=stated.sha256,
        norm=stated.norm,
        lam=stated.lam,
        verdict=stated.verdict,
        input_bound=stated.input_bound,
        constants=stated.constants,
        windows=tuple((entry.eps, entry.k) for entry in stated.truncation),
        tried=tuple(
            (entry.norm, entry.lam, entry.k)
            for entry in stated.norms_tried
            if entry.skipped is None
        ),
        weights=None if stated.weights is None else _tuples(stated.weights),
        rounding=stated.rounding.state,
        witness=stated.witness,
        skipped=tuple((entry.what, entry.reason) for entry in stated.skipped),
        rounds_to_one=stated.rounds_to_one,
        unrounded=stated.rounding.reason,
        states=stated.states,
        tensors=stated.tensors,
        ignored=stated.ignored,
        unread=stated.unread,
        readout=_readout(stated.readout),
        proof={
            "box": stated.box,
            "layers": stated.layers,
            "other_norms": stated.other_norms,
            "unit_gains": stated.unit_gains,
        },
        inputs=_inputs(stated),
        infinite={one.norm: one.reason for one in stated.norms_tried if one.reason is not None},
        measuring="" if stated.next is None else stated.next.measure,
        document=document,
    )
    if stated.stable is not _STABLE[certificate.verdict]:
        raise ValueError("verdict and stable contradict each other")
    return certificate


def _readout(stated: dict[str, Any] | None) -> dict[str, Any] | None:
    """The readout, of one linear layer; raises RecordError for any other."""
    if stated is not None:
        bounded_readout(stated)
    return stated


def _inputs(stated: Document) -> InputSet | None:
    """The box of a document; of a table's rows, which no document holds, the one around them."""
    if (box := stated.inputs) is None:
        return None
    box.require(stated.shape.d, stated.input_bound)
    low, high = (torch.tensor(end, dtype=torch.float64) for end in (box.low, box.high))
    return InputSet(stated.input_bound, low, high, box.what)


def _tuples(values: list[Any]) -> tuple[Any, ...]:
    return tuple(_tuples(value) if isinstance(value, list) else value for value in values)
