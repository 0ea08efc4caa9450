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

_FIRST = ("random", "targeted", "gradient", "extremal")
EVERY = "all"


@cache
def attacks() -> Mapping[str, Attack]:
    """The attacks by their names; raises InputError for two of one name."""
    found: dict[str, Attack] = {}
    for attack in entries_of_modules(__name__, __file__, "ATTACKS"):
        if found.setdefault(attack.name, attack) is not attack:
            raise InputError(f"two attacks are named {attack.name!r}; rename one of them")
    names = (*_FIRST, *sorted(found.keys() - set(_FIRST)))
    return {name: found[name] for name in names}


def check_attacks(names: Iterable[str]) -> tuple[str, ...]:
    """The attacks in their own order, each once; of ``all``, every one.

    Raises:
        UnknownChoiceError: an unknown attack, or none at all.
    """
    chosen, known = set(names), tuple(attacks())
    if chosen == {EVERY}:
        return known
    for name in sorted(chosen - set(known)) or ([] if chosen else [""]):
        raise UnknownChoiceError("attack", name, known)
    return tuple(name for name in known if name in chosen)
