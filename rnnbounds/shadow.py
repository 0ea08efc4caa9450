"""The rooms have plain names; a user's own folder of the same name would shadow them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

ROOMS = ("theory", "impl", "properties", "reports")


class ShadowedError(ImportError):
    """Another module is imported in place of a room of rnnbounds."""

    def __init__(self, room: str, found: str, wanted: Path) -> None:
        super().__init__(
            f"{found} shadows the package {room!r} of rnnbounds, which lies in {wanted}; "
            "rename that file or start Python elsewhere"
        )


def check_rooms() -> None:
    """Raise ShadowedError unless every room lies beside this package."""
    house = Path(__file__).resolve().parent.parent
    for room in ROOMS:
        spec = find_spec(room)
        found = Path(spec.origin).resolve() if spec is not None and spec.origin else None
        if found is None or found.parent.parent != house:
            raise ShadowedError(room, str(found or "nothing"), house / room)
