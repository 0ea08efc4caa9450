"""The rooms under names of their own, in a project that has modules of the same names.

Importing this puts them at `rnnbounds.rooms.impl` and so on, beside whatever the project calls
`impl`. Their own import statements stay as they are: one in a module of this package that names a
room means the room, and all others mean what they say. What travels to other processes is named
after this package, and brings it along. See `rnnbounds.shadow` for when.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from rnnbounds.shadow import HOUSE, ROOMS

__path__ = [str(HOUSE)]
_usual = builtins.__import__


def _import(
    name: str,
    globals: Mapping[str, Any] | None = None,
    locals: Mapping[str, Any] | None = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> Any:
    room = name.partition(".")[0]
    ours = level == 0 and room in ROOMS
    if not ours or not str((globals or {}).get("__name__")).startswith("rnnbounds."):
        return _usual(name, globals, locals, fromlist, level)
    if fromlist:
        return _usual(f"{__name__}.{name}", globals, locals, fromlist, 0)
    import_module(f"{__name__}.{name}")
    return sys.modules[f"{__name__}.{room}"]


builtins.__import__ = _import
