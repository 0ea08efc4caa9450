"""Published data sets, read from the files that they come in, with nothing taken on trust."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from rnnbounds.disk import read
from rnnbounds.properties.errors import InputError

LARGEST_FILE = 2**24  # bytes: one and a half of WikiText-2's largest file
MOST_SYMBOLS = 2**17  # symbols: four times WikiText-2's


class DataError(InputError):
    """A file that is not what the published ones are."""

    def __init__(self, path: Path, reason: str, remedy: str) -> None:
        super().__init__(f"{path} {reason}; give {remedy}")


def read_file(path: Path, remedy: str, largest: int | None = None) -> bytes:
    """The bytes of a regular file, up to a limit; raises DataError."""
    try:
        return read(path, LARGEST_FILE if largest is None else largest)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DataError(path, f"cannot be read: {reason}", remedy) from None


def read_text(path: Path, remedy: str) -> str:
    """The text of a file in UTF-8 that is not empty; raises DataError."""
    try:
        decoded = read_file(path, remedy).decode()
    except UnicodeDecodeError as error:
        raise DataError(path, f"is no UTF-8 at byte {error.start}", remedy) from None
    if not decoded.strip() or "\0" in decoded:
        raise DataError(path, "is no text", remedy)
    return decoded


def find_family(data: Path, families: Iterable[Sequence[str]], remedy: str) -> list[Path]:
    """The files of the first family that is there whole: in a folder, or beside one of its own.

    Raises DataError.
    """
    folder = data if data.is_dir() else data.parent
    for names in families:
        paths = [folder / name for name in names]
        if (data.is_dir() or data in paths) and all(path.exists() for path in paths):
            return paths
    raise DataError(data, "is no folder with such files, nor one of them", remedy)


def vocabulary(words: Iterable[str], limit: int, *always: str) -> dict[str, int]:
    """Ids of these words and of the most frequent, so many, `MOST` at most; ties by spelling."""
    counts = Counter(words)
    for word in always:
        counts.pop(word, None)
    frequent = sorted(counts, key=lambda word: (-counts[word], word))
    return {word: i for i, word in enumerate([*always, *frequent][: min(limit, MOST_SYMBOLS)])}
