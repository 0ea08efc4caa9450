"""The table of experiments in Markdown, made from their records: what holds here, and by what."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from properties.errors import InputError
from reports import disk
from rnnbounds.experiments.engine.page import command, rows_of, spread
from rnnbounds.experiments.engine.record import SCHEMA, Record, Run, decode

COLUMNS = ("experiment", "conclusion", "here", "found", "again")
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


def markdown(records: Sequence[Record], keys: Sequence[str]) -> list[str]:
    """A row for each record; `keys` name the figure of each that is told with its spread."""
    lines = [_line(COLUMNS), _line(["---"] * len(COLUMNS))]
    for record, key in zip(records, keys, strict=True):
        told = " ".join(filter(None, (record.outcome.said, figures(record.runs, key))))
        row = (f"`{record.name}`", record.conclusion, record.outcome.holds, told)
        lines.append(_line((*row, f"`{command(record)}`")))
    return lines


def figures(runs: Sequence[Run], key: str) -> str:
    """The figure whose name begins so, mean ± standard deviation of each row of the page."""
    told = []
    tasks = dict.fromkeys(run.task for run in runs)
    for task in tasks:
        for who, some in rows_of(run for run in runs if run.task == task).items():
            name = next((name for name in some[0].figures if key and name.startswith(key)), None)
            if name is not None:
                names = (*((task,) if len(tasks) > 1 else ()), *who)
                values = [run.figures.get(name) for run in some]
                told.append(f"{' '.join(names)} {spread(values)}")
    return f"{name_of(runs, key)}: {'; '.join(told)}." if told else ""


def name_of(runs: Sequence[Run], key: str) -> str:
    """The whole name of that figure."""
    names = dict.fromkeys(name for run in runs for name in run.figures if name.startswith(key))
    return ", ".join(names)


def _record(path: Path) -> Record | None:
    try:
        record = decode(disk.read(path, _LIMIT))
    except (OSError, msgspec.MsgspecError):
        return None
    return record if record.schema == SCHEMA else None


def _line(cells: Iterable[str]) -> str:
    told = " | ".join(cell.replace("|", "\\|") for cell in cells)
    return f"| {told} |"
