"""Provenance of a certificate's weights; read without torch.

`tensors` maps roles to full names in the source; `ignored` and `unread` name tensors that are not
the cell's: ignored on request, or under another prefix. The file cannot prove any of it, so it is
information; it must be consistent all the same.
"""

from collections.abc import Collection, Mapping
from typing import Any

_PARTS = {"tensors", "ignored", "unread"}


def described(information: Mapping[Any, Any], roles: Collection[str]) -> bool:
    """True if all three parts are present, with a name for each of these roles and all names
    distinct, or if all three are absent."""
    if not _PARTS & information.keys():
        return True
    tensors = information.get("tensors")
    if not isinstance(tensors, dict) or tensors.keys() != set(roles):
        return False
    names: list[Any] = list(tensors.values())
    for part in (information.get("ignored"), information.get("unread")):
        if not isinstance(part, list):
            return False
        names += part
    return all(isinstance(name, str) for name in names) and len(set(names)) == len(names)
