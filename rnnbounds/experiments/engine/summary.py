"""The table of experiments in Markdown, made from their records: what holds here, and by what."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from rnnbounds import disk
from rnnbounds.experiments.engine.page import command
from rnnbounds.experiments.engine.record import SCHEMA, Record, decode
from rnnbounds.properties.errors import InputError

COLUMNS = ("experiment", "conclusion", "here", "found", "seeds", "again")
_LIMIT = 2**28  # bytes, more than any record


class RecordError(InputError):
    """A folder without a record of an experiment."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}; give folders that `rnnbounds experiment` wrote")


def read(folders: Iterable[Path]) -> list[Record]:
    """The records of folders, or of the folders in them; raises RecordError."""
    found = []
    for folder in folders:
        paths = sorted(folder.glob("*.json")) or sorted(folder.glob("*/*.json"))
        known = [record for path in paths if (record := _record(path)) is not None]
        if not known:
            raise RecordError(folder, "no record of an experiment is there")
        found += known
    return found


def markdown(records: Sequence[Record]) -> list[str]:
    """A row for each record: what it says of itself, figures ± their standard deviation, and
    what of it fails."""
    lines = [_line(COLUMNS), _line(["---"] * len(COLUMNS))]
    for record in records:
        told, seeds = record.outcome, str(len({run.seed for run in record.runs}))
        fails = f" Fails: {'; '.join(told.problems)}." if told.problems else ""
        here = "fails" if told.problems else told.holds
        row = (f"`{record.name}`", record.conclusion, here, told.said + fails, seeds)
        lines.append(_line((*row, f"`{command(record)}`")))
    return lines


def _record(path: Path) -> Record | None:
    try:
        record = decode(disk.read(path, _LIMIT))
    except (OSError, UnicodeError, RecursionError, msgspec.MsgspecError):
        return None
    return record if record.schema == SCHEMA else None


def _line(cells: Iterable[str]) -> str:
    told = " | ".join(cell.replace("|", "\\|") for cell in cells)
    return f"| {told} |"
