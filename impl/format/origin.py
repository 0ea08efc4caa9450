"""What a certificate says of where its weights came from; read without torch.

`tensors` has their full names in the source by role, `ignored` and `unread` those of tensors that
are none of the cell's: on purpose, or since they have another prefix. None of it can be proved from
the file, so it is information; it has to make sense all the same.
"""

from collections.abc import Collection, Mapping
from typing import Any

_PARTS = {"tensors", "ignored", "unread"}


def described(information: Mapping[Any, Any], roles: Collection[str]) -> bool:
    """Whether all three are there, with a name for each of these roles and none of them twice; or
    none of the three."""
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
