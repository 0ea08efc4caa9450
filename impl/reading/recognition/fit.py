"""How the names of tensors that belong together fit one kind of cell: name by name, exactly.

A cell's own group is what shares its prefix. What lies below that prefix belongs to it too, say
what torch keeps of a parametrised weight; under the root, where whatever stands beside the cell has
a prefix of its own, only that does.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from rnnbounds.impl.cells.kind import Kind, Layout
from rnnbounds.impl.cells.stacks.stack import count_stack_layers, stack_kind
from rnnbounds.impl.cells.table import kind_of

PLAIN = (Tensor, torch.nn.Parameter)
TORCH = re.compile(r"(weight|bias)_[hi][hir](_l\d+\w*)?")
_PARAMETRISED = "parametrizations."
_PROJECTED = {  # what torch's modules become with a proj_size
    "lstm": "lstm-projected",
    "stacked-lstm": "stacked-lstm-projected",
}

Group = Mapping[str, str]  # full names by those without the prefix


def direct(names: Iterable[str]) -> dict[str, dict[str, str]]:
    """The names by their prefixes: {"rnn.": {"weight_hh_l0": "rnn.weight_hh_l0"}}."""
    found: dict[str, dict[str, str]] = {}
    for full in names:
        prefix, dot, own = full.rpartition(".")
        found.setdefault(prefix + dot, {})[own] = full
    return found


def owned(prefix: str, names: Iterable[str]) -> dict[str, str]:
    """The group of a cell with that prefix."""
    if prefix:
        return {full[len(prefix) :]: full for full in names if full.startswith(prefix)}
    return {full: full for full in names if "." not in full or full.startswith(_PARAMETRISED)}


@dataclass(frozen=True)
class Fit:
    """A kind and a group: `places` has the name in the group of each role, there or not.

    known: all tensors of the source by full name. ignored: the full names that are left out.
    """

    kind: Kind
    layout: Layout
    places: Mapping[str, str]
    group: Group
    known: Mapping[str, Tensor]
    ignored: tuple[str, ...]

    @property
    def tensors(self) -> dict[str, str]:
        """The full names of what is read, by role."""
        held = {role: self.group[own] for role, own in self.places.items() if own in self.group}
        return {role: full for role, full in held.items() if full not in self.ignored}

    @property
    def weights(self) -> dict[str, Tensor]:
        """The tensors that are read, by role."""
        return {role: self.known[full] for role, full in self.tensors.items()}

    @property
    def elsewhere(self) -> tuple[str, ...]:
        """Full names of all that is neither read nor ignored: tensors, then other things, say an
        epoch."""
        further = self.known.keys() - set(self.tensors.values()) - set(self.ignored)
        return tuple(sorted(further, key=lambda full: (type(self.known[full]) not in PLAIN, full)))

    @property
    def missing(self) -> list[str]:
        """Names that the kind needs and the group has not."""
        needed = (self.places[role] for role in self.layout.required)
        return [own for own in needed if own not in self.group]

    @property
    def dropped(self) -> list[str]:
        """Full names that the kind needs, but that are to be ignored."""
        needed = (self.group.get(self.places[role], "") for role in self.layout.required)
        return [full for full in needed if full in self.ignored]

    @property
    def unread(self) -> list[str]:
        """Names in the group that nothing reads and nobody said to ignore."""
        read = set(self.places.values())
        return sorted(
            own for own, full in self.group.items() if own not in read and full not in self.ignored
        )

    @property
    def exact(self) -> bool:
        """True if every required name is read and there is no other."""
        return not (self.missing or self.dropped or self.unread)

    @property
    def shapes_fitting(self) -> int:
        """How many shapes fit until one does not."""
        return self.layout.count_fitting(self.weights)

    @property
    def fits(self) -> bool:
        """True if all shapes fit the layout."""
        return self.shapes_fitting == len(self.layout.shapes)


def fit(
    kind: Kind, group: Group, known: Mapping[str, Tensor], ignored: tuple[str, ...],
    *, forced: bool = False,
) -> Fit:  # fmt: skip
    """How a group fits a kind, or, of torch's, what that becomes by its names: projected, layered.

    forced: a stack is asked for. A cell of torch's stands alone without a number (`weight_hh`) or
    as a layer with one (`weight_hh_l0`), all names alike. Raises InputError for too many layers.
    """
    end = _ending(kind, group, ignored)
    if kind.name in _PROJECTED and f"weight_hr{end if kind.suffix else '_l0'}" in group:
        kind = kind_of(_PROJECTED[kind.name])
    layout = kind.layout(group)
    places = {name: name + end for name in layout.shapes}
    layers = count_stack_layers(kind, group) if kind.suffix and end else 1
    if kind.suffix and (forced or layers > 1):
        kind = stack_kind(kind)
        layout = kind.layout(group if end else ())
        places = {name: name if end else name.removesuffix("_l0") for name in layout.shapes}
    return Fit(kind, layout, places, group, known, ignored)


def _ending(kind: Kind, group: Group, ignored: Collection[str]) -> str:
    """Find the suffix of a cell's names: none, or the one torch appends to those of a layer."""
    anchor = kind.layout(()).required[0]
    left = {own for own, full in group.items() if full not in ignored}
    for names in (left, group.keys()):
        if anchor in names or anchor + kind.suffix in names:
            return kind.suffix if anchor + kind.suffix in names else ""
    return kind.suffix


def holds(kind: Kind, group: Group, *, asked: bool) -> bool:
    """True if names are of that kind; the first suffices if it is `asked` for, or torch's."""
    required = kind.layout(group).required
    if kind.suffix:
        return required[0] in group or required[0] + kind.suffix in group
    return all(name in group for name in (required[:1] if asked else required))
