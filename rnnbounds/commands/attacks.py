"""``rnnbounds verify``: the claims, and their false variants, against systems."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from rnnbounds.commands import options
from rnnbounds.properties.collector import limit_collector
from rnnbounds.properties.runs.executors import begin_processes, cluster_executor, local_executor
from rnnbounds.reports.pages.run import FILES, write_report
from rnnbounds.reports.records.outcome import run_problems
from rnnbounds.reports.records.record import Run
from rnnbounds.reports.text import plural
from rnnbounds.shell import output
from rnnbounds.shell.results import RequestedOutputs

Profile = Annotated[str, typer.Option("--profile", help="quick, ci or deep")]
Attacks = Annotated[str, typer.Option("--attacks",
    help="all, or some of random, targeted, gradient, extremal, separated by commas")]  # fmt: skip
Out = Annotated[
    Path | None, options.path_option("--out", "DIR", "write run.json and index.html there")
]
MOST_COMMANDS = 5  # of what failed; the record has more


def verify(
    claim: options.Ids = None,
    profile_name: Profile = "quick",
    attacks: Attacks = "all",
    device: options.Device = "cpu",
    seed: options.Seed = 0,
    out: Out = None,
    baseline: options.Baseline = None,
    summary: options.Summary = None,
    workers: options.Workers = options.CORES,
    cluster: options.ClusterAddress = None,
    format: options.FormatOption = output.Format.text,
) -> int:
    """Prove and attack the claims, and refute their false variants; exit 1 unless everything holds
    and, with --baseline, nothing regressed."""
    started = datetime.now(UTC)
    folder = None if out is None else output.require_folder(out, *FILES)
    files = () if folder is None else tuple(folder / name for name in FILES)
    outputs = RequestedOutputs(baseline, summary).check(files)
    begin_processes(0 if cluster else workers)
    from rnnbounds.impl.models.device import check_device
    from rnnbounds.properties.attacks.attack import chosen_attacks
    from rnnbounds.properties.attacks.budget import profile
    from rnnbounds.properties.runs.parts import chosen_claims, plan_parts
    from rnnbounds.properties.runs.record import merge_record
    from rnnbounds.properties.runs.run import run_environment, run_parts

    check_device(device)
    budget = profile(profile_name)
    attack_names, entries = chosen_attacks(attacks.split(",")), chosen_claims(claim or ())
    parts = plan_parts(entries, attack_names, budget)
    limit_collector()  # Hypothesis collects too, at its first draw
    with (
        executor_for(cluster, min(workers, len(parts))) as (executor, processes),
        output.show_progress(len(parts), "attacking", pause=output.NO_PAUSE) as advance,
    ):
        results = run_parts(
            parts, profile=profile_name, seed=seed, device=device, executor=executor,
            progress=lambda result: advance(result.part.name),
        )  # fmt: skip
    run = merge_record(
        results, claims=entries, attacks=attack_names, profile=profile_name, seed=seed,
        environment=run_environment(device, processes, started, results),
    )  # fmt: skip
    changes = outputs.changes(run)
    if folder is not None:
        write_report(run, folder, changes=changes)
    written, failures = outputs.write(run, changes), run_problems(run)
    if format is output.Format.json:
        output.print_json(run)
    else:
        print_run(run)
        for problem in failures:
            output.echo(f"FAILS: {problem}")
        for command in replay_commands(run)[:MOST_COMMANDS]:
            output.echo(f"  {command}")
        output.echo("all bounds hold" if not failures else plural(len(failures), "problem"))
        for line in () if changes is None else changes.text:
            output.echo(line)
        if folder is not None:
            output.echo(f"wrote {folder / 'index.html'} and {folder / 'run.json'}")
        for line in written:
            output.echo(line)
    return int(bool(failures or (changes and changes.failing)))


@contextmanager
def executor_for(address: str | None, workers: int) -> Iterator[tuple[Executor | None, int]]:
    """The cluster at the address or so many processes here, and how many workers these are."""
    if address is not None:
        with cluster_executor(address) as found:
            yield found
    else:
        with local_executor(workers) as executor:
            yield executor, workers


def claim_seconds(run: Run) -> Counter[str]:
    """Seconds of wall time that each claim took; parts of several are shared out evenly."""
    seconds: Counter[str] = Counter()
    for name, duration in run.environment.durations.items():
        claims = name.partition("/")[0].split("+")
        seconds.update(dict.fromkeys(claims, duration / len(claims)))
    return seconds


def print_run(run: Run) -> None:
    """A row for each claim; with --verbose how long it took."""
    rows, seconds = [], claim_seconds(run)
    verbose = logging.getLogger("rnnbounds").isEnabledFor(logging.INFO)
    for entry in run.claims:
        tally, best = entry.tally, entry.best_ratio
        convicted = sum(variant.convicted for variant in entry.variants)
        rows.append((
            entry.id, entry.standing if entry.proved else "NOT PROVED",
            tally.holds, tally.violated, tally.undecided, tally.vacuous, entry.pairs,
            "-" if best is None else f"{float(best):.6f}", f"{convicted}/{len(entry.variants)}",
            *([f"{seconds[entry.id]:.1f}"] if verbose else []),
        ))  # fmt: skip
    counts = ("holds", "violated", "undecided", "vacuous", "pairs")
    heads = ("claim", "proof", *counts, "lhs/rhs", "refuted", *(["seconds"] if verbose else []))
    output.print_table(heads, rows)
    for told in run.guarantees:
        models = plural(told.models, "model")
        output.echo(
            f"guarantee {told.name}: attacked by {models}, not proved; {told.used:.6f} is used"
        )


def replay_commands(run: Run) -> list[str]:
    """The commands that replay what failed."""
    return [check.replay for claim in run.claims for check in claim.failing]
