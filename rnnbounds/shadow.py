"""The rooms have plain names; a user's own folder of the same name would shadow them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

ROOMS = ("theory", "impl", "properties", "reports")


class ShadowedError(ImportError):
    """Another module is imported in place of a room of rnnbounds, or the room is missing."""

    def __init__(self, room: str, found: str | None, wanted: Path) -> None:
        super().__init__(
            f"{found} shadows the package {room!r} of rnnbounds, which lies in {wanted}; "
            "rename that file or start Python elsewhere"
            if found
            else f"the package {room!r} is missing in {wanted}; install rnnbounds again"
        )


def check_rooms() -> None:
    """Raise ShadowedError unless every room lies beside this package."""
    house = Path(__file__).resolve().parent.parent
    for room in ROOMS:
        spec, wanted = find_spec(room), house / room
        found = None if spec is None else spec.origin
        if found is None or Path(found).resolve() != wanted / "__init__.py":
            raise ShadowedError(room, found, wanted)
