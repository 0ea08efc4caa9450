"""The `config.json` that libraries save beside a model's weights."""

import json
from pathlib import Path

from rnnbounds.impl.reading.files import ModelFileError, read_file
from rnnbounds.impl.reading.sequence.family import Settings

_LARGEST = 2**20  # bytes
_REMEDY = "save it again, or read the weights from a folder without it"


def settings_beside(path: Path) -> Settings:
    """The settings in the folder of a file, {} where there are none; raises ModelFileError."""
    beside = path.parent / "config.json"
    if not beside.exists():
        return {}
    data = read_file(beside, _LARGEST, what="settings", smaller=_REMEDY)
    try:
        found = json.loads(data)
    except Exception:  # of damaged text the parser raises several
        found = None
    if not isinstance(found, dict):
        raise ModelFileError(beside, "is no JSON object", _REMEDY)
    return found
