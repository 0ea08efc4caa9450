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
from rnnbounds.properties.judging.judge import quantity_names
from rnnbounds.properties.measures.table import MEASURES, fast_paths
from rnnbounds.properties.systems.batch import PARAMETERS, Batch, build_batch
from rnnbounds.properties.systems.table import FAMILIES, KINDS, kinds_about
from rnnbounds.theory.language.vocabulary import quantity
from rnnbounds.theory.proof.claim import Claim, Form, Statement, Variant
from rnnbounds.theory.registry import check_claims, stated

PRECISION = 128  # bits
# Where a quantity gets its value, by its role.
SOURCES = {
    "parameter": "properties/systems/batch.py",
    "certified": "impl/gradients/constants.py",
    "measured": "properties/measures",
}


def unsupplied(where: str, name: str, kinds: Sequence[str], why: str = "") -> InputError:
    """The error of a statement that speaks of a quantity that no system of its kinds has."""
    reason = f" ({why})" if why else ""
    return InputError(
        f"{where} speaks of {name!r}, which no system of the kind {', '.join(kinds)} has{reason}; "
        f"compute it in {SOURCES[quantity(name).role]}, or state the bound without it"
    )


def check_registry(table: Sequence[Claim], chosen: Sequence[Claim]) -> None:
    """Check the table of claims, and what the chosen ones speak of.

    Raises:
        InputError: the first fault, in one line.
    """
    check_claims(table)
    for path in fast_paths():
        quantity(path.name)  # raises UnknownNameError
    for claim in chosen:
        for form in claim.forms:
            where = f"{claim.id} ({form.name})"
            if form.about not in KINDS and form.about not in FAMILIES:
                raise InputError(
                    f"{where} is about {form.about!r}, which is not a kind of system; "
                    f"choose among {', '.join((*KINDS, *FAMILIES))}"
                )
            require_supplied(where, form, form.about)
        for variant in claim.false_variants:
            require_supplied(f"{claim.id} ({variant.id})", variant, claim.form(variant.form).about)


def require_supplied(where: str, part: Form | Variant, about: str) -> None:
    """Raise InputError for what the systems that it is about do not have."""
    for kind in kinds_about(about):
        for name in missing_quantities(kind.name, *stated(part)):
            raise unsupplied(where, name, (about,), missing_reason(kind.name, name) or "")


def missing_quantities(kind: str, *statements: Statement) -> list[str]:
    """The names in the statements for which a system of this kind has no value."""
    return [n for n in sorted(quantity_names(*statements)) if missing_reason(kind, n) is not None]


@cache
def missing_reason(kind: str, name: str) -> str | None:
    """None if one of the systems of a kind has the quantity; else what reading it there raised,
    if it did."""
    role, system = quantity(name).role, sample_system(kind)
    if role == "measured" and name not in MEASURES:
        return ""
    if system is None:
        return None
    try:
        if role == "measured":
            return None if is_measurable(name, system) else ""
        if role == "certified":
            system.constant(name)  # infinite where the system at hand has none
            return None
    except (ValueError, RuntimeError, LookupError, AttributeError, AssertionError, TypeError) as e:
        return f"reading it off one with T = {system.spec.T} raised {describe_error(e)}"
    known = name in PARAMETERS and not bool(np.isnan(system.parameters[name]).all())
    return None if known else ""


def describe_error(error: Exception) -> str:
    """An exception, and where it was raised."""
    frame = extract_tb(error.__traceback__)[-1]
    file = "/".join(Path(frame.filename).parts[-3:])
    return f"{type(error).__name__}: {error} at {file}:{frame.lineno}"


def is_measurable(name: str, system: Batch) -> bool:
    """True if a measured quantity has a finite upper end in floats, or a ball other than NaN."""
    with np.errstate(all="ignore"):
        enclosure = MEASURES[name].enclose(system)
    is_finite = bool(np.isfinite(enclosure.hi).any())
    return is_finite or not MEASURES[name].ball(system, min(system.K, 1), PRECISION).is_nan()


@cache
def sample_system(kind: str) -> Batch | None:
    """One small system of the kind; None for what has no worst instance."""
    spec = next(iter(extremal_specs(kind)), None)
    return None if spec is None else build_batch(spec.select_pair(0, 0))
