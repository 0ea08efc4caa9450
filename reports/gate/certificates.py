"""Comparison of two certificates of one model: its bounds (λ, k, gain, …) and how it was read."""

from collections.abc import Iterator

from rnnbounds.reports.gate.certified import Certificate, Window, lengths_by_eps
from rnnbounds.reports.gate.compare import compare_bounds, compare_information, compare_ranks
from rnnbounds.reports.gate.questions import require_same_question
from rnnbounds.reports.gate.thresholds import Thresholds
from rnnbounds.reports.records.changes import Change, Changes, list_names, make_change, shorten
from rnnbounds.reports.words import plural

VERDICTS = ("certified", "undecided", "refuted")


def compare_certificates(old: Certificate, new: Certificate, allowed: Thresholds) -> Changes:
    """All changes from one to another; raises PairError for answers to different questions.

    The verdict, λ, each k, the gain, rounding and the size of a unitary equivalent may regress;
    all else is information.
    """
    require_same_question(old, new)
    promises = tuple(_promise_changes(old, new, allowed))
    count = _count_promises(old, new)
    return Changes(
        old=certificate_title(old), new=certificate_title(new),
        rows=(*promises, *_information_changes(old, new)), fails=allowed.fails,
        unchanged=f"{count - len(promises)} of {plural(count, 'promise')} unchanged",
    )  # fmt: skip


def certificate_title(certificate: Certificate) -> str:
    """A certificate in a few words."""
    words = (certificate.family.replace("-", " "), certificate.cell, certificate.sha256[:12])
    return ", ".join(shorten(word, 80) for word in words if word)


def _promise_changes(old: Certificate, new: Certificate, allowed: Thresholds) -> Iterator[Change]:
    name, share = new.cell, allowed.factor
    yield from compare_ranks(name, "verdict", VERDICTS, old.verdict, new.verdict)
    yield from compare_bounds(name, "λ", old.lam, new.lam, share=share)
    yield from _window_changes(name, allowed, old.truncation, new.truncation)
    gains = [side.constants.get("gain") for side in (old, new)]
    yield from compare_bounds(name, "gain", *gains, share=share)
    yield from compare_bounds(name, "rounding", old.rounding_bound, new.rounding_bound, share=share)
    if isinstance(old.states, int) and isinstance(new.states, int):
        yield from compare_bounds(name, "states", old.states, new.states)


def _count_promises(old: Certificate, new: Certificate) -> int:
    """How many promises either makes: the verdict, λ, each k, the gain, rounding, states."""
    return (
        2
        + len({**lengths_by_eps(old.truncation), **lengths_by_eps(new.truncation)})
        + any("gain" in side.constants for side in (old, new))
        + any(side.rounding_bound is not None for side in (old, new))
        + (isinstance(old.states, int) and isinstance(new.states, int))
    )


def _window_changes(
    name: str, allowed: Thresholds, old: tuple[Window, ...], new: tuple[Window, ...]
) -> Iterator[Change]:
    """The k of each ε of either: no window for it is none that is certified."""
    before, after = lengths_by_eps(old), lengths_by_eps(new)
    for eps in {**before, **after}:
        windows = before.get(eps), after.get(eps)
        yield from compare_bounds(name, f"k for ε = {eps!r}", *windows, margin=allowed.window)


def _information_changes(old: Certificate, new: Certificate) -> Iterator[Change]:
    name, (before, after) = new.cell, map(_other_fields, (old, new))
    for field in before:
        yield from compare_information(name, field, before[field], after[field])
    for dtype in {**old.rounds_to_one, **new.rounds_to_one}:
        counts = [side.rounds_to_one.get(dtype, 0) for side in (old, new)]
        yield from compare_information(name, f"decays that may round to 1 in {dtype}", *counts)
    names = {**old.constants, **new.constants}
    changed = [n for n in names if n != "gain" and old.constants.get(n) != new.constants.get(n)]
    if changed:
        yield make_change("changed", name, "other constants", after=list_names(changed))


def _other_fields(certificate: Certificate) -> dict[str, float | str | None]:
    """Norm, input bound, states and the like of a certificate, by name; None where absent."""
    return {
        "norm": certificate.norm,
        "input bound": certificate.input_bound,
        "states": certificate.states if isinstance(certificate.states, str) else None,
        "norm of the readout": None if certificate.readout is None else certificate.readout.norm,
        "orthogonality defect": certificate.orthogonality_defect,
    }
