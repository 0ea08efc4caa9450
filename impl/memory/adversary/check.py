"""Witnesses as files, and their proof anew: nothing of the search is believed."""

import json
import math
from pathlib import Path
from typing import Any

import torch

from rnnbounds.impl import disk
from rnnbounds.impl.arithmetic.inputs.ends import Ball, Box, Inputs, inputs_of
from rnnbounds.impl.certificate.inputs import ROWS, input_tensor
from rnnbounds.impl.checker.stored import plain
from rnnbounds.impl.checker.truncated_record import (
    RecordError,
    ends,
    number,
    require_keys,
    signed,
    whole,
    windows_of,
)
from rnnbounds.impl.checker.unitary import Finding
from rnnbounds.impl.checker.witnesses import MOST, SCHEMA
from rnnbounds.impl.errors import InputError, at_most, exactly, shown
from rnnbounds.impl.memory.adversary.attack import Attacked, states_of, weights_of
from rnnbounds.impl.memory.adversary.proof import proved_gap
from rnnbounds.impl.memory.runs import readout_told
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.reading.files import write_file

_NAMES = ("schema", "cell", "dtype", "sha256")
_KEYS = {*_NAMES, "input_bound", "inputs", "no_k_below", "skipped", "witnesses"}
_BROKEN = (OSError, ValueError, LookupError, TypeError, RecursionError)
_UNREADABLE = "holds no readable witnesses of such a model"


