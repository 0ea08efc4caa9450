"""The table of experiments in Markdown, made from their records: what holds here, and by what."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from rnnbounds import disk
from rnnbounds.experiments.engine.page import rerun_command
from rnnbounds.experiments.engine.record import SCHEMA, Record, decode_record
from rnnbounds.properties.errors import InputError

COLUMNS = ("experiment", "conclusion", "here", "found", "seeds", "again")
_LIMIT = 2**28  # bytes, more than any record


class RecordError(InputError):
    """A folder without a record of an experiment."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}; give folders that `rnnbounds experiment` wrote")


def read_records(folders: Iterable[Path]) -> list[Record]:
    """The records of folders, or of the folders in them; raises RecordError."""
    records = []
    for folder in folders:
        paths = sorted(folder.glob("*.json")) or sorted(folder.glob("*/*.json"))
        in_folder = [record for path in paths if (record := _read_record(path)) is not None]
        if not in_folder:
            raise RecordError(folder, "no record of an experiment is there")
        records += in_folder
    return records


def markdown_table(records: Sequence[Record]) -> list[str]:
    """A row for each record: what it says of itself, figures ± their standard deviation, and
    what of it fails."""
    lines = [_markdown_row(COLUMNS), _markdown_row(["---"] * len(COLUMNS))]
    for record in records:
        outcome, seeds = record.outcome, str(len({run.seed for run in record.runs}))
        problem_text = f" Fails: {'; '.join(outcome.problems)}." if outcome.problems else ""
        verdict = "fails" if outcome.problems else outcome.holds
        row = (f"`{record.name}`", record.conclusion, verdict, outcome.said + problem_text, seeds)
        lines.append(_markdown_row((*row, f"`{rerun_command(record)}`")))
    return lines


def _read_record(path: Path) -> Record | None:
    try:
        record = decode_record(disk.read(path, _LIMIT))
    except (OSError, UnicodeError, RecursionError, msgspec.MsgspecError):
        return None
    return record if record.schema == SCHEMA else None


def _markdown_row(cells: Iterable[str]) -> str:
    row = " | ".join(cell.replace("|", "\\|") for cell in cells)
    return f"| {row} |"
