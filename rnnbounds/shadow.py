"""The rooms have plain names. A project may have modules of the same: then it keeps them, and the
rooms take others, in the whole process.

A folder of the project without an `__init__.py` is not noticed: any folder of results would be one.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import RLock

ROOMS = ("theory", "impl", "properties", "reports")
HOUSE = Path(__file__).resolve().parent.parent
APART = "rnnbounds.rooms"  # where they are then
_settling = RLock()  # the first use may be that of several threads


class MissingRoomError(ImportError):
    """A room that is not there."""

    def __init__(self, room: str) -> None:
        super().__init__(f"the package {room!r} is missing in {HOUSE}; install rnnbounds again")


def settle(*folders: Path) -> None:
    """Decide, before a room is imported, by which names; once one is, nothing changes any more.

    folders: further ones from which modules of the project may come. Raises MissingRoomError.
    """
    if not _to_nearest():
        sys.dont_write_bytecode = True
    with _settling:
        _settle(folders)


def _to_nearest() -> bool:
    """True if sums are rounded to nearest. Elsewhere Python compiles 0.999 to another number: what
    is computed there is refused, and no such bytecode is to be kept for the processes after it."""
    little = sys.float_info.epsilon / 4
    return 1.0 + little == 1.0 == 1.0 - little


def _settle(folders: tuple[Path, ...]) -> None:
    if APART in sys.modules or any(_ours(_origin(sys.modules.get(room)), room) for room in ROOMS):
        return
    for room in ROOMS:
        if not (HOUSE / room / "__init__.py").is_file():
            raise MissingRoomError(room)
    if any(_taken(room, folders) for room in ROOMS):
        import_module(APART)


def room_module(name: str) -> str:
    """The name under which a module of a room is imported in this process."""
    apart = APART in sys.modules and name.partition(".")[0] in ROOMS
    return f"{APART}.{name}" if apart else name


def _taken(room: str, folders: tuple[Path, ...]) -> bool:
    """Whether the plain name of a room is, or may become, that of something else."""
    try:
        spec = find_spec(room)
    except ValueError:  # a module that was made by hand
        return True
    if spec is None or not _ours(spec.origin, room):
        return True
    held = (folder / place for folder in folders for place in (f"{room}.py", f"{room}/__init__.py"))
    return any(path.is_file() and not _ours(str(path), room) for path in held)


def _origin(module: object) -> str | None:
    return getattr(module, "__file__", None)


def _ours(origin: str | None, room: str) -> bool:
    return origin is not None and Path(origin).resolve() == HOUSE / room / "__init__.py"
