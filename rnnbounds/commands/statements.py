"""``rnnbounds attack`` and ``replay``: one typed statement on many systems, or one check again."""

from __future__ import annotations

import shlex
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from rnnbounds.commands.attacks import ALL_ATTACKS, Attacks, Profile
from rnnbounds.commands.options import Device, FormatOption, Seed, path_option
from rnnbounds.commands.typed_text import attack_document, result_lines, with_statement
from rnnbounds.impl.models.device import check_device
from rnnbounds.properties.attacks.budget import profile
from rnnbounds.properties.attacks.table import chosen_attacks
from rnnbounds.properties.attacks.typed_statement import attack_typed, typed_assumptions
from rnnbounds.properties.collector import limit_collector
from rnnbounds.properties.judging.simplification import simplify_statement
from rnnbounds.properties.runs.replay import dump_system as dump_arrays
from rnnbounds.properties.runs.replay import find_statement
from rnnbounds.properties.runs.replay import replay as replay_spec
from rnnbounds.properties.systems.table import parse_spec
from rnnbounds.reports.records.checks import Check
from rnnbounds.reports.text import plain_number as digits
from rnnbounds.shell.output import Format, check_target, echo, print_json, print_table
from rnnbounds.theory import claim as claim_of
from rnnbounds.theory.language.parse import parse_conditional

FAILING = ("VIOLATED", "UNDECIDED")


def attack(
    statement: Annotated[str, typer.Argument(metavar="STATEMENT",
        help="a bound with names, or as pages print it: "
        "'h_gap <= S_0*lam**k/(1-lam)' or '‖h_T − h_T^(k)‖ ≤ S_0 λ^k/(1 − λ)'; behind it "
        "side conditions on k, T and lam, ', k >= 1, k < T'")],
    profile_name: Profile = "quick",
    attacks: Attacks = ALL_ATTACKS,
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
    limit_collector()
    result = attack_typed(
        parse_conditional(statement), budget=profile(profile_name), seed=seed,
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
        parse_spec(spec)  # a mistyped one is the first thing to mend
        raise typer.BadParameter("name a --claim (and its --form) or a --statement, as printed")
    if dump is not None:
        check_target(dump, ".npz")
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
        dump_arrays(replayed, dump)
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
    return (window, *sides, ratio, check.verdict)
