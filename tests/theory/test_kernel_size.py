"""The engine and what it reads fit on a desk, and what accepts a step on less: lines are counted.

All of the rooms language, kernel, proof and axioms; and of kernel and proof what the acceptance of
proofs imports, comments and blank lines included. Whoever needs more makes room first.
"""

import ast
from pathlib import Path

from rnnbounds import theory

ROOT = Path(theory.__file__).parent
ROOMS = ("language", "kernel", "proof", "axioms")
MOST, MOST_ACCEPTING = 7_391, 2_980


def lines(*paths: Path) -> int:
    """All lines of the files."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def imported(path: Path) -> set[Path]:
    """The modules of theory that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(theory.__name__):
            names = [f"{node.module}.{one.name}" for one in node.names]
            for name in (*names, str(node.module)):
                place = ROOT.joinpath(*name.split(".")[2:])
                found |= {place.with_suffix(".py"), place / "__init__.py"}
    return {each for each in found if each.is_file()}


def accepting() -> set[Path]:
    """The modules that accept proofs, and those that they import, by way of others too."""
    known, left = set[Path](), [ROOT / "proof" / "accept.py"]
    while left:
        path = left.pop()
        if path not in known:
            known.add(path)
            left += imported(path)
    return {path for path in known if path.relative_to(ROOT).parts[0] in ("kernel", "proof")}


def test_the_engine_and_what_it_reads_fit_on_a_desk() -> None:
    """The four rooms together."""
    files = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    assert lines(*files) <= MOST


def test_what_accepts_a_step_is_less() -> None:
    """What a reader of the soundness argument reads."""
    names = {path.stem for path in accepting()}
    assert names > {"terms", "door", "translate", "smt", "scope", "records", "base"}
    assert not names & {"claim", "proof", "shown", "steps", "variants"}
    assert lines(*accepting()) <= MOST_ACCEPTING
