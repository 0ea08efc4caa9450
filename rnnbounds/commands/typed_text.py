"""Sentences and the JSON document about an attack on a user's statement."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_FLOOR, Context, Decimal

from msgspec.structs import replace

from rnnbounds.properties.attacks.scope import NEAR, Scope
from rnnbounds.properties.attacks.typed_statement import TypedResult
from rnnbounds.properties.judging.sides import has_windows
from rnnbounds.reports.records.checks import Check
from rnnbounds.reports.text import count, plural, round_up
from rnnbounds.theory import CLAIMS
from rnnbounds.theory.stated import Place, stated_by

CELLS_SHOWN = 3


def result_lines(result: TypedResult) -> Iterator[str]:
    """The result first, then the scope, then the commands that replay its checks."""
    text, counterexample, scope = result.stated.text, result.counterexample, result.scope
    if counterexample is not None:
        yield f"refuted: {counterexample.explanation} (by the {result.attack} attack)"
        yield f"{with_statement(counterexample, text).replay} --dump worst.npz"
        return
    if result.stands:
        yield f"not refuted: {text} ({counts_text(result)}); this is no proof"
    else:
        yield f"undecided: {text} ({counts_text(result)})"
        yield from undecided_lines(result, text)
    if place := stated_by(result.stated.statement, CLAIMS):
        yield proof_reference(place)
    if scope.cells:
        yield f"tried: {scope_text(scope, has_windows(result.stated.statement))}"
    if scope.tightest is not None and scope.ratio is not None:
        at = "" if scope.tightest.k is None else f", at k = {count(scope.tightest.k)}"
        replay = with_statement(scope.tightest, text).replay
        yield f"largest lhs/rhs: {round_down(scope.ratio)}{at}: {replay}"


def undecided_lines(result: TypedResult, text: str) -> Iterator[str]:
    """How near to equality the undecided checks are, one of them, and what to do."""
    scope = result.scope
    if not scope.cells:
        yield "no check meets the assumptions and side conditions; weaken them"
    if scope.open_check is None:
        return
    nearness = (
        f"lhs/rhs is within {NEAR:g} of 1 at {count(scope.near)} of {count(result.undecided)}"
    )
    yield f"undecided checks are on {plural(scope.open_systems, 'system')}; {nearness}"
    yield f"an example: {with_statement(scope.open_check, text).replay}"
    if scope.near:
        yield (
            "to decide what is near equality, multiply the right side by 1.0001: "
            "rounding errors hide a smaller difference"
        )


def proof_reference(place: Place) -> str:
    """Which proof shows the statement."""
    step = f", step '{place.step}'" if place.step else ""
    return f"`rnnbounds prove {place.claim}` proves it: form {place.form}{step}"


def counts_text(result: TypedResult) -> str:
    """How much was judged, and what of it was not decided."""
    checks = "1 check holds" if result.holds == 1 else f"{plural(result.holds, 'check')} hold"
    counts = [plural(result.systems, "system"), checks]
    if result.undecided:
        counts.append(f"{count(result.undecided)} undecided")
    if result.skipped:
        counts.append(f"{count(result.skipped)} of these over the limit of exact arithmetic")
    return ", ".join(counts)


def scope_text(scope: Scope, windows: bool) -> str:
    """The largest sizes, of which no system had all, and the first few cells."""
    sizes = [f"n ≤ {count(scope.n)}", f"T ≤ {count(scope.T)}"]
    sizes += [f"k ≤ {count(scope.k)}"] if windows else []
    sizes += [f"λ ≤ {round_up(scope.lam, 6)}"] if scope.lam is not None else []
    first_cells, other_cells = scope.cells[:CELLS_SHOWN], scope.cells[CELLS_SHOWN:]
    more = f" and {len(other_cells)} more" if other_cells else ""
    remark = "each by itself, and not every value"
    return f"{', '.join(sizes)} ({remark}); cells {', '.join(first_cells)}{more}"


def round_down(ratio: float) -> str:
    """A ratio in six digits, rounded down."""
    return f"{Context(prec=6, rounding=ROUND_FLOOR).create_decimal(Decimal(ratio)):g}"


def attack_document(result: TypedResult) -> dict[str, object]:
    """The JSON document of an attack on a typed statement."""
    check, scope, text = result.counterexample, result.scope, result.stated.text
    names = ("stands", "systems", "holds", "undecided", "skipped", "attack")
    return {
        "statement": text,
        **{name: getattr(result, name) for name in names},
        "counterexample": None if check is None else with_statement(check, text),
        "scope": {name: getattr(scope, name) for name in ("n", "T", "k", "lam", "cells")},
        "largest_ratio": scope.ratio,
        "undecided_systems": scope.open_systems,
        "near_equality": scope.near,
        "open_check": None if scope.open_check is None else with_statement(scope.open_check, text),
        "tightest": None if scope.tightest is None else with_statement(scope.tightest, text),
    }


def with_statement(check: Check, statement: str) -> Check:
    """The check with the command that replays it on the typed statement."""
    spec = check.replay.split(" --claim ")[0]
    return replace(check, replay=f"{spec} --statement '{statement}'")
