"""What has to be the same wherever parts of one run are done: the code, and what it rests on."""

from __future__ import annotations

import platform
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
    """What is not the same there, in words; empty if nothing."""
    told = (
        f"{name} {there.get(name, 'not installed')} where this machine has {mine}"
        for name, mine in here.items()
        if there.get(name) != mine
    )
    return ", ".join(told)
