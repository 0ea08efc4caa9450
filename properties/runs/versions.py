"""Versions of the code and of the packages that results depend on, and the commit of a run."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

HOUSE = Path(__file__).parents[2]
CODE = ("theory", "impl", "properties", "reports")
PACKAGES = (
    "rnnbounds", "torch", "numpy", "sympy", "hypothesis", "z3-solver", "python-flint", "msgspec",
    "clarabel",
)  # fmt: skip
SAID = ("GITHUB_SHA", "CI_COMMIT_SHA")  # where a container has no git


def versions() -> dict[str, str]:
    """The packages that results depend on, and Python, by name."""
    return {name: found(name) for name in PACKAGES} | {"python": platform.python_version()}


def found(package: str) -> str:
    """The installed version of a package."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


@cache
def fingerprint() -> dict[str, str]:
    """`versions`, that of rnnbounds with a digest of its code: two checkouts share a number.

    Taken once in a process, which goes on with the code that it has loaded.
    """
    told = versions()
    return told | {"rnnbounds": f"{told['rnnbounds']} (code {digest()})"}


def digest() -> str:
    """Twelve digits that change with the code of the rooms which a run depends on."""
    code = sha256()
    for path in sorted(path for room in CODE for path in (HOUSE / room).rglob("*.py")):
        code.update(f"{path.relative_to(HOUSE).as_posix()}\0".encode())
        code.update(path.read_bytes() + b"\0")
    return code.hexdigest()[:12]


def difference(here: dict[str, str], there: dict[str, str]) -> str:
    """Describe the packages whose versions differ there, in words; empty if none."""
    told = (
        f"{name} {there.get(name, 'not installed')} where this machine has {mine}"
        for name, mine in here.items()
        if there.get(name) != mine
    )
    return ", ".join(told)


def commit() -> str:
    """The commit's hash, with "-dirty" where files differ from it; empty where there is none."""
    asked = ("git", "describe", "--always", "--exclude=*", "--abbrev=64", "--dirty")
    try:
        ran = subprocess.run(asked, capture_output=True, text=True, check=False)
        told = [ran.stdout.strip()] if ran.returncode == 0 else []
    except OSError:
        told = []
    told += [os.environ.get(name, "") for name in SAID]
    return next((word for word in told if re.fullmatch(r"[0-9a-f]{40,64}(-dirty)?", word)), "")
