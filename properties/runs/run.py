"""Runs the parts of a run by an executor, and records the environment."""

from __future__ import annotations

import platform
import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from datetime import UTC, datetime

import torch

from rnnbounds.impl.models.torch_machine import require_sound
from rnnbounds.properties.collector import limit_collector
from rnnbounds.properties.runs.executors import answers
from rnnbounds.properties.runs.parts import (
    GUARANTEED,
    PROOF,
    SABOTAGE,
    Part,
    PartResult,
    decode_result,
    encode_result,
    run_part,
)
from rnnbounds.properties.runs.versions import current_commit, package_versions
from rnnbounds.reports.records.record import Environment

# In this order parts are started: those of the longest first, others last.
STARTED = (PROOF, SABOTAGE, "gradient", "extremal", GUARANTEED, "random", "targeted")


def run_parts(
    parts: Sequence[Part], *, profile: str, seed: int, device: str = "cpu",
    executor: Executor | None = None,
    progress: Callable[[PartResult], None] = lambda result: None,
) -> list[PartResult]:  # fmt: skip
    """The results of the parts in the order in which they end; `progress` is called with each."""
    require_sound(device)
    results = []
    ordered = parts if executor is None else heaviest_first(parts)
    calls = [(part, profile, seed, device) for part in ordered]
    for answer in answers(executor, remote_part, calls):
        results.append(decode_result(answer))
        progress(results[-1])
    return results


def remote_part(part: Part, profile: str, seed: int, device: str) -> bytes:
    """The result of a part, as bytes: they travel between processes."""
    limit_collector()
    return encode_result(run_part(part, profile_name=profile, seed=seed, device=device))


def heaviest_first(parts: Sequence[Part]) -> list[Part]:
    """Long parts first, so that no process waits for a late one; and before them all proofs, which
    those of false variants follow."""
    ranks = {work: rank for rank, work in enumerate(STARTED)}
    return sorted(
        parts, key=lambda part: (ranks.get(part.work, len(ranks)), -len(part.claim_works), part)
    )


def run_environment(
    device: str, workers: int, started: datetime, results: Iterable[PartResult]
) -> Environment:
    """Versions, device, and the settings that change floating-point results silently."""
    now = max(started, datetime.now(UTC))  # a clock may be set back meanwhile
    return Environment(
        versions=package_versions(),
        platform=platform.platform(),
        device=torch.cuda.get_device_name()
        if device.startswith("cuda")
        else platform.processor() or "cpu",
        threads=1,
        workers=workers,
        float_settings={
            "matmul precision": torch.get_float32_matmul_precision(),
            "deterministic algorithms": str(torch.are_deterministic_algorithms_enabled()),
            "subnormals": "kept"
            if float(torch.tensor(2.0**-1040, dtype=torch.float64) * 0.5)
            else "flushed",
        },
        command=shlex.join(["rnnbounds", *sys.argv[1:]]),
        started=started.isoformat(timespec="seconds"),
        finished=now.isoformat(timespec="seconds"),
        seconds=(now - started).total_seconds(),
        durations={result.part.name: round(result.seconds, 3) for result in results},
        commit=current_commit(),
    )
