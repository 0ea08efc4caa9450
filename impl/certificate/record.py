"""The certificate of one model, as `certify` returns it and as it is read from its file."""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import torch
from msgspec import structs

from rnnbounds.impl.arithmetic.inputs.sets import InputBound, InputSet
from rnnbounds.impl.certificate.advice import Advice
from rnnbounds.impl.certificate.notebook import Plotted, Row
from rnnbounds.impl.errors import InputError, RangeError, at_least, exactly, factor, shown
from rnnbounds.impl.format.fields import InputBox, converted
from rnnbounds.impl.format.record import Next, Record
from rnnbounds.impl.format.sealed import no_certificate
from rnnbounds.impl.format.tensors import strict
from rnnbounds.impl.numbers.json_values import as_json


def in_words(inputs: InputBox | None, bound: float) -> str:
    """All inputs that a verdict is about."""
    if inputs is None:
        return f"every ‖x_t‖₂ ≤ {exactly(bound)}"
    return f"every x_t in {inputs.what}, ‖x_t‖₂ ≤ {at_least(bound)}"


class Certificate(Plotted, Record, frozen=True, kw_only=True, omit_defaults=True, dict=True):
    """The certificate of one model: its record, as a result that is shown and looked up.

    verdict: `certified` (λ < 1 in `norm`, on ℝⁿ or on the invariant box of a gated cell, with a
    finite bound on the states, so that there is a k for every ε), `refuted` (a `witness` shows that
    no norm makes the cell a contraction), or `undecided` (no norm tried certifies it, which says
    nothing). All fields are those of `impl.format.record.Record`. A certificate of `certify` also
    knows the set of inputs as it was given, and seeks `advice` when it is asked for.

    >>> certificate = rnnbounds.certify(torch.nn.LSTM(1, 16), inputs=1.0, eps=0.1)
    >>> certificate.verdict, certificate.lam, certificate.window(0.1)
    """

    def knowing(self, **live: Any) -> Self:
        """The certificate with what no file holds: `input_set`, `advice`, or `seek`, its search."""
        vars(self).update(live)
        return self

    def replaced(self, **fields: Any) -> Self:
        """The certificate with other fields, and with the same inputs and search for advice."""
        return structs.replace(self, **fields).knowing(**vars(self))

    def measured_by(self, command: str) -> Self:
        """The certificate, whose next steps name that command to measure the model."""
        return self if self.next is None else self.replaced(next={"measure": command})

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what is pickled or copied: the fields, and the advice in place of its search."""
        live = {"advice": self.advice, "input_set": self.input_set}
        return _restored, (type(self), structs.asdict(self), live)

    def __copy__(self) -> Self:
        return self

    @cached_property
    def advice(self) -> Advice | None:
        """Next steps for a model that no norm certifies and nothing refutes, None for others;
        computed on first use, and None in what is read from a file."""
        seek: Callable[[], Advice | None] = vars(self).get("seek", lambda: None)
        return seek()

    @cached_property
    def input_set(self) -> InputSet | None:
        """The set of inputs, None for the ball; of rows that were read from a file their box."""
        if (box := self.inputs) is None:
            return None
        low, high = (torch.tensor(end, dtype=torch.float64) for end in (box.low, box.high))
        return InputSet(self.input_bound, low, high, box.what)

    @property
    def asked_inputs(self) -> InputBound:
        """The set of inputs, or the bound on them."""
        return self.input_bound if self.input_set is None else self.input_set

    @property
    def windows(self) -> tuple[tuple[float, int | None], ...]:
        """Pairs (ε, k)."""
        return tuple((one.eps, one.k) for one in self.truncation)

    @property
    def tried(self) -> tuple[tuple[str, float, int | None], ...]:
        """Each norm that was tried, its factor, and its k at the smallest ε."""
        found = (one for one in self.norms_tried if one.skipped is None)
        return tuple((one.norm, one.lam, one.k) for one in found)

    @property
    def speaks_of(self) -> str:
        """The set of inputs that the verdict is about, in words."""
        return in_words(self.inputs, self.input_bound)

    @property
    def next_steps(self) -> list[str]:
        """Next steps for an undecided model, in lines of text; none for others."""
        if self.next is None:
            return []
        lines = self.advice.lines() if self.advice is not None else self.next.get("lines", ())
        return [f"see what it remembers of recorded inputs: {self.next['measure']}", *lines]

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
        outputs = self.n if self.readout is None else self.readout.outputs
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

    def to_dict(self) -> dict[str, Any]:
        """The record as plain JSON data; what is infinite is null."""
        document: dict[str, Any] = as_json(self)
        if self.next is not None and self.advice is not None:
            document["next"] |= as_json(self.advice.to_dict())
        return document


def _restored(kind: type[Certificate], fields: dict[str, Any], live: dict[str, Any]) -> Certificate:
    return kind(**fields).knowing(**live)


def certificate_of(document: object) -> Certificate:
    """The certificate of parsed JSON data; raises RecordError, a ValueError."""
    found = converted(document, Certificate)
    if found.next is not None:
        converted(found.next, Next)
    return found


def read_certificate(data: bytes, path: Path) -> Certificate:
    """The certificate in the bytes of a JSON file; raises FileError for what is none,
    contradicts itself, states a key twice, or holds NaN or infinity."""
    try:
        return certificate_of(strict(data.decode()))
    except (LookupError, ValueError, OverflowError, RecursionError) as error:
        reason = "nested too deep" if isinstance(error, RecursionError) else str(error)
        raise no_certificate(path, f"no certificate ({shown(reason)})") from None
