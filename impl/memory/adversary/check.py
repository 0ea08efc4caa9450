"""Witnesses as files, and their proof anew: nothing of the search is believed."""

import json
import math
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from impl import disk
from impl.arithmetic.inputs.ends import Ball, Box
from impl.checker.stored import plain
from impl.checker.unitary import Finding
from impl.checker.witnesses import MOST, SCHEMA
from impl.errors import InputError, exactly, shown
from impl.memory.adversary.attack import Attacked, states_of
from impl.memory.adversary.proof import proved_gap
from impl.models.loaded import LoadedModel
from impl.reading.files import write_file


class WitnessFileError(InputError):
    """A file that holds no witnesses."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"{shown(path)}: {reason}; write it again with 'rnnbounds certify --witness'"
        )


def save_attacked(attacked: Attacked, path: Path) -> None:
    """Write what was found as JSON, whole or not at all. Raises ModelFileError."""
    write_file(path, json.dumps(attacked.to_json(), allow_nan=False).encode())


def check_attacked(path: Path, model: LoadedModel[Any]) -> tuple[dict[str, Any], list[Finding]]:
    """The record of the file without its inputs, and whether each witness is one of that model.

    Proved in balls, for the weights as stored in real arithmetic: the inputs are of the set, and
    the gap after k of them is at least the one that is stated, which is above ε; and no k is stated
    that has no witness. Raises WitnessFileError for a file that is not intact.
    """
    try:
        told = plain(disk.read(path, MOST).decode())
        witnesses = [_Stated(one, model.d) for one in told["witnesses"]]
        bound, least = _set(told), _windows(told["no_k_below"])
        named = (told["schema"], told["cell"], told["dtype"], told["sha256"])
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        raise WitnessFileError(path, "holds no readable witnesses of such a model") from None
    same = named == (SCHEMA, model.name, model.dtype, model.digest)
    found = [Finding("model", same, "the cell, its dtype and its weights are the model's")]
    if (given := told["inputs"]) and given["rows"] is not None:
        detail = "inputs are looked for in the box of the table alone, not among its rows"
        found.append(Finding("inputs", same, detail))
    proved = {}
    for one in witnesses if same else ():
        holds = one.proved(model) and bound.holds(one.x)
        proved[one.epsilon] = one.k if holds else -1
        gap = f"‖h_T − h_T^k‖₂ ≥ {one.gap:.9g} > {exactly(one.epsilon)}"
        found.append(Finding("witness", holds, f"{gap} at k = {one.k}, T = {len(one.x)}"))
    for epsilon, k in least:
        holds = k == proved.get(epsilon, -1) + 1
        found.append(Finding("no k below", holds, f"{k} will do at ε = {exactly(epsilon)}"))
    kept = [{n: v for n, v in one.items() if n != "inputs"} for one in told["witnesses"]]
    return {**told, "witnesses": kept}, found


class _Stated:
    """One witness, as it is stated; raises ValueError and the like for what is none."""

    def __init__(self, told: dict[str, Any], d: int) -> None:
        self.epsilon, self.gap = float(told["eps"]), float(told["gap"])
        self.k, length = told["k"], told["length"]
        self.x: Tensor = torch.tensor(told["inputs"], dtype=torch.float64).reshape(-1, d)
        if len(told["inputs"]) != length or len(self.x) != length or type(self.k) is not int:
            raise ValueError("inputs of another size")
        if not (0 <= self.k <= length and 0 < self.epsilon < math.inf):
            raise ValueError("no window")

    def proved(self, model: LoadedModel[Any]) -> bool:
        if not bool(torch.isfinite(self.x).all()):
            return False
        past = len(self.x) - self.k
        known = (model.cell, model.weights, states_of(model), self.x, past, self.epsilon)
        k, gap = proved_gap(*known)
        return k == self.k and gap >= self.gap > self.epsilon


def _windows(told: list[dict[str, Any]]) -> list[tuple[float, int]]:
    return [(float(one["eps"]), int(one["k"])) for one in told]


def _set(told: dict[str, Any]) -> Ball:
    """The ball, or the box in it; of a table's rows the file holds the box alone."""
    bound, given = float(told["input_bound"]), told["inputs"]
    if given is None:
        return Ball(bound)
    ends = (torch.tensor(given[end], dtype=torch.float64) for end in ("low", "high"))
    return Box(bound, *ends)
