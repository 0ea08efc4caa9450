"""The table of contents of cells: all that `--cell` can name.

What is listed comes in reading order; any other module of this folder that ends in its ``KINDS``
comes after, so that a new cell is one file.
"""

import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.impl.cells.deep import DEEP_KINDS
from rnnbounds.impl.cells.gated import GRU_CHO_KIND, GRU_KIND, LSTM_KIND, LSTM_PROJECTED_KIND
from rnnbounds.impl.cells.kind import Kind
from rnnbounds.impl.cells.leaky import LEAKY_KINDS
from rnnbounds.impl.cells.stacks.stack import PREFIX, stack_kind
from rnnbounds.impl.cells.stacks.stack_analysis import CASCADE
from rnnbounds.impl.cells.vanilla import vanilla_kind
from rnnbounds.impl.errors import InputError, UnknownNameError

_KINDS = (
    vanilla_kind("linear", ACTIVATIONS["identity"]),
    *(vanilla_kind(f"rnn-{name}", rho) for name, rho in ACTIVATIONS.items() if name != "identity"),
    LSTM_KIND,
    LSTM_PROJECTED_KIND,
    GRU_KIND,
    GRU_CHO_KIND,
    *LEAKY_KINDS,
    *DEEP_KINDS,
)


STACK = "stack"  # of layers of any kind that fits


def _twice(name: str) -> InputError:
    return InputError(f"two cells are named {name!r}; give one of them another name")


def entries_of_modules(table: str, file: str, name: str, *excluded: str) -> Iterator[Any]:
    """Whatever modules beside a table, all but it and a few, end in under a name, module by module.

    table, file: the table's own __name__ and __file__.
    """
    package, table_module = table.rsplit(".", 1)
    modules = sorted(module.name for module in iter_modules([str(Path(file).parent)]))
    for module in modules:
        if module not in (table_module, *excluded):
            yield from getattr(import_module(f"{package}.{module}"), name, ())


CELLS: dict[str, Kind] = {}
for _kind in (*_KINDS, *entries_of_modules(__name__, __file__, "KINDS", "runs")):
    if CELLS.setdefault(_kind.name, _kind) is not _kind:
        raise _twice(_kind.name)
NORM_NAMES = (*dict.fromkeys(norm for kind in CELLS.values() for norm in kind.norms), CASCADE)


def register(*kinds: Kind) -> None:
    """Add kinds of cells to those that `--cell` names, for this process; a kind that is there
    already, by the same object, stays. Raises InputError, also for a name
    that another kind has.

    >>> rnnbounds.cells.register(kind)
    >>> rnnbounds.certify(weights, inputs=1.0, cell=kind.name)
    """
    for kind in kinds:
        if not isinstance(kind, Kind):
            fault = f"a {type(kind).__name__} is no kind of cell"
            raise InputError(f"{fault}; register what program_kind returns")
        if not re.fullmatch(r"[\w.+-]+", kind.name) or kind.name.startswith("-"):
            fault = f"a cell is named {kind.name!r}"
            raise InputError(f"{fault}; name it with letters, digits, '-', '_', '.' and '+'")
        if unknown := [norm for norm in kind.norms if norm not in NORM_NAMES]:
            fault = f"{kind.name} names the norm {unknown[0]!r}, which is unknown"
            raise InputError(f"{fault}; choose among {', '.join(NORM_NAMES)}")
        if kind.name.startswith(PREFIX) or kind.name == STACK:
            raise InputError(f"a cell is named {kind.name!r}; keep that name for stacks")
        if CELLS.get(kind.name, kind) is not kind:
            raise _twice(kind.name)
    CELLS.update({kind.name: kind for kind in kinds})


def register_installed() -> None:
    """Register the kinds of each entry point `rnnbounds.cells`: one, or several in a sequence.

    Raises InputError for one that cannot be imported.
    """
    for point in entry_points(group="rnnbounds.cells"):
        try:
            kinds = point.load()
        except Exception as cause:
            fault = f"{type(cause).__name__}: {' '.join(str(cause).split())[:120]}"
            what = f"the entry point {point.name} of rnnbounds.cells fails ({fault})"
            raise InputError(f"{what}; correct or remove {point.module}") from None
        register(*(kinds if isinstance(kinds, Sequence) else (kinds,)))


def kind_of(name: str) -> Kind:
    """The kind of that name, also of a stack, "stacked-lstm". Raises UnknownNameError."""
    inner = str(name).removeprefix(PREFIX)
    if inner not in CELLS:
        layers = PREFIX if str(name).startswith(PREFIX) else ""
        raise UnknownNameError("cell", name, [layers + known for known in CELLS])
    found = CELLS[inner]
    return found if inner == name else stack_kind(found)


register_installed()
