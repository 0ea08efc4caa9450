"""No module imports itself by way of others, not even within a function or for types alone."""

import ast
import os
from collections.abc import Iterator
from graphlib import TopologicalSorter
from importlib.util import find_spec
from pathlib import Path

import pytest

HOUSE = Path(str(find_spec("rnnbounds").origin)).parent


def modules() -> dict[str, Path]:
    """Every module of the package and its file; packages by their own names."""
    found = {}
    files = (
        Path(folder) / name
        for folder, _, names in os.walk(HOUSE, followlinks=True)
        for name in names
        if name.endswith(".py")
    )
    for path in files:
        parts = path.relative_to(HOUSE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(path: Path, known: dict[str, Path]) -> Iterator[str]:
    """The modules of the house that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module in known:
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (name if name in known else node.module for name in names)


@pytest.mark.slow
def test_no_module_imports_itself():
    """CycleError, which names the modules, if one does."""
    known = modules()
    graph = {name: set(imported(path, known)) for name, path in known.items()}
    assert len(list(TopologicalSorter(graph).static_order())) == len(known)
