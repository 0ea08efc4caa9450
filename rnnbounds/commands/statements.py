"""``rnnbounds attack`` and ``replay``: one typed statement on many systems, or one check again."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import suppress
from decimal import ROUND_FLOOR, Context, Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec.structs import replace

from rnnbounds.commands.attacks import Attacks, Profile
from rnnbounds.commands.options import Device, FormatOption, Seed, path_option
from rnnbounds.properties.collector import limit_collector
from rnnbounds.reports.records.checks import Check
from rnnbounds.reports.text import count, plural, round_up
from rnnbounds.reports.text import plain_number as digits
from rnnbounds.shell.output import (
    Format,
    check_target,
    echo,
    print_json,
    print_table,
    show_status,
)

if TYPE_CHECKING:
    from rnnbounds.properties.attacks.scope import Scope
    from rnnbounds.properties.attacks.typed_statement import TypedResult

FAILING = ("VIOLATED", "UNDECIDED")


def attack(
    statement: Annotated[str, typer.Argument(metavar="STATEMENT",
        help="a bound with names, or as pages print it: "
        "'h_gap <= S_0*lam**k/(1-lam)' or '‖h_T − h_T^(k)‖ ≤ S_0 λ^k/(1 − λ)'; behind it "
        "side conditions on k, T and lam, ', k >= 1, k < T'")],
    profile_name: Profile = "quick",
    attacks: Attacks = "all",
    seed: Seed = 0,
    device: Device = "cpu",
    format: FormatOption = Format.text,
) -> int:  # fmt: skip
    """Attack a bound of your own; exit 1 if it is refuted, with a shrunk counter-example, or if a
    check is undecided. Exit 0 is no proof: it says what was tried."""
    with suppress(OSError):  # of a name that is too long
        if Path(statement).is_file():
            model = f"rnnbounds certify {shlex.quote(statement)} --attack"
            raise typer.BadParameter(f"a file is no bound; to attack a model say '{model}'")
    from rnnbounds.theory.language.parse import parse_conditional

    stated = parse_conditional(statement)
    from rnnbounds.impl.models.device import check_device
    from rnnbounds.properties.attacks.attack import chosen_attacks
    from rnnbounds.properties.attacks.budget import profile
    from rnnbounds.properties.attacks.typed_statement import attack_typed

    limit_collector()
    with show_status("attacking") as advance:
        result = attack_typed(
            stated, budget=profile(profile_name), seed=seed, progress=advance,
            attacks=chosen_attacks(attacks.split(",")), device=check_device(device),
        )  # fmt: skip
    if format is Format.json:
        print_json(attack_document(result))
    else:
        for line in result_lines(result):
            echo(line)
    return int(not result.stands)


def replay(
    spec: Annotated[str, typer.Argument(metavar="SPEC",
        help="the spec, as a failure or the page printed it")],
    claim: Annotated[str | None, typer.Option(help="the claim")] = None,
    form: Annotated[str | None,
        typer.Option(help="its form or false variant; the first by default")] = None,
    statement: Annotated[str | None, typer.Option(help="a statement instead of a claim")] = None,
    dump: Annotated[Path | None, path_option("--dump", "FILE",
        "write the system, its states, the constants and both sides to this .npz file")] = None,
    format: FormatOption = Format.text,
) -> int:  # fmt: skip
    """Re-run one check from its spec; exit 1 unless it holds (or is vacuous)."""
    if (claim is None) == (statement is None) or (statement is not None and form is not None):
        raise typer.BadParameter("name a --claim (and its --form) or a --statement, as printed")
    if dump is not None:
        check_target(dump, ".npz")
    from rnnbounds.properties.attacks.typed_statement import typed_assumptions
    from rnnbounds.properties.judging.simplification import simplify_statement
    from rnnbounds.properties.runs.replay import dump_system, find_statement
    from rnnbounds.properties.runs.replay import replay as replay_spec
    from rnnbounds.theory import claim as claim_of
    from rnnbounds.theory.language.parse import parse_conditional

    if statement is not None:
        stated = parse_conditional(statement)
        assumptions = typed_assumptions(stated.statement, stated.conditions)
        replayed = replay_spec(spec, simplify_statement(stated.statement), assumptions)
        checks = [with_statement(check, stated.text) for check in replayed.checks]
    else:
        claim = str(claim)
        form = form or claim_of(claim).forms[0].name
        replayed = replay_spec(spec, *find_statement(claim, form), claim, form)
        checks = list(replayed.checks)
    if dump is not None:
        dump_system(replayed, dump)
    if format is Format.json:
        print_json(checks)
    else:
        print_table(
            ("k", "lhs", "±", "rhs", "±", "lhs/rhs", "verdict"), [check_row(c) for c in checks]
        )
        for name, values in replayed.constants.items():
            echo(f"{name} = {', '.join(map(digits, values.ravel().tolist()))}")
    return int(any(check.verdict in FAILING for check in checks))


def check_row(check: Check) -> tuple[object, ...]:
    """Both sides of a check with their errors."""
    sides = (check.lhs, check.lhs_error, check.rhs, check.rhs_error)
    window, ratio = ("-" if value is None else value for value in (check.k, check.ratio))
    reason = f" ({check.explanation})" if check.explanation else ""
    return (window, *sides, ratio, check.verdict + reason)


CELLS_SHOWN = 3


def result_lines(result: TypedResult) -> Iterator[str]:
    """The result first, then the scope, then the commands that replay its checks."""
    from rnnbounds.properties.judging.judge import has_windows
    from rnnbounds.theory import CLAIMS
    from rnnbounds.theory.stated import stated_by

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
        step = f" --step {shlex.quote(place.step)}" if place.step else ""
        command = f"rnnbounds prove {place.claim} --form {place.form}{step}"
        yield f"proved under its assumptions: {command}"
    if assumed := assumed_texts(result):
        yield f"assumed: {', '.join(assumed)}"
    if scope.cells:
        yield f"tried: {scope_text(scope, has_windows(result.stated.statement))}"
    if scope.tightest is not None and scope.ratio is not None:
        at = "" if scope.tightest.k is None else f", at k = {count(scope.tightest.k)}"
        replay = with_statement(scope.tightest, text).replay
        down = Context(prec=6, rounding=ROUND_FLOOR).create_decimal(Decimal(scope.ratio))
        yield f"largest lhs/rhs: {down:g}{at}: {replay}"


def undecided_lines(result: TypedResult, text: str) -> Iterator[str]:
    """How near to equality the undecided checks are, one of them, and what to do."""
    from rnnbounds.properties.attacks.scope import NEAR
    from rnnbounds.theory.language.printing import statement_text

    scope = result.scope
    if result.unreachable is not None:
        yield (
            f"no check can meet {statement_text(result.unreachable)}: λ ≥ 1 is not attacked, "
            "only 0 ≤ λ < 1"
        )
    elif not scope.cells:
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


def assumed_texts(result: TypedResult) -> list[str]:
    """Assumptions that the judge makes of each check beyond the side conditions that were typed."""
    from rnnbounds.theory.language.printing import statement_text

    conditions = [assumption.condition for assumption in result.assumptions]
    typed = result.stated.conditions
    return [statement_text(c) for c in conditions if c is not None and c not in typed]


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


def attack_document(result: TypedResult) -> dict[str, object]:
    """The JSON document of an attack on a typed statement."""
    check, scope, text = result.counterexample, result.scope, result.stated.text
    names = ("stands", "systems", "holds", "undecided", "skipped", "attack")
    return {
        "statement": text,
        **{name: getattr(result, name) for name in names},
        "counterexample": None if check is None else with_statement(check, text),
        "assumed": assumed_texts(result),
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
