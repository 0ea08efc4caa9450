"""Records of single checks, each with the command that replays it."""

from __future__ import annotations

from typing import cast

import numpy as np

from rnnbounds.properties.judging.verdict import Verdict
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.reports.records.checks import Check
from rnnbounds.reports.records.checks import Verdict as VerdictName


def check_record(
    claim: str,
    form: str,
    spec: SystemSpec,
    k: int | None,
    verdict: Verdict,
    lhs: tuple[float, float],
    rhs: tuple[float, float],
    explanation: str = "",
) -> Check:
    """A Check: each side's middle with half its width as the error; lhs/rhs from the upper ends."""

    def midpoint(ends: tuple[float, float]) -> tuple[float, float]:
        low, high = float(ends[0]), float(ends[1])
        if low == high:
            return low, 0.0
        centre = low + (high - low) / 2
        return centre, float(np.nextafter(max(high - centre, centre - low), np.inf))

    with np.errstate(all="ignore"):
        ratio = float(np.float64(lhs[1]) / np.float64(rhs[1])) if rhs[1] else float("nan")
    (lhs_mid, lhs_error), (rhs_mid, rhs_error) = midpoint(lhs), midpoint(rhs)
    if verdict == Verdict.HOLDS:
        ratio = min(ratio, 1.0)
    is_decided = verdict in (Verdict.HOLDS, Verdict.VIOLATED) and np.isfinite(ratio)
    return Check(
        claim=claim, form=form, spec=spec.explicit_fields, k=k,
        lhs=lhs_mid, lhs_error=lhs_error, rhs=rhs_mid, rhs_error=rhs_error,
        ratio=ratio if is_decided else None, verdict=cast(VerdictName, verdict.name),
        replay=replay_command(claim, form, spec), explanation=explanation,
    )  # fmt: skip


def replay_command(claim: str, form: str, spec: SystemSpec) -> str:
    """The shell command that re-runs one check."""
    return f"rnnbounds replay '{spec.text}' --claim {claim} --form {form}"
