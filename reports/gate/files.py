"""Two files compared, whatever records they are: both runs, or both certificates of a model."""

from pathlib import Path

import msgspec

from reports import disk
from reports.errors import InputError
from reports.gate.certificates import Header, compare_certificates, load_certificate
from reports.gate.runs import compare_runs
from reports.gate.thresholds import Thresholds
from reports.records.changes import Changes
from reports.records.codec import LIMIT, load


class SortsError(InputError):
    """A run and a certificate."""

    def __init__(self, old: Path, new: Path) -> None:
        super().__init__(f"{old} and {new} are not records of one sort; compare run with run")


def compare_files(old: Path, new: Path, allowed: Thresholds) -> Changes:
    """What changed from one file to the other; raises InputError for what cannot be compared."""
    runs = [load(path) for path in (old, new) if not _is_certificate(path)]
    if not runs:
        return compare_certificates(load_certificate(old), load_certificate(new), allowed)
    if len(runs) == 1:
        raise SortsError(old, new)
    return compare_runs(runs[0], runs[1], allowed)


def _is_certificate(path: Path) -> bool:
    """Whether the file says so of itself; what is no record at all `load` refuses in a line."""
    try:
        schema = msgspec.json.decode(disk.read(path, LIMIT), type=Header).schema
    except (OSError, ValueError, RecursionError, msgspec.MsgspecError):
        return False
    return "certificate" in schema.partition("/")[2]
