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

ROOT = Path(__file__).parents[2]
ROOMS = ("theory", "impl", "properties", "reports")
PACKAGES = (
    "rnnbounds", "torch", "numpy", "sympy", "hypothesis", "z3-solver", "python-flint", "msgspec",
    "clarabel",
)  # fmt: skip
COMMIT_VARIABLES = ("GITHUB_SHA", "CI_COMMIT_SHA")  # where a container has no git


def package_versions() -> dict[str, str]:
    """The packages that results depend on, and Python, by name."""
    return {name: installed_version(name) for name in PACKAGES} | {
        "python": platform.python_version()
    }


def installed_version(package: str) -> str:
    """The installed version of a package."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


@cache
def fingerprint() -> dict[str, str]:
    """`package_versions`, that of rnnbounds with a digest of its code: two checkouts share a
    number.

    Taken once in a process, which goes on with the code that it has loaded.
    """
    packages = package_versions()
    return packages | {"rnnbounds": f"{packages['rnnbounds']} (code {code_digest()})"}


def code_digest() -> str:
    """Twelve digits that change with the code of the rooms which a run depends on."""
    code = sha256()
    for path in sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py")):
        code.update(f"{path.relative_to(ROOT).as_posix()}\0".encode())
        code.update(path.read_bytes() + b"\0")
    return code.hexdigest()[:12]


def describe_difference(own: dict[str, str], other: dict[str, str]) -> str:
    """Describe the packages whose versions differ there, in words; empty if none."""
    texts = (
        f"{name} {other.get(name, 'not installed')} where this machine has {own_version}"
        for name, own_version in own.items()
        if other.get(name) != own_version
    )
    return ", ".join(texts)


def current_commit() -> str:
    """The commit's hash, with "-dirty" where files differ from it; empty where there is none."""
    command = ("git", "describe", "--always", "--exclude=*", "--abbrev=64", "--dirty")
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        candidates = [result.stdout.strip()] if result.returncode == 0 else []
    except OSError:
        candidates = []
    candidates += [os.environ.get(name, "") for name in COMMIT_VARIABLES]
    return next(
        (word for word in candidates if re.fullmatch(r"[0-9a-f]{40,64}(-dirty)?", word)), ""
    )
