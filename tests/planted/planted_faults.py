"""The list of planted faults: small edits of the shipped code, and who is to convict each.

A fault is one edit of one file, whose old text must occur there exactly once. It names the claims
whose quick attack convicts it or, where no claim can, one unit test and the reason; a benign one,
which changes nothing that can be seen or only makes bounds larger, says why.
"""

from __future__ import annotations

import ast
import shutil
import tomllib
from collections import Counter
from collections.abc import Sequence
from compileall import compile_dir
from pathlib import Path
from py_compile import PycInvalidationMode

import msgspec

ROOT = Path(__file__).resolve().parents[2]
FAULTS = Path(__file__).with_name("faults")
ROOMS = ("theory", "impl", "properties", "reports", "rnnbounds")


class FaultError(Exception):
    """A fault of the list that cannot be planted as it stands."""


class Fault(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One edit: `old` becomes `new` in `file`, which is to say `what`.

    Either `claims`, whose `attacks` are tried in order, on systems of these `kinds` alone if any
    are named; or a unit `test`, with the reason `why` no claim can; or why it is `benign`.
    """

    id: str
    file: str
    old: str
    new: str
    what: str
    claims: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    attacks: tuple[str, ...] = ("extremal", "random")
    test: str = ""
    why: str = ""
    benign: str = ""

    @property
    def judged(self) -> bool:
        """Whether claims may judge it: what proves certificates anew prints no number, and of runs
        near data no claim speaks."""
        return not self.file.startswith(("impl/checker/", "impl/near/"))


class _List(msgspec.Struct, forbid_unknown_fields=True):
    fault: tuple[Fault, ...]


def listed(folder: Path = FAULTS) -> list[Fault]:
    """All faults of the files in a folder, in the order of their names.

    Raises FaultError for one that is named twice or says nothing, or too much, of who convicts it.
    """
    found: list[Fault] = []
    for path in sorted(folder.glob("*.toml")):
        try:
            found += msgspec.convert(tomllib.loads(path.read_text()), _List).fault
        except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
            raise FaultError(f"{path.name}: {error}") from None
    for name, count in Counter(fault.id for fault in found).items():
        if count > 1:
            raise FaultError(f"{name}: named {count} times; give each fault a name of its own")
    for fault in found:
        if sum(map(bool, (fault.claims, fault.test, fault.benign))) != 1:
            raise FaultError(f"{fault.id}: say its claims, or a test, or why it is benign")
        if bool(fault.test) != bool(fault.why):
            raise FaultError(f"{fault.id}: a test needs a reason why no claim can, and only a test")
    return found


def planted(fault: Fault, root: Path = ROOT) -> str:
    """The text of the fault's file with the fault in it.

    Raises FaultError unless the old text occurs exactly once and the new text is Python.
    """
    path = root / fault.file
    if fault.file.split("/")[0] not in ROOMS or not path.is_file():
        raise FaultError(f"{fault.id}: {fault.file} is no file of the five rooms; name the file")
    text = path.read_text()
    if (count := text.count(fault.old)) != 1:
        raise FaultError(
            f"{fault.id}: its old text occurs {count} times in {fault.file}, not once; "
            f"follow the code: {fault.old.strip().splitlines()[0]!r}"
        )
    edited = text.replace(fault.old, fault.new)
    if edited == text:
        raise FaultError(f"{fault.id}: the edit changes nothing")
    try:
        ast.parse(edited)
    except SyntaxError as error:
        raise FaultError(f"{fault.id}: {fault.file} is no longer Python: {error}") from None
    return edited


def check(faults: Sequence[Fault], root: Path = ROOT) -> None:
    """Raise FaultError for the first fault that cannot be planted, or that names no such test."""
    for fault in faults:
        planted(fault, root)
        if fault.test and not (root / fault.test.split("::")[0]).is_file():
            raise FaultError(f"{fault.id}: there is no {fault.test}")


def pristine(target: Path, root: Path = ROOT) -> None:
    """Copy the rooms, compiled so that no file is ever taken for an edited one: by its hash."""
    for room in ROOMS:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(root / room, target / room, symlinks=True, ignore=ignored)
    compile_dir(target, quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH)


def plant(fault: Fault, source: Path, target: Path) -> None:
    """Copy what `pristine` made, with the fault in it."""
    shutil.copytree(source, target, symlinks=True)
    (target / fault.file).write_text(planted(fault, source))
