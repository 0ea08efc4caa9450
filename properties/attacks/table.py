"""The table of contents of attacks, one line each; runs and records have them in this order.

Any other module of this folder that ends in its ``ATTACKS`` comes after, so that a new attack is
one file. It is read when it is first asked for: what runs the attacks lies beside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from rnnbounds.impl.cells.table import entries_of_modules
from rnnbounds.properties.attacks.attack import Attack
from rnnbounds.properties.errors import InputError, UnknownChoiceError

_BUILTIN = ("random", "targeted", "gradient", "extremal")
ALL_ATTACKS = "all"


@cache
def attacks() -> Mapping[str, Attack]:
    """The attacks by their names; raises InputError for two of one name."""
    by_name: dict[str, Attack] = {}
    for attack in entries_of_modules(__name__, __file__, "ATTACKS"):
        if by_name.setdefault(attack.name, attack) is not attack:
            raise InputError(f"two attacks are named {attack.name!r}; rename one of them")
    names = (*_BUILTIN, *sorted(by_name.keys() - set(_BUILTIN)))
    return {name: by_name[name] for name in names}


def chosen_attacks(names: Iterable[str]) -> tuple[str, ...]:
    """The attacks in their own order, each once; of ``all``, every one.

    Raises:
        UnknownChoiceError: an unknown attack, or none at all.
    """
    requested, known = set(names), tuple(attacks())
    if requested == {ALL_ATTACKS}:
        return known
    for name in sorted(requested - set(known)) or ([] if requested else [""]):
        raise UnknownChoiceError("attack", name, known)
    return tuple(name for name in known if name in requested)
