"""The table of contents of kinds of systems, one line each; columns of the matrix in this order.

Any other module of this folder that ends in its ``KINDS`` comes after, so that a new kind is one
file, and then the cells of which nothing is listed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache, reduce
from operator import or_
from typing import Any

import msgspec
from hypothesis import strategies as st

from rnnbounds.impl.cells.table import CELLS, entries_of_modules
from rnnbounds.properties.errors import SpecError, UnknownChoiceError
from rnnbounds.properties.systems import causal
from rnnbounds.properties.systems.cells import gated, layers
from rnnbounds.properties.systems.cells import kinds as cells
from rnnbounds.properties.systems.exact import blocks, candidates, sigmoid, unitary
from rnnbounds.properties.systems.kind import DrawRequest, Family, Kind
from rnnbounds.properties.systems.spec import SystemSpec, check_spec
from rnnbounds.properties.systems.vanilla import learning, plain
from rnnbounds.reports.records.codec import require_unique

_KINDS = (
    *plain.NETWORKS,
    *learning.KINDS,
    *plain.OTHERS,
    *unitary.KINDS,
    *blocks.KINDS,
    *candidates.KINDS,
    *sigmoid.KINDS,
    gated.LSTM_KIND,
    cells.LSTM_PROJECTED,
    *gated.GRU_KINDS,
    *layers.KINDS,
    *cells.KINDS,
    *causal.KINDS,
)


def _all_kinds() -> Iterable[Kind]:
    """All kinds: those listed, those that other modules of this folder end in, and one for each
    cell of which none of these draws a system."""
    kinds = (*_KINDS, *entries_of_modules(__name__, __file__, "KINDS"))
    drawn_cells = {cell for kind in kinds for cell in kind.cell_names}
    return (
        *kinds,
        *(cells.plain_kind(cell) for name, cell in CELLS.items() if name not in drawn_cells),
    )


def kinds_by_name(kinds: Iterable[Kind]) -> dict[str, Kind]:
    """The kinds by their names; raises SpecError for two of one name."""
    found: dict[str, Kind] = {}
    for kind in kinds:
        if found.setdefault(kind.name, kind) is not kind:
            raise SpecError(f"two kinds of system are named {kind.name!r}")
    return found


KINDS: Mapping[str, Kind] = kinds_by_name(_all_kinds())
UNION: Any = reduce(or_, (kind.spec_type for kind in KINDS.values()))
# What `about` may say for any of several kinds.
FAMILIES: Mapping[str, Family] = {
    "cell": Family(
        {name: kind for name, kind in KINDS.items() if kind.family == "cell"},
        cells.draw_cell_spec, cells.worst_cell_specs,
    ),
    # Any two losses, those of a model and of its truncation among them.
    "losses": Family({kind.name: kind for kind in (learning.TRAINING, learning.QUADRATIC)}),
}  # fmt: skip


def find_kind(name: str) -> Kind:
    """The kind of that name; raises UnknownChoiceError."""
    if name not in KINDS:
        raise UnknownChoiceError("kind of system", name, tuple(KINDS))
    return KINDS[name]


def kinds_about(name: str) -> tuple[Kind, ...]:
    """The kinds of a family, or the one kind of that name."""
    return tuple(FAMILIES[name].members.values()) if name in FAMILIES else (find_kind(name),)


@st.composite
def specs(draw: st.DrawFn, /, kind: str, family: str | None = None, **wanted: Any) -> SystemSpec:
    """A spec of one kind, as `DrawRequest` asks; as one of a family, what is drawn of all its
    kinds."""
    return draw(_spec_strategy(kind, family, DrawRequest(**wanted)))


@cache
def _spec_strategy(
    kind: str, family: str | None, request: DrawRequest
) -> st.SearchStrategy[SystemSpec]:
    own = find_kind(kind)
    together = None if family is None else FAMILIES[family].spec_strategy
    return own.spec_strategy(request) if together is None else together(own.spec, request)


def make_spec(kind: str = "rnn", **fields: Any) -> SystemSpec:
    """The spec of these fields; raises TypeError for one that the kind does not use."""
    return find_kind(kind).spec(**fields)


def parse_spec(text: str | bytes) -> SystemSpec:
    """Read a spec from JSON and check every field.

    Raises:
        SpecError: not JSON, a field that the kind does not use, one that is missing or there twice,
            or a value outside its range.
    """
    try:
        require_unique(text)
        fields = msgspec.json.decode(text)
        if isinstance(fields, dict) and "kind" not in fields:
            raise SpecError("a system spec that does not say its kind")
        spec: SystemSpec = msgspec.json.decode(text, type=UNION)
    except SpecError:
        raise
    except (ValueError, RecursionError) as error:
        raise SpecError(f"not a system spec of this version ({error})") from None
    missing = [name for name in spec.required_fields() if name not in fields]
    if missing:
        raise SpecError(f"a system spec that does not say its {', '.join(missing)}")
    check_spec(spec)
    return spec
