"""Plant each of sixty faults in a copy of the code, and see what turns red: `tox -e planted`.

    python tests/planted/planted.py [ID…] [--jobs N]

A fault is one edit of one file, where its old text occurs exactly once. It names the claims whose
quick run convicts it or, where none can, one test. A line for each; exit 1 if one survives, 2 if
the list is wrong.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from time import perf_counter

import msgspec

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_name("faults.toml")
ROOMS = ("theory", "impl", "properties", "reports", "rnnbounds")
CALL = "import sys; from rnnbounds.cli import main; sys.exit(main())"
TIMEOUT = 900  # seconds, far above what any run takes: a fault may make one endless
REFUSED = ("leaves the box that the cell states", "the readings of")  # of BoxError, of two readings


class FaultError(Exception):
    """A fault of the list that cannot be planted as it stands."""


class Fault(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One edit: `old` becomes `new` in `file`, which is to say `what`; `claims` or a `test`."""

    id: str
    file: str
    old: str
    new: str
    what: str
    claims: tuple[str, ...] = ()
    test: str = ""


class _List(msgspec.Struct, forbid_unknown_fields=True):
    fault: tuple[Fault, ...]


def listed(path: Path = LIST) -> dict[str, Fault]:
    """All faults by their names; raises FaultError for a list that is wrong."""
    try:
        faults = msgspec.convert(tomllib.loads(path.read_text()), _List).fault
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise FaultError(f"{path.name}: {error}") from None
    named = {fault.id: fault for fault in faults}
    if len(named) < len(faults):
        raise FaultError(f"{path.name}: a fault is named twice; give each a name of its own")
    for fault in faults:
        if bool(fault.claims) == bool(fault.test):
            raise FaultError(f"{fault.id}: say its claims, or a test")
        if fault.test and not (ROOT / fault.test.split("::")[0]).is_file():
            raise FaultError(f"{fault.id}: there is no {fault.test}")
    return named


def planted(fault: Fault) -> str:
    """The text of the fault's file with the fault in it.

    Raises FaultError unless the old text occurs exactly once and the new text is other Python.
    """
    path = ROOT / fault.file
    if fault.file.split("/")[0] not in ROOMS or not path.is_file():
        raise FaultError(f"{fault.id}: {fault.file} is no file of the five rooms; name the file")
    text = path.read_text()
    if (count := text.count(fault.old)) != 1:
        raise FaultError(
            f"{fault.id}: its old text occurs {count} times in {fault.file}, not once; "
            f"follow the code: {fault.old.strip().splitlines()[0]!r}"
        )
    edited = text.replace(fault.old, fault.new)
    try:
        if ast.dump(ast.parse(edited)) == ast.dump(ast.parse(text)):
            raise FaultError(f"{fault.id}: the edit changes nothing")
    except SyntaxError as error:
        raise FaultError(f"{fault.id}: {fault.file} is no longer Python: {error}") from None
    return edited


def ran(command: Sequence[str], home: Path) -> subprocess.CompletedProcess[str]:
    """A command of Python beside the planted code."""
    told = {"PYTHONPATH": str(home), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, *command], cwd=home, env=os.environ | told, text=True,
        capture_output=True, timeout=TIMEOUT, check=False,
    )  # fmt: skip


def copy_rooms(target: Path) -> None:
    """Copy the five rooms, without what was compiled of them."""
    for room in ROOMS:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / room, target / room, symlinks=True, ignore=ignored)


def convicted(fault: Fault) -> tuple[bool, str]:
    """Whether the claims' run, or the test, is red for it; and what was seen.

    A crash convicts nothing: of a run only a violation, of a test only a failure.
    """
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        home = Path(folder, "code")
        copy_rooms(home)
        (home / fault.file).write_text(planted(fault))
        try:
            return attacked(fault, home) if fault.claims else tested(fault, home)
        except subprocess.TimeoutExpired:
            return False, f"no end within {TIMEOUT} s"


def attacked(fault: Fault, home: Path) -> tuple[bool, str]:
    """What `rnnbounds verify` of its claims says."""
    asked = ("-c", CALL, "verify", *fault.claims, "--workers", "0", "--format", "json")
    done = ran(asked, home)
    lines = done.stderr.splitlines()
    refused = [line for line in lines if any(words in line for words in REFUSED)]
    if done.returncode == 2 and refused:
        return True, refused[-1][:160]
    try:
        record = json.loads(done.stdout)
    except json.JSONDecodeError:
        return False, (done.stderr.strip().splitlines() or ["no word"])[-1][:160]
    counts = {claim["id"]: claim["tally"]["violated"] for claim in record["claims"]}
    told = ", ".join(f"{name}: {count} violated" for name, count in counts.items())
    return done.returncode == 1 and any(counts.values()), told


def tested(fault: Fault, home: Path) -> tuple[bool, str]:
    """What its test says: only a test that fails convicts, none that cannot be run."""
    place = ("-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT), str(ROOT / fault.test))
    options = ("-q", "-x", "-p", "no:cacheprovider", "--hypothesis-profile", "full")
    done = ran(("-m", "pytest", *options, *place), home)
    return done.returncode == 1, fault.test


def main(arguments: Sequence[str]) -> int:
    """Run the list; see the module."""
    parser = argparse.ArgumentParser(description="Plant faults and see what turns red.")
    parser.add_argument("ids", nargs="*", metavar="ID", help="faults; all by default")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    asked = parser.parse_args(arguments)
    try:
        faults = listed()
        if unknown := sorted(set(asked.ids) - set(faults)):
            raise FaultError(f"no fault is named {unknown[0]}; see {LIST.relative_to(ROOT)}")
        chosen = [faults[name] for name in asked.ids or faults]
        for fault in chosen:
            planted(fault)
    except FaultError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    survived, start = 0, perf_counter()
    with ThreadPoolExecutor(asked.jobs) as pool:
        pending = {pool.submit(convicted, fault): fault for fault in chosen}
        for done in as_completed(pending):
            red, told = done.result()
            survived += not red
            print(f"{'red' if red else 'SURVIVED':8}  {pending[done].id:32} {told}", flush=True)
    minutes = (perf_counter() - start) / 60
    print(f"{len(chosen)} faults, {survived} survived; {minutes:.1f} min")
    return int(survived > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
