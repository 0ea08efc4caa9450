"""The header of a safetensors file, in which no key stands twice; read without torch."""

import json
from typing import Any


def header(data: bytes) -> dict[str, Any]:
    """The JSON object before the tensors; raises ValueError for what is none, or has a key twice.

    The library keeps the last of several entries of one name, so that two readers could differ.
    """
    told = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")], object_pairs_hook=_once)
    if not isinstance(told, dict):
        raise ValueError("no object")
    return told


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(found := dict(pairs)) < len(pairs):
        raise ValueError("a key stands twice")
    return found
