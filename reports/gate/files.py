"""Two files compared, whatever records they are: both runs, or both certificates of a model."""

from pathlib import Path

import msgspec

from rnnbounds import disk
from rnnbounds.reports.errors import InputError, RecordError
from rnnbounds.reports.gate.certificates import (
    compare_certificates,
    load_certificate,
    split_record,
)
from rnnbounds.reports.gate.runs import compare_runs
from rnnbounds.reports.gate.settings import Thresholds
from rnnbounds.reports.records.changes import Changes
from rnnbounds.reports.records.codec import MOST_BYTES, load


def compare_files(old: Path, new: Path, allowed: Thresholds) -> Changes:
    """Compare two runs or two certificates; raises InputError for any other pair of files."""
    runs = [load(path) for path in (old, new) if not _is_certificate(path)]
    if not runs:
        return compare_certificates(load_certificate(old), load_certificate(new), allowed)
    if len(runs) == 1:
        raise InputError(
            f"{old} and {new} are a run and a certificate; compare two runs or two certificates"
        )
    return compare_runs(runs[0], runs[1], allowed)


def _is_certificate(path: Path) -> bool:
    """True if the file's schema names a certificate, or if `check` found its certificate to fail.

    Raises InputError for a record that is neither, but of an experiment, say."""
    try:
        schema, _ = split_record(disk.read(path, MOST_BYTES))
    except RecordError:
        return True
    except (OSError, ValueError, RecursionError, msgspec.MsgspecError):
        return False
    publisher, _, schema_name = schema.partition("/")
    family = schema_name.partition("/")[0]
    if publisher == "rnnbounds" and family != "run" and not family.endswith("certificate"):
        raise InputError(
            f"{path}: records of {family[:80]!r} cannot be compared; compare two runs of verify, "
            "or two certificates"
        )
    return "certificate" in schema_name
