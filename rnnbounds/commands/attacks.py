"""``rnnbounds verify``, ``sabotage``, ``attack`` and ``replay``: systems against statements."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from properties.budget import ATTACKS, check_attacks, profile
from properties.device import check_device
from properties.parts import Part, PartResult, chosen_claims, parts_of
from properties.replay import dump as dump_arrays
from properties.replay import replay as replay_spec
from properties.replay import statement_of
from properties.run import environment, merge, run_parts
from properties.typed import TypedResult, attack_typed, typed_assumptions
from reports.outcome import problems
from reports.page import write_report
from reports.record import Check, Run
from rnnbounds.commands.claims import As, Ids
from rnnbounds.output import Format, print_json, print_table, progress
from theory.parse import parse_statement

Profile = Annotated[str, typer.Option("--profile", help="quick, ci or deep")]
Attacks = Annotated[str, typer.Option("--attacks", help="attacks, separated by commas")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="the seed of everything random")]
Device = Annotated[str, typer.Option("--device", help="cpu or cuda")]
Workers = Annotated[
    int, typer.Option("--workers", "-n", min=0, help="processes; 0 runs in this one")
]
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
ALL = ",".join(ATTACKS)


def register(app: typer.Typer) -> None:
    for command in (verify, sabotage, attack, replay):
        app.command()(command)


def verify(
    claim: Ids = None,
    profile_name: Profile = "quick",
    attacks: Attacks = ALL,
    device: Device = "cpu",
    seed: Seed = 0,
    out: Annotated[
        Path | None, typer.Option("--out", help="folder for run.json and index.html")
    ] = None,
    workers: Workers = CORES,
    format: As = Format.text,
) -> int:
    """Prove, attack and sabotage the claims; exit 1 unless everything holds."""
    profile(profile_name)
    chosen, entries, started = (
        check_attacks(attacks.split(",")),
        chosen_claims(claim or ()),
        datetime.now(UTC),
    )
    parts = parts_of(entries, chosen)
    results = in_parts(parts, profile_name, seed, check_device(device), workers)
    run = merge(
        results, claims=entries, attacks=chosen, profile=profile_name, seed=seed,
        environment=environment(device, workers, started, results),
    )  # fmt: skip
    if out is not None:
        write_report(run, out)
    found = problems(run)
    if format is Format.json:
        print_json(run)
    else:
        print_run(run)
        for problem in found:
            typer.echo(f"FAILS: {problem}")
        typer.echo("all bounds hold" if not found else f"{len(found)} problems")
        if out is not None:
            typer.echo(f"wrote {out / 'index.html'} and {out / 'run.json'}")
    return int(bool(found))


def in_parts(
    parts: list[Part], name: str, seed: int, device: str, workers: int
) -> list[PartResult]:
    with progress(len(parts), "attacking") as advance:
        return run_parts(
            parts, profile=name, seed=seed, device=device, workers=workers,
            progress=lambda result: advance(result.part.name),
        )  # fmt: skip


def print_run(run: Run) -> None:
    rows = []
    for entry in run.claims:
        tally, best = entry.tally, entry.best_ratio
        convicted = sum(variant.convicted for variant in entry.variants)
        rows.append((
            entry.id, "proved" if entry.proved else "NOT PROVED", tally.holds, tally.violated, tally.undecided,
            tally.vacuous, entry.pairs, "-" if best is None else f"{float(best):.6f}",
            f"{convicted}/{len(entry.variants)}",
        ))  # fmt: skip
    print_table(
        (
            "claim",
            "proof",
            "holds",
            "violated",
            "undecided",
            "vacuous",
            "pairs",
            "lhs/rhs",
            "convicted",
        ),
        rows,
    )


def sabotage(
    claim: Ids = None,
    profile_name: Profile = "quick",
    seed: Seed = 0,
    device: Device = "cpu",
    workers: Workers = CORES,
    format: As = Format.text,
) -> int:
    """Attack every false variant; exit 1 if one survives."""
    profile(profile_name)
    parts = [Part(entry.id, "sabotage") for entry in chosen_claims(claim or ())]
    results = sorted(
        in_parts(parts, profile_name, seed, check_device(device), workers), key=lambda r: r.part
    )
    rows = [(result.part.claim, variant) for result in results for variant in result.variants]
    if format is Format.json:
        print_json([
            {"claim": id, "variant": v.id, "convicted": v.convicted, "systems": v.systems, "attack": v.attack}
            for id, v in rows
        ])  # fmt: skip
    else:
        print_table(
            ("claim", "variant", "convicted", "systems", "attack", "only by"),
            [(id, v.id, "yes" if v.convicted else "SURVIVED", v.systems, v.attack or "-", v.special or "-")
             for id, v in rows],
        )  # fmt: skip
    return int(any(not v.convicted or not v.ledger_fails for _, v in rows))


def attack(
    statement: Annotated[
        str, typer.Argument(help="a bound over the vocabulary, as 'h_gap <= S_0*lam**k/(1-lam)'")
    ],
    profile_name: Profile = "quick",
    attacks: Attacks = ALL,
    seed: Seed = 0,
    device: Device = "cpu",
    format: As = Format.text,
) -> int:
    """Attack a bound that you type; exit 0 if it stands, 1 with a shrunk counter-example if it falls."""
    result = attack_typed(
        parse_statement(statement), budget=profile(profile_name), seed=seed,
        attacks=check_attacks(attacks.split(",")), device=check_device(device),
    )  # fmt: skip
    if format is Format.json:
        print_json(attack_document(result))
    elif result.counterexample is None:
        typer.echo(f"stands: {result.statement.text} ({result.systems} systems)")
    else:
        typer.echo(f"falls: {result.counterexample.explanation} (by the {result.attack} attack)")
        typer.echo(typed_replay(result.statement.text, result.counterexample))
    return int(not result.stands)


def attack_document(result: TypedResult) -> dict[str, object]:
    return {
        "statement": result.statement.text,
        "stands": result.stands,
        "systems": result.systems,
        "attack": result.attack,
        "counterexample": result.counterexample,
    }


def typed_replay(statement: str, check: Check) -> str:
    return f"{check.replay.split(' --claim')[0]} --statement '{statement}'"


def replay(
    spec: Annotated[str, typer.Argument(help="the spec, as a failure or the page printed it")],
    claim: Annotated[str, typer.Option(help="the claim")] = "truncation",
    form: Annotated[str, typer.Option(help="its form or false variant")] = "",
    statement: Annotated[str, typer.Option(help="a typed statement instead of a claim")] = "",
    dump: Annotated[
        Path | None, typer.Option(help="write W, U, b, C, inputs and both sides to this .npz")
    ] = None,
    format: As = Format.text,
) -> int:
    """Re-run one check from its spec; exit 1 unless it holds (or is vacuous)."""
    if statement:
        typed = parse_statement(statement)
        replayed = replay_spec(spec, typed, typed_assumptions(typed))
    else:
        stated, assumptions = statement_of(claim, form)
        replayed = replay_spec(spec, stated, assumptions, claim, form)
    if dump is not None:
        dump_arrays(replayed, dump)
    if format is Format.json:
        print_json(replayed.checks)
    else:
        print_table(
            ("k", "lhs", "±", "rhs", "±", "lhs/rhs", "verdict"),
            [("-" if c.k is None else c.k, c.lhs, c.lhs_error, c.rhs, c.rhs_error, c.ratio, c.verdict)
             for c in replayed.checks],
        )  # fmt: skip
    return int(any(check.verdict in ("VIOLATED", "UNDECIDED") for check in replayed.checks))
