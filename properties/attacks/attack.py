"""Record that describes an attack to the rest of the package, and the table of attacks.

An attack is one file of this folder that ends in its ``ATTACKS``. The table is read when it is
first asked for; runs and records have the attacks in its order, others after the first four.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from rnnbounds.impl.cells.table import entries_of_modules
from rnnbounds.properties.attacks.budget import Budget
from rnnbounds.properties.errors import InputError, UnknownChoiceError
from rnnbounds.properties.judging.judge import quantity_names
from rnnbounds.properties.measures.measure import Needs
from rnnbounds.properties.measures.table import needs_of
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.proof.claim import Form, Statement

_BUILTIN = ("random", "targeted", "gradient", "extremal")
ALL_ATTACKS = "all"
# Builds and judges the systems of a spec; the greatest lhs/rhs, None where nothing was decided.
Visit = Callable[[SystemSpec], float | None]


class StopAttack(Exception):  # noqa: N818 - a signal, not an error
    """Raised by a visitor that wants no more specs."""


@dataclass(frozen=True, eq=False)
class Case:
    """Task of an attack: statements about one kind of system, or about a family of kinds.

    example_size: systems and sequences of one example. factor: share of the random budget to spend.
    block: index of this part within a larger budget. typed: True if the statements are a user's, so
    that their worst instances are unknown.
    """

    kind: str
    statements: Sequence[Statement]
    budget: Budget
    example_size: tuple[int, int]
    seed: int
    factor: float = 1.0
    block: int = 0
    typed: bool = False

    @cached_property
    def needs(self) -> tuple[Needs, ...]:
        """Requirements of the statements' quantities on the batches to draw."""
        return needs_of(quantity_names(*self.statements))

    @cached_property
    def requirements(self) -> tuple[str, ...]:
        """Requirements of the statements on drawn systems, as flags of a `DrawRequest`; cases with
        equal ones and one example size share their systems."""
        flags = {
            "stepwise": any(map(measures_single_steps, self.statements)),
            "wide": any(need.wide for need in self.needs),
            "trained": any(need.trained for need in self.needs),
        }
        return tuple(name for name, is_set in flags.items() if is_set)


def measures_single_steps(statement: Statement) -> bool:
    """True if a statement measures single steps only, and no run."""
    quantities = (VOCABULARY[name] for name in quantity_names(statement))
    measured_quantities = [quantity for quantity in quantities if quantity.role == "measured"]
    return bool(measured_quantities) and all(
        quantity.is_single_step for quantity in measured_quantities
    )


@dataclass(frozen=True, eq=False)
class Attack:
    """One attack.

    name: as ``--attacks`` has it. search: shows specs to a visitor, as many as the budget says.
    idle_reason: why it has nothing to do for a form; empty where it may. share: how much of it a
    false variant meets before the whole of any attack. seeded: whether what it shows depends on the
    seed. directed: whether it goes where a statement comes near to falling, so that each statement
    asks for systems of its own. is_random: whether it shows the budget's random examples, one by
    one.
    """

    name: str
    search: Callable[[Case, Visit], None]
    idle_reason: Callable[[Form], str] = lambda form: ""
    share: float = 0.0
    seeded: bool = True
    directed: bool = False
    is_random: bool = False


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
