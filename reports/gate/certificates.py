"""Comparison of two certificates of one model: its bounds (λ, k, gain, …) and how it was read."""

from collections.abc import Iterator

from rnnbounds.reports.gate.certified import Certificate, Training, Window, by_eps
from rnnbounds.reports.gate.compare import differing, grown, ranked
from rnnbounds.reports.gate.questions import require_same_question
from rnnbounds.reports.gate.thresholds import Thresholds
from rnnbounds.reports.records.changes import Change, Changes, change, cut, listed
from rnnbounds.reports.words import plural

VERDICTS = ("certified", "undecided", "refuted")


def compare_certificates(old: Certificate, new: Certificate, allowed: Thresholds) -> Changes:
    """All changes from one to another; raises PairError for answers to different questions.

    The verdict, λ, each k, the gain, rounding and the size of a unitary equivalent may regress;
    all else is information.
    """
    require_same_question(old, new)
    promises = tuple(_promises(old, new, allowed))
    count = _count(old, new)
    return Changes(
        old=title(old), new=title(new), rows=(*promises, *_information(old, new)),
        fails=allowed.fails,
        unchanged=f"{count - len(promises)} of {plural(count, 'promise')} unchanged",
    )  # fmt: skip


def title(certificate: Certificate) -> str:
    """A certificate in a few words."""
    words = (certificate.family.replace("-", " "), certificate.cell, certificate.sha256[:12])
    return ", ".join(cut(word, 80) for word in words if word)


def _promises(old: Certificate, new: Certificate, allowed: Thresholds) -> Iterator[Change]:
    name, share = new.cell, allowed.factor
    yield from ranked(name, "verdict", VERDICTS, old.verdict, new.verdict)
    yield from grown(name, "λ", old.lam, new.lam, share=share)
    trained = [(one.training or Training()).windows for one in (old, new)]
    yield from _windows("k", name, allowed, old.truncation, new.truncation)
    yield from _windows("k after training", name, allowed, *trained)
    gains = [one.constants.get("gain") for one in (old, new)]
    yield from grown(name, "gain", *gains, share=share)
    yield from grown(name, "rounding", old.rounded, new.rounded, share=share)
    if isinstance(old.states, int) and isinstance(new.states, int):
        yield from grown(name, "states", old.states, new.states)


def _count(old: Certificate, new: Certificate) -> int:
    """How many promises either makes: the verdict, λ, each k, the gain, rounding, states."""
    trained = [one.training or Training() for one in (old, new)]
    return (
        2
        + len({**by_eps(old.truncation), **by_eps(new.truncation)})
        + len({**by_eps(trained[0].windows), **by_eps(trained[1].windows)})
        + any("gain" in one.constants for one in (old, new))
        + any(one.rounded is not None for one in (old, new))
        + (isinstance(old.states, int) and isinstance(new.states, int))
    )


def _windows(
    what: str, name: str, allowed: Thresholds, old: tuple[Window, ...], new: tuple[Window, ...]
) -> Iterator[Change]:
    """The k of each ε of either: no window for it is none that is certified."""
    before, after = by_eps(old), by_eps(new)
    for eps in {**before, **after}:
        both = before.get(eps), after.get(eps)
        yield from grown(name, f"{what} for ε = {eps!r}", *both, room=allowed.window)


def _information(old: Certificate, new: Certificate) -> Iterator[Change]:
    name, (before, after) = new.cell, map(_beside, (old, new))
    for what in before:
        yield from differing(name, what, before[what], after[what])
    for dtype in {**old.rounds_to_one, **new.rounds_to_one}:
        counts = [one.rounds_to_one.get(dtype, 0) for one in (old, new)]
        yield from differing(name, f"decays that may round to 1 in {dtype}", *counts)
    names = {**old.constants, **new.constants}
    others = [n for n in names if n != "gain" and old.constants.get(n) != new.constants.get(n)]
    if others:
        yield change("changed", name, "other constants", after=listed(others))


def _beside(one: Certificate) -> dict[str, float | str | None]:
    """Norm, input bound, states and the like of a certificate, by name; None where absent."""
    return {
        "norm": one.norm,
        "input bound": one.input_bound,
        "states": one.states if isinstance(one.states, str) else None,
        "norm of the readout": None if one.readout is None else one.readout.norm,
        "target bound": None if one.training is None else one.training.target_bound,
        "orthogonality defect": one.orthogonality_defect,
    }
