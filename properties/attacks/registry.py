"""Checks of every claim before a run: its name is unique, its systems exist, and these systems have
its quantities."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from traceback import extract_tb

import numpy as np

from rnnbounds.properties.attacks.extremal import extremal_specs
from rnnbounds.properties.errors import InputError
from rnnbounds.properties.judging.judge import free_names
from rnnbounds.properties.measures.table import MEASURES, paths
from rnnbounds.properties.systems.batch import Batch, build
from rnnbounds.properties.systems.table import FAMILIES, KINDS, kinds_about
from rnnbounds.theory.language.vocabulary import quantity
from rnnbounds.theory.proof.claim import Claim, Form, Statement, Variant
from rnnbounds.theory.registry import check_claims, stated

PRECISION = 128  # bits
# Where a quantity gets its value, by its role.
PLACES = {
    "parameter": "properties/systems/supply/parameters.py",
    "certified": "impl/gradients/constants.py",
    "measured": "properties/measures",
}


class UnknownKindError(InputError):
    """A form about systems that do not exist."""

    def __init__(self, where: str, kind: str) -> None:
        super().__init__(
            f"{where} is about {kind!r}, which is not a kind of system; "
            f"choose among {', '.join((*KINDS, *FAMILIES))}"
        )


class UnsuppliedError(InputError):
    """A statement speaks of a quantity that no system of its kinds has."""

    def __init__(self, where: str, name: str, kinds: Sequence[str], why: str = "") -> None:
        place, given = PLACES[quantity(name).role], ", ".join(kinds)
        reason = f" ({why})" if why else ""
        super().__init__(
            f"{where} speaks of {name!r}, which no system of the kind {given} has{reason}; "
            f"compute it in {place}, or state the bound without it"
        )


def registered(table: Sequence[Claim], chosen: Sequence[Claim]) -> None:
    """Check the table of claims, and what the chosen ones speak of.

    Raises:
        InputError: the first fault, in one line.
    """
    check_claims(table)
    for path in paths():
        quantity(path.name)  # raises UnknownNameError
    for claim in chosen:
        for form in claim.forms:
            if form.about not in KINDS and form.about not in FAMILIES:
                raise UnknownKindError(f"{claim.id} ({form.name})", form.about)
            supplied(f"{claim.id} ({form.name})", form, form.about)
        for variant in claim.false_variants:
            supplied(f"{claim.id} ({variant.id})", variant, claim.form(variant.form).about)


def supplied(where: str, part: Form | Variant, about: str) -> None:
    """Raise UnsuppliedError for what the systems that it is about do not have."""
    for kind in kinds_about(about):
        for name in missing(kind.name, *stated(part)):
            raise UnsuppliedError(where, name, (about,), lack(kind.name, name) or "")


def missing(kind: str, *statements: Statement) -> list[str]:
    """The names in the statements for which a system of this kind has no value."""
    return [name for name in sorted(free_names(*statements)) if not has(kind, name)]


def has(kind: str, name: str) -> bool:
    """True if systems of a kind have the quantity, judged by one sample system."""
    return lack(kind, name) is None


@cache
def lack(kind: str, name: str) -> str | None:
    """None if one of the systems of a kind has the quantity; else what reading it there raised,
    if it did."""
    role, system = quantity(name).role, sample(kind)
    if role == "measured" and name not in MEASURES:
        return ""
    if system is None:
        return None
    try:
        if role == "measured":
            return None if measurable(name, system) else ""
        if role == "certified":
            system.constant(name)  # infinite where the system at hand has none
            return None
    except (ValueError, RuntimeError, LookupError, AttributeError, AssertionError, TypeError) as e:
        return f"reading it off one with T = {system.spec.T} raised {told(e)}"
    found = system.parameters.get(name)
    return None if found is not None and not bool(np.isnan(found).all()) else ""


def told(error: Exception) -> str:
    """An exception, and where it was raised."""
    place = extract_tb(error.__traceback__)[-1]
    file = "/".join(Path(place.filename).parts[-3:])
    return f"{type(error).__name__}: {error} at {file}:{place.lineno}"


def measurable(name: str, system: Batch) -> bool:
    """True if a measured quantity has a finite upper end in floats, or a ball other than NaN."""
    with np.errstate(all="ignore"):
        found = MEASURES[name].enclose(system)
    seen = bool(np.isfinite(found.hi).any())
    return seen or not MEASURES[name].ball(system, min(system.K, 1), PRECISION).is_nan()


@cache
def sample(kind: str) -> Batch | None:
    """One small system of the kind; None for what has no worst instance."""
    spec = next(iter(extremal_specs(kind, rounding=False)), None)
    return None if spec is None else build(spec.alone(0, 0))
