"""``rnnbounds verify``: the claims, and their false variants, against systems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from rnnbounds.commands.options import (
    CORES,
    Baseline,
    ClusterAddress,
    Device,
    FormatOption,
    Ids,
    Seed,
    Summary,
    Workers,
    path_option,
)  # fmt: skip
from rnnbounds.commands.sweep import print_runs, replay_commands
from rnnbounds.impl.models.device import check_device
from rnnbounds.properties.attacks.budget import profile
from rnnbounds.properties.attacks.table import attacks as every
from rnnbounds.properties.attacks.table import chosen_attacks
from rnnbounds.properties.collector import limit_collector
from rnnbounds.properties.errors import InputError
from rnnbounds.properties.judging import meter
from rnnbounds.properties.runs.executors.cluster import Cluster
from rnnbounds.properties.runs.executors.executor import Executor
from rnnbounds.properties.runs.executors.pool import local_executor
from rnnbounds.properties.runs.executors.scheduler import connect_cluster
from rnnbounds.properties.runs.parts import Part, PartResult, chosen_claims, plan_parts
from rnnbounds.properties.runs.record import merge_record
from rnnbounds.properties.runs.run import run_calls, run_environment, run_parts
from rnnbounds.properties.runs.seeds import parse_seeds, run_seeds
from rnnbounds.properties.runs.until_judged import (
    DEVICE_WIDTH,
    endless_attacks,
    parse_system_count,
    run_until_judged,
    workers_that_fit,
)
from rnnbounds.reports.pages.page import FILES, write_report
from rnnbounds.reports.records.outcome import run_problems
from rnnbounds.reports.records.record import Run
from rnnbounds.reports.words import plural
from rnnbounds.shell import output
from rnnbounds.shell.output import (
    Format,
    echo,
    print_json,
    print_table,
    require_folder,
    show_progress,
)
from rnnbounds.shell.results import RequestedOutputs
from rnnbounds.shell.signals import pause_watch
from rnnbounds.shell.terminal import print_error

Profile = Annotated[str, typer.Option("--profile", help="quick, ci or deep")]
Attacks = Annotated[str, typer.Option("--attacks", help="attacks, separated by commas")]
Seeds = Annotated[
    str | None, typer.Option("--seeds", help="several seeds, one after another: 1-30, or 1,5,9-12")
]
Systems = Annotated[
    str | None,
    typer.Option(
        "--systems", metavar="N",
        help="draw until N systems of each claim are judged, as 1e7: systems that meet its "
        "assumptions, each counted once with all its input sequences",
    ),
]  # fmt: skip
Out = Annotated[Path | None, path_option("--out", "DIR", "write run.json and index.html there")]
MOST_COMMANDS = 5  # of what failed; the record has more
ALL_ATTACKS = ",".join(every())


def verify(
    claim: Ids = None,
    profile_name: Profile = "quick",
    attacks: Attacks = ALL_ATTACKS,
    device: Device = "cpu",
    seed: Seed = 0,
    seeds: Seeds = None,
    systems: Systems = None,
    out: Out = None,
    baseline: Baseline = None,
    summary: Summary = None,
    workers: Workers = CORES,
    cluster: ClusterAddress = None,
    format: FormatOption = Format.text,
) -> int:
    """Prove and attack the claims, and refute their false variants; exit 1 unless everything holds
    and, with --baseline, nothing regressed."""
    started = datetime.now(UTC)
    check_device(device)
    budget = profile(profile_name)
    attack_names, entries = chosen_attacks(attacks.split(",")), chosen_claims(claim or ())
    seed_list = () if seeds is None else parse_seeds(seeds)
    systems_asked = 0 if systems is None else parse_system_count(systems)
    if systems_asked:
        endless_attacks(attack_names)
        if seed_list:
            raise InputError("--systems is for one seed; leave out --seeds or --systems")
    folder = None if out is None else require_folder(out, *(() if seed_list else FILES))
    files = () if folder is None or seed_list else tuple(folder / name for name in FILES)
    outputs = RequestedOutputs(baseline, summary).check(bool(seed_list), files)
    if folder is not None:
        for number in seed_list:
            require_folder(folder / str(number), *FILES)
    parts = plan_parts(entries, attack_names, budget)
    if systems_asked:
        workers = workers_that_fit(workers, device)
    calls = workers if systems_asked else len(parts) * max(1, len(seed_list))
    with executor_for(cluster, workers, device, calls) as executor:
        workers = executor.workers if isinstance(executor, Cluster) else workers
        if seed_list:
            runs = run_seeds(
                entries, seed_list, attack_names, profile=profile_name, device=device,
                workers=workers, executor=executor,
            )  # fmt: skip
            return print_runs(runs, folder, format)
        settings = (profile_name, seed, device, executor)
        results = run_with_progress(parts, *settings)
        if systems_asked:
            results = run_until_judged(
                results, systems_asked, lambda parts: stream_parts(parts, *settings),
                claims=entries, attacks=attack_names, profile=profile_name,
                wide=1 if device == "cpu" else DEVICE_WIDTH,
            )  # fmt: skip
    run = merge_record(
        results, claims=entries, attacks=attack_names, profile=profile_name, seed=seed,
        systems=systems_asked, environment=run_environment(device, workers, started, results),
    )  # fmt: skip
    changes = outputs.changes(run)
    if folder is not None:
        write_report(run, folder, changes=changes)
    written, failures = outputs.write(run, changes), run_problems(run)
    if format is Format.json:
        print_json(run)
    else:
        print_run(run)
        for problem in failures:
            echo(f"FAILS: {problem}")
        for command in replay_commands(run)[:MOST_COMMANDS]:
            echo(f"  {command}")
        echo("all bounds hold" if not failures else plural(len(failures), "problem"))
        for line in () if changes is None else changes.text:
            echo(line)
        if folder is not None:
            echo(f"wrote {folder / 'index.html'} and {folder / 'run.json'}")
        for line in written:
            echo(line)
    return int(bool(failures or (changes and changes.failing)))


def run_with_progress(
    parts: list[Part], name: str, seed: int, device: str, executor: Executor
) -> list[PartResult]:
    """Run the parts under a progress bar."""
    with show_progress(
        len(parts), "attacking", within=checks_text, pause=output.NO_PAUSE
    ) as advance:
        return run_parts(
            parts, profile=name, seed=seed, device=device, executor=executor,
            progress=lambda result: advance(result.part.name),
        )  # fmt: skip


def stream_parts(
    parts: Sequence[Part], name: str, seed: int, device: str, executor: Executor
) -> Iterator[PartResult]:
    """Yield the results of parts under a progress bar: more than memory may hold."""
    calls = [(part, seed) for part in parts]
    running = run_calls(calls, profile=name, device=device, executor=executor)
    with (
        show_progress(len(parts), "drawing more", within=checks_text) as advance,
        closing(running) as answers,
    ):
        for _, result in answers:
            advance(result.part.name)
            yield result


@contextmanager
def executor_for(address: str | None, workers: int, device: str, calls: int) -> Iterator[Executor]:
    """The cluster at the address, else at most so many processes, as there are calls; they are
    forked before the progress bar starts its thread."""
    limit_collector()  # Hypothesis collects too, at its first draw
    with ExitStack() as stack:
        if address is not None:
            yield stack.enter_context(connect_cluster(address, workers, print_error))
        else:
            with pause_watch():
                executor = stack.enter_context(local_executor(min(workers, calls), device == "cpu"))
            yield executor


def checks_text() -> str:
    """How many checks this call has made so far."""
    return f"{meter.total_checks():,} checks"


def print_run(run: Run) -> None:
    """A row for each claim."""
    rows = []
    for entry in run.claims:
        tally, best = entry.tally, entry.best_ratio
        convicted = sum(variant.convicted for variant in entry.variants)
        rows.append((
            entry.id, entry.basis if entry.proved else "NOT PROVED",
            tally.holds, tally.violated, tally.undecided, tally.vacuous, entry.pairs,
            "-" if best is None else f"{float(best):.6f}", f"{convicted}/{len(entry.variants)}",
        ))  # fmt: skip
    counts = ("holds", "violated", "undecided", "vacuous", "pairs")
    print_table(("claim", "proof", *counts, "lhs/rhs", "refuted"), rows)
