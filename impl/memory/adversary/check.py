"""Witnesses as files, and their proof anew: nothing of the search is believed."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from msgspec import UNSET
from torch import Tensor

from rnnbounds import disk
from rnnbounds.impl.arithmetic.inputs.maximisers import BallSet, Inputs, input_set_of
from rnnbounds.impl.certificate.inputs import ROWS, input_tensor, stated_set
from rnnbounds.impl.checker.unitary import Finding
from rnnbounds.impl.errors import InputError, at_most, exactly, shown
from rnnbounds.impl.format.fields import RecordError, converted
from rnnbounds.impl.format.readout import stage_names
from rnnbounds.impl.format.text import plain
from rnnbounds.impl.format.witnesses import MOST, SCHEMA, StatedWitness, Witnesses
from rnnbounds.impl.memory.adversary.attack import Attacked, states_of, weights_of
from rnnbounds.impl.memory.adversary.proof import proved_gap
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.reading.files import write_file

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


def readout_stated(path: Path) -> Sequence[str] | None:
    """The stages of the readout that the witnesses of a file are about, None if it is h.

    Raises WitnessFileError for a file that is not intact.
    """
    try:
        stated, _ = _record(path)
    except _BROKEN:
        raise WitnessFileError(path, _UNREADABLE) from None
    return None if stated.readout is UNSET else stage_names(stated.readout)


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
        stated, told = _record(path)
        runs = [_run(one, model.d) for one in stated.witnesses]
        bound = _set(stated, model.d)
    except _BROKEN:
        raise WitnessFileError(path, _UNREADABLE) from None
    named = (stated.schema, stated.cell, stated.dtype, stated.sha256)
    same = named == (SCHEMA, model.name, model.dtype, model.digest)
    same = same and told.get("readout") == (model.readout.stated() if model.readout else None)
    found = [Finding("model", same, "the cell, its dtype and its weights are the model's")]
    if (given := told["inputs"]) and given["set"] == "rows":
        table = _table(told, source)
        where = "those of the table in the source"
        without = "not proved: the box around the table alone is checked, the source has none such"
        found.append(Finding("inputs", table is not None, without if table is None else where))
        bound = table or bound
    proved, of = {}, "h" if model.readout is None else "y"
    for one, x in zip(stated.witnesses, runs, strict=True) if same else ():
        holds = _proved(one, x, model) and bound.holds(x)
        proved[one.eps] = one.k if holds else -1
        size = at_most(one.gap, 9, above=one.eps)
        gap = f"‖{of}_T − {of}_T^k‖₂ ≥ {size} > {exactly(one.eps)}"
        found.append(Finding("witness", holds, f"{gap} at k = {one.k}, T = {len(x)}"))
    for least in stated.no_k_below:
        holds = least.k == proved.get(least.eps, -1) + 1
        detail = f"no k below {least.k} will do at ε = {exactly(least.eps)}"
        found.append(Finding("no k below", holds, detail))
    kept = [{n: v for n, v in one.items() if n != "inputs"} for one in told["witnesses"]]
    return _apart({**told, "witnesses": kept}), found


def _apart(told: dict[str, Any]) -> dict[str, Any]:
    """The record with its information under that name, as certificates have it."""
    kept, given = dict(told), told["inputs"]
    information = {"skipped": kept.pop("skipped")}
    if given is not None and given["set"] != "rows":  # of a table all is compared
        information["inputs"] = given["what"]
        kept["inputs"] = {name: part for name, part in given.items() if name != "what"}
    return {**kept, "information": information}


def _record(path: Path) -> tuple[Witnesses, dict[str, Any]]:
    """Read a file of witnesses as a record and as plain data; raises one of _BROKEN."""
    told: dict[str, Any] = plain(disk.read(path, MOST).decode())
    return converted(told, Witnesses), told


def _run(one: StatedWitness, d: int) -> Tensor:
    """The inputs of a witness (T, d); raises RecordError."""
    if any(len(row) != d for row in one.inputs):
        raise RecordError("inputs of another size")
    return torch.tensor(one.inputs, dtype=torch.float64).reshape(one.length, d)


def _proved(one: StatedWitness, x: Tensor, model: LoadedModel[Any]) -> bool:
    known = (model.cell, weights_of(model), states_of(model), x, len(x) - one.k)
    least = math.nextafter(one.gap, 0.0)  # above it, so at least the gap
    k, _ = proved_gap(*known, least, model.readout)
    return k == one.k and one.gap > one.eps


def _set(stated: Witnesses, d: int) -> Inputs:
    """The ball, or the set in it; of a table's rows the file holds the box alone."""
    if (given := stated.inputs) is None:
        return BallSet(stated.input_bound)
    given.require(d, stated.input_bound)
    told = stated_set(given, stated.input_bound, given.what)
    return input_set_of(told.box if told.kind == "rows" else told)


def _table(told: dict[str, Any], source: Path | None) -> Inputs | None:
    """The rows of the table that is named, None where the source has no such one."""
    given = told["inputs"]
    try:
        table = None if source is None else input_tensor(source, given["what"].removeprefix(ROWS))
    except InputError:
        return None
    same = table is not None and (table.to_json(), float(table)) == (given, told["input_bound"])
    return input_set_of(table) if table is not None and same else None
