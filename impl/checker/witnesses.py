"""Which files hold witnesses of long memories: their check needs the model, and so torch."""

from pathlib import Path

from rnnbounds.impl import disk

MOST = 2**28  # bytes of a file
SCHEMA = "rnnbounds/attacked/1"


def begins_as_attacked(path: Path) -> bool:
    """Whether a file begins as one of witnesses does, of this format or another."""
    try:
        return disk.read(path, MOST)[:64].startswith(b'{"schema": "rnnbounds/attacked/')
    except OSError:
        return False