class WitnessFileError(InputError):
    """A file that holds no witnesses."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"{shown(path)}: {reason}; write it again with 'rnnbounds certify --witness'"
        )


def save_attacked(attacked: Attacked, path: Path) -> None:
    """Write what was found as JSON, whole or not at all. Raises ModelFileError."""
    write_file(path, json.dumps(attacked.to_json(), allow_nan=False).encode())


def readout_stated(path: Path) -> str | None:
    """The tensor of the readout that the witnesses of a file are about, None if it is h.

    Raises WitnessFileError for a file that is not intact.
    """
    try:
        told = _record(path)
    except _BROKEN:
        raise WitnessFileError(path, _UNREADABLE) from None
    return told["readout"]["tensor"] if "readout" in told else None


def check_attacked(
    path: Path, model: LoadedModel[Any], source: Path | None = None
) -> tuple[dict[str, Any], list[Finding]]:
    """The record of the file without its inputs, and whether each witness is one of that model;
    under `information` what is not looked at: a box in words, and what the limits left out.

    Proved in balls, for the weights as stored in real arithmetic: the inputs are of the set, and
    the gap after k of them is at least the one that is stated, which is above ε; and no k is stated
    that has no witness. A table whose rows are all inputs is looked for in the `source`; without it
    the inputs are held to the box around the rows alone, and that they are rows is not proved.
    Raises WitnessFileError for a file that is not intact.
    """
    try:
        told = _record(path)
        named = tuple(_text(told[key]) for key in _NAMES)
        witnesses = [_Stated(one, model.d) for one in _listed(told["witnesses"])]
        bound, least = _set(told, model.d), windows_of(told["no_k_below"])
        for one in _listed(told["skipped"]):
            require_keys(one, {"what", "reason"})
            _text(one["what"] + one["reason"])
    except _BROKEN:
        raise WitnessFileError(path, _UNREADABLE) from None
    same = named == (SCHEMA, model.name, model.dtype, model.digest)
    same = same and told.get("readout") == readout_told(model)
    found = [Finding("model", same, "the cell, its dtype and its weights are the model's")]
    if (given := told["inputs"]) and given["rows"] is not None:
        table = _table(told, source)
        where = "those of the table in the source"
        without = "not proved: the box around the table alone is checked, the source has none such"
        found.append(Finding("inputs", table is not None, without if table is None else where))
        bound = table or bound
    proved, of = {}, "h" if model.readout is None else "C h"
    for one in witnesses if same else ():
        holds = one.proved(model) and bound.holds(one.x)
        proved[one.epsilon] = one.k if holds else -1
        size = at_most(one.gap, 9, above=one.epsilon)
        gap = f"‖{of}_T − {of}_T^k‖₂ ≥ {size} > {exactly(one.epsilon)}"
        found.append(Finding("witness", holds, f"{gap} at k = {one.k}, T = {len(one.x)}"))
    for epsilon, k in least:
        holds = k == proved.get(epsilon, -1) + 1
        found.append(Finding("no k below", holds, f"{k} will do at ε = {exactly(epsilon)}"))
    kept = [{n: v for n, v in one.items() if n != "inputs"} for one in told["witnesses"]]
    return _apart({**told, "witnesses": kept}), found


def _apart(told: dict[str, Any]) -> dict[str, Any]:
    """The record with its information under that name, as certificates have it."""
    kept, given = dict(told), told["inputs"]
    information = {"skipped": kept.pop("skipped")}
    if given is not None and given["rows"] is None:  # of a table all is compared
        information["inputs"] = given["what"]
        kept["inputs"] = {name: part for name, part in given.items() if name != "what"}
    return {**kept, "information": information}


def _record(path: Path) -> dict[str, Any]:
    """What the file states, whole; raises one of _BROKEN."""
    told: dict[str, Any] = plain(disk.read(path, MOST).decode())
    require_keys(told, _KEYS | (told.keys() & {"readout"}) if type(told) is dict else _KEYS)
    if "readout" in told:
        require_keys(told["readout"], {"tensor", "outputs", "sha256"})
        _text(told["readout"]["tensor"])
    return told


class _Stated:
    """One witness, as it is stated; raises ValueError and the like for what is none."""

    def __init__(self, told: dict[str, Any], d: int) -> None:
        require_keys(told, {"eps", "k", "gap", "length", "inputs"})
        self.epsilon, self.gap = number(told["eps"]), number(told["gap"])
        self.k, length = whole(told["k"]), whole(told["length"])
        rows = [[signed(value) for value in _listed(row)] for row in _listed(told["inputs"])]
        if len(rows) != length or any(len(row) != d for row in rows):
            raise RecordError("inputs of another size")
        if not (self.k <= length and self.epsilon > 0):
            raise RecordError("no window")
        self.x = torch.tensor(rows, dtype=torch.float64).reshape(length, d)

    def proved(self, model: LoadedModel[Any]) -> bool:
        past = len(self.x) - self.k
        known = (model.cell, weights_of(model), states_of(model), self.x, past)
        k, _ = proved_gap(*known, math.nextafter(self.gap, 0.0))  # above it, so at least the gap
        return k == self.k and self.gap > self.epsilon


def _set(told: dict[str, Any], d: int) -> Inputs:
    """The ball, or the box in it; of a table's rows the file holds the box alone."""
    bound, given = number(told["input_bound"]), told["inputs"]
    if given is None:
        return Ball(bound)
    require_keys(given, {"set", "what", "low", "high", "rows"})
    _text(given["what"])
    if given["rows"] is not None:
        whole(given["rows"])
    if given["set"] != ("box" if given["rows"] is None else "rows"):
        raise RecordError("inputs of another kind")
    low, high = (torch.tensor(end, dtype=torch.float64) for end in ends(given, d, bound))
    return Box(bound, low, high)


def _table(told: dict[str, Any], source: Path | None) -> Inputs | None:
    """The rows of the table that is named, None where the source has no such one."""
    given = told["inputs"]
    try:
        table = None if source is None else input_tensor(source, given["what"].removeprefix(ROWS))
    except InputError:
        return None
    same = table is not None and (table.to_json(), float(table)) == (given, told["input_bound"])
    return inputs_of(table) if table is not None and same else None


def _text(told: object) -> str:
    if type(told) is not str:
        raise RecordError("a name is no text")
    return told


def _listed(told: object) -> list[Any]:
    if type(told) is not list:
        raise RecordError("no list")
    return told
