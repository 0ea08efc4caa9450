"""Whole files of data as bytes, and their errors in a line."""

from pathlib import Path

from rnnbounds.impl.reading.data.recordings import LARGEST
from rnnbounds.impl.reading.files import read_file

AGAIN = "save the numbers again"


def whole(path: Path, largest: int = LARGEST) -> bytes:
    """All bytes of a file of data; raises ModelFileError if it is larger, or none."""
    return read_file(path, largest, what="data", smaller="save it as .npy, which is read in parts")


def in_a_line(cause: BaseException) -> str:
    """Format a library's error as one line of at most 120 characters."""
    return " ".join(str(cause).split())[:120] or type(cause).__name__
