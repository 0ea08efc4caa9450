"""Message of a failed import: every command that loads the theory imports the claims' files, and an
author needs the line of the error; a package that is not installed gives the same message."""

from __future__ import annotations

from pathlib import Path
from traceback import walk_tb

PACKAGE_FOLDER = Path(__file__).parents[1]


def import_message(error: ImportError) -> str:
    """FILE, line N: what could not be imported; and the remedy. The file is the last of ours that
    is on the way to the error, unless none is."""
    places = [
        f"{file}, line {line}: "
        for frame, line in walk_tb(error.__traceback__)
        if (file := Path(frame.f_code.co_filename)).is_relative_to(PACKAGE_FOLDER)
    ]
    place = places[-1] if places else ""
    return f"{place}{error}; correct that import, or install rnnbounds again, with what it needs"
