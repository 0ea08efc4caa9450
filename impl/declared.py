"""What the modules of a folder declare, for tables of contents that stay open."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any


def declared(table: str, file: str, name: str, *but: str) -> Iterator[Any]:
    """Whatever modules beside a table, all but it and a few, end in under a name, module by module.

    table, file: the table's own __name__ and __file__.
    """
    package, own = table.rsplit(".", 1)
    modules = sorted(module.name for module in iter_modules([str(Path(file).parent)]))
    for module in modules:
        if module not in (own, *but):
            yield from getattr(import_module(f"{package}.{module}"), name, ())
