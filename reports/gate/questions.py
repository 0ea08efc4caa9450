"""The question that a certificate answers; only answers to one question can be compared."""

from collections.abc import Iterable, Mapping

from rnnbounds.reports.errors import InputError
from rnnbounds.reports.gate.certified import Certificate, Training, by_eps
from rnnbounds.reports.records.changes import listed

_SHOWN = 60  # characters of one side of a difference
_TABLE = "the rows of "  # before the name of the tensor whose rows are all inputs
_NAMELESS = f"{_TABLE}a table"


class PairError(InputError):
    """Two certificates of different questions, which say nothing of one another."""

    def __init__(self, differ: Mapping[str, tuple[str, str]]) -> None:
        told = [f"different {what}, {_apart(*both)}" for what, both in differ.items()]
        super().__init__(
            f"certificates of {'; of '.join(told)}; certify both models with the same options"
        )


def require_same_question(old: Certificate, new: Certificate) -> None:
    """Raise PairError, which names all that differs, unless both answer one question."""
    asked = question(old), question(new)
    differ = {
        what: (asked[0][what], asked[1][what])
        for what in asked[0]
        if asked[0][what] != asked[1][what]
    }
    read = [set((one.tensors or one.information.tensors).values()) for one in (old, new)]
    unread = [{*one.unread, *one.information.unread} for one in (old, new)]
    if read[0] & unread[1] or read[1] & unread[0]:  # one file's other layer; no new name for one
        differ["layers"] = (listed(sorted(read[0])), listed(sorted(read[1])))
    if old.training is not None and new.training is not None:
        tasks = _task(old.training), _task(new.training)
        if tasks[0] != tasks[1]:
            differ["training"] = tasks
    if differ:
        raise PairError(differ)


def question(certificate: Certificate) -> dict[str, str]:
    """All that was asked whatever the weights are, in words that differ where a number does."""
    one = certificate
    return {
        "sorts": one.family,
        "cells": one.cell,
        "shapes": ", ".join(f"{name} = {size}" for name, size in sorted(one.shape.items())),
        "dtypes": one.dtype,
        "inputs": inputs(one),
        "readouts": "none, but the state itself"
        if one.readout is None
        else f"{one.readout.tensor}, {one.readout.outputs} outputs",
        "initial states": _listed(one.initial_state),
        "ε": _listed(by_eps(one.truncation)),
        "tensors left out": ", ".join(sorted({*one.ignored, *one.information.ignored})) or "none",
    }


def inputs(certificate: Certificate) -> str:
    """The set of inputs by its numbers; a tensor of the model by its name, as its rows are trained
    with the rest."""
    among, ball = certificate.inputs, f"‖x_t‖₂ ≤ {certificate.input_bound!r}"
    if among is None:
        return ball
    what = among.what or certificate.information.inputs
    count = "" if among.rows is None else f"{among.rows} rows, "
    if among.set == "rows" and what.startswith(_TABLE) and what != _NAMELESS:
        return f"{count}{what}"
    return f"{among.set}, {count}{ball}, from {_listed(among.low)} to {_listed(among.high)}"


def _listed(numbers: Iterable[float]) -> str:
    """All digits of all numbers; −0 is 0."""
    return ", ".join(repr(number + 0.0) for number in numbers)


def _task(training: Training) -> str:
    """The training that is asked about, in a line."""
    names = ("loss", "steps", "alpha", "length", "readout_norm", "target_asked")
    asked = {name: getattr(training, name) for name in names}
    return ", ".join(f"{name} {one}" for name, one in asked.items() if one not in (None, ""))


def _apart(one: str, other: str) -> str:
    """Both texts from a little before where they part."""
    pairs = enumerate(zip(one, other, strict=False))
    parting = next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))
    start = max(0, parting - _SHOWN // 2)
    begins = "…" if start else ""
    told = [f"{begins}{text[start : start + _SHOWN]}" for text in (one, other)]
    return f"{told[0]!r} and {told[1]!r}"
