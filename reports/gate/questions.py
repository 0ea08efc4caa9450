"""The question that a certificate answers; only answers to one question can be compared."""

from collections.abc import Iterable, Mapping

from rnnbounds.reports.errors import InputError
from rnnbounds.reports.gate.certified import Certificate, lengths_by_eps
from rnnbounds.reports.records.changes import list_names

_SHOWN = 60  # characters of one side of a difference
_TABLE = "the rows of "  # before the name of the tensor whose rows are all inputs
_NAMELESS = f"{_TABLE}a table"


class PairError(InputError):
    """Two certificates of different questions, which say nothing of one another."""

    def __init__(self, unequal: Mapping[str, tuple[str, str]]) -> None:
        parts = [
            f"different {aspect}, {_differing_excerpts(*answers)}"
            for aspect, answers in unequal.items()
        ]
        super().__init__(
            f"certificates of {'; of '.join(parts)}; certify both models with the same options"
        )


def require_same_question(old: Certificate, new: Certificate) -> None:
    """Raise PairError, which names all that differs, unless both answer one question."""
    questions = question_fields(old), question_fields(new)
    unequal = {
        aspect: (questions[0][aspect], questions[1][aspect])
        for aspect in questions[0]
        if questions[0][aspect] != questions[1][aspect]
    }
    layers = [set((side.tensors or side.information.tensors).values()) for side in (old, new)]
    unread = [{*side.unread, *side.information.unread} for side in (old, new)]
    if (
        layers[0] & unread[1] or layers[1] & unread[0]
    ):  # one file's other layer; no new name for one
        unequal["layers"] = (list_names(sorted(layers[0])), list_names(sorted(layers[1])))
    if unequal:
        raise PairError(unequal)


def question_fields(certificate: Certificate) -> dict[str, str]:
    """All that was asked whatever the weights are, in words that differ where a number does."""
    one = certificate
    return {
        "sorts": one.family,
        "cells": one.cell,
        "shapes": ", ".join(f"{name} = {size}" for name, size in sorted(one.shape.items())),
        "dtypes": one.dtype,
        "inputs": inputs_text(one),
        "readouts": "none, but the state itself"
        if one.readout is None
        else f"{one.readout.tensor}, {one.readout.outputs} outputs",
        "initial states": _numbers_text(one.initial_state),
        "ε": _numbers_text(lengths_by_eps(one.truncation)),
        "tensors left out": ", ".join(sorted({*one.ignored, *one.information.ignored})) or "none",
    }


def inputs_text(certificate: Certificate) -> str:
    """The set of inputs by its numbers; a tensor of the model by its name, as its rows are trained
    with the rest."""
    input_set, ball = certificate.inputs, f"‖x_t‖₂ ≤ {certificate.input_bound!r}"
    if input_set is None:
        return ball
    description = input_set.what or certificate.information.inputs
    count = "" if input_set.rows is None else f"{input_set.rows} rows, "
    if input_set.set == "rows" and description.startswith(_TABLE) and description != _NAMELESS:
        return f"{count}{description}"
    return (
        f"{input_set.set}, {count}{ball}, from {_numbers_text(input_set.low)} to "
        f"{_numbers_text(input_set.high)}"
    )


def _numbers_text(numbers: Iterable[float]) -> str:
    """All digits of all numbers; −0 is 0."""
    return ", ".join(repr(number + 0.0) for number in numbers)


def _differing_excerpts(first: str, second: str) -> str:
    """Both texts from a little before where they part."""
    pairs = enumerate(zip(first, second, strict=False))
    position = next((i for i, (a, b) in pairs if a != b), min(len(first), len(second)))
    start = max(0, position - _SHOWN // 2)
    begins = "…" if start else ""
    excerpts = [f"{begins}{text[start : start + _SHOWN]}" for text in (first, second)]
    return f"{excerpts[0]!r} and {excerpts[1]!r}"
