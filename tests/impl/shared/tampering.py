"""Tampering with files of certificates: every leaf is changed in many ways, and sealed anew.

A file is taken apart into its tensors, its metadata and its certificate, and written again from
them by hand, so that things can come twice that no library would write twice.
"""

import copy
import json
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from rnnbounds.impl.format.tensors import contents, header

Path_ = tuple[str | int, ...]
# What was done to a leaf: a number made less, and what no certificate may hold.
LESS = {"half", "less", "zero", "tiny", "one less", "negative"}
NEVER = {"left out", "true", "text", "list", "infinite", "NaN", "huge integer", "object", "extra"}


@dataclass(frozen=True)
class Sealed:
    """A file in parts. text: the certificate as it stands in the file."""

    tensors: tuple[tuple[str, str, tuple[int, ...], bytes], ...]
    told: tuple[tuple[str, str], ...]
    text: str

    @property
    def certificate(self) -> Any:
        """The certificate, parsed."""
        return json.loads(self.text)

    @property
    def parts(self) -> dict[str, dict[str, Any]]:
        """The tensors as `impl.format.tensors` gives them."""
        return {name: {"dtype": code, "shape": shape, "data": data}
                for name, code, shape, data in self.tensors}  # fmt: skip

    def stating(self, certificate: Any) -> "Sealed":
        """The same with another certificate."""
        return replace(self, text=json.dumps(certificate, sort_keys=True))

    def with_told(self, **changes: str | None) -> "Sealed":
        """The same with other metadata, without those that are None."""
        told = dict(self.told) | changes
        return replace(self, told=tuple((k, v) for k, v in told.items() if v is not None))


def taken_apart(data: bytes) -> Sealed:
    """The parts of a good file."""
    parts, told = contents(data)
    names = [name for name in header(data) if name != "__metadata__"]
    tensors = tuple(
        (name, parts[name]["dtype"], tuple(parts[name]["shape"]), bytes(parts[name]["data"]))
        for name in names
    )
    kept = tuple((k, v) for k, v in told.items() if k not in ("sha256", "certificate"))
    return Sealed(tensors, kept, told["certificate"])


def written(file: Sealed, seal: Callable[[dict[str, str], Any], str]) -> bytes:
    """The bytes of a file, sealed; of what comes twice the last counts for the seal."""
    told = [*file.told, ("certificate", file.text)]
    told.append(("sha256", seal(dict(told), file.parts)))
    entries, start = [], 0
    for name, code, shape, data in file.tensors:
        offsets = [start, start + len(data)]
        entry = {"dtype": code, "shape": list(shape), "data_offsets": offsets}
        entries.append(f"{json.dumps(name)}:{json.dumps(entry)}")
        start += len(data)
    pairs = ",".join(f"{json.dumps(k)}:{json.dumps(v)}" for k, v in told)
    head = "{" + ",".join(['"__metadata__":{' + pairs + "}", *entries]) + "}"
    raw = head.encode()
    raw += b" " * (-len(raw) % 8)
    return struct.pack("<Q", len(raw)) + raw + b"".join(data for *_, data in file.tensors)


def leaves(told: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    """All parts of a JSON value with their paths, the containers too."""
    yield path, told
    if isinstance(told, dict):
        for key in told:
            yield from leaves(told[key], (*path, key))
    if isinstance(told, list):
        for index, part in enumerate(told):
            yield from leaves(part, (*path, index))


def changed(told: Any, path: Path_, value: Any) -> Any:
    """A copy with another value at the path."""
    if not path:
        return value
    made = copy.deepcopy(told)
    place = made
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return made


def without(told: Any, path: Path_) -> Any:
    """A copy without what is at the path."""
    made = copy.deepcopy(told)
    place = made
    for key in path[:-1]:
        place = place[key]
    del place[path[-1]]
    return made


UNPROVED = {  # information, as `impl.checker.truncated.printed` has it
    "model", "tensors", "ignored", "unread", "reason", "norms_tried", "states", "skipped",
    "rounds_to_one", "next", "attacked", "what",
}  # fmt: skip
NAMES = {
    "cell": ("rnn-tanh", "rnn-relu", "linear", "rnn-sin", "lstm", "stacked-gru", "rnn-foo"),
    "dtype": ("float16", "bfloat16", "float32", "float64", "int8"),
    "norm": ("spectral", "infinity", "one", "perron", "diagonal", "quadratic", "best"),
    "verdict": ("refuted", "undecided"),
}


def values(path: Path_, value: Any) -> Iterator[tuple[str, Any]]:
    """Other values for a leaf, by what was done to it."""
    if isinstance(value, int | float):
        for name, other in (
            ("half", value / 2), ("less", value * (1 - 2.0**-20)), ("zero", 0.0),
            ("tiny", 1e-9), ("negative", -value), ("double", value * 2), ("one more", value + 1),
            ("one less", value - 1), ("huge", 1e300), ("huge integer", 10**400),
            ("true", True), ("text", str(value)), ("list", [value]), ("infinite", float("inf")),
            ("NaN", float("nan")), ("fraction", value + 0.5),
        ):  # fmt: skip
            yield name, other
    elif isinstance(value, str):
        yield from (("longer", value + "x"), ("empty", ""), ("number", 1.0))
        for other in NAMES.get(str(path[-1]) if path else "", ()):
            if other != value:
                yield other, other
    elif value is None:
        yield from (("zero", 0.0), ("one", 1.0), ("text", "?"), ("list", [1.0]))
    elif isinstance(value, list):
        yield from (("empty", []), ("repeated", value + value), ("reversed", value[::-1]))
        yield from (("fewer", value[1:]), ("more", [*value, 1.0]))
    elif isinstance(value, dict):
        yield from (("empty", {}), ("extra", value | {"extra": 1.0}), ("list", list(value)))
    yield from (("null", None), ("object", {"a": 1}))


def statements(file: Sealed) -> Iterator[tuple[Path_, str, Sealed]]:
    """The file with each part of its certificate changed, left out or said twice."""
    told = file.certificate
    for path, value in leaves(told):
        for name, other in values(path, value):
            if other != value or type(other) is not type(value):
                yield path, name, file.stating(changed(told, path, other))
        if path:
            yield path, "left out", file.stating(without(told, path))
        if path and isinstance(path[-1], str):
            for twice in ("null", "0.0", json.dumps(value, sort_keys=True)):
                yield path, f"twice, {twice[:9]}", replace(file, text=doubled(told, path, twice))


def doubled(told: Any, path: Path_, first: str) -> str:
    """The text with the key at the path twice: first with ``first``, then as it was."""
    mark = "\x00"
    made = copy.deepcopy(told)
    place = made
    for key in path[:-1]:
        place = place[key]
    items = list(place.items())
    place.clear()
    for key, value in items:
        if key == path[-1]:
            place[mark] = mark
        place[key] = value
    pair = f"{json.dumps(mark)}: {json.dumps(mark)}"
    return json.dumps(made).replace(pair, f"{json.dumps(path[-1])}: {first}")
