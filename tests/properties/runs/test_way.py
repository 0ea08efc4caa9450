"""A statement goes forward, from the claim to the page, through the modules that are documented."""

from __future__ import annotations

import sys
from collections.abc import Callable
from graphlib import TopologicalSorter
from pathlib import Path
from types import FrameType
from typing import Any

from rnnbounds.properties.attacks.attack import Case
from rnnbounds.properties.attacks.budget import profile
from rnnbounds.properties.judging.evidence import Evidence
from rnnbounds.properties.judging.judge import Judgement
from rnnbounds.properties.runs.parts import plan_parts, run_part
from rnnbounds.properties.runs.record import merge_record
from rnnbounds.reports.pages.run import render_run
from rnnbounds.reports.records.record import ClaimRecord, FormRecord, Run
from rnnbounds.theory import claim
from rnnbounds.theory.proof.claim import Claim, Form, Statement

# A statement and what becomes of it.
TAKEN = (Claim, Form, Statement, Case, Judgement, Evidence, ClaimRecord, FormRecord, Run)
ROOMS = tuple(f"rnnbounds.{room}." for room in ("properties", "reports"))
ARCHITECTURE = Path(__file__).parents[3] / "docs" / "explanation" / "architecture.md"
MOST = 12


def takes(value: Any) -> bool:
    """True for a statement, what becomes of it, and sequences of these."""
    return any(
        isinstance(each, TAKEN) for each in (value if isinstance(value, list | tuple) else [value])
    )


def trace(call: Callable[[], object]) -> dict[str, set[str]]:
    """The modules of both rooms that take a statement during a call, each with those that give it
    to them."""
    givers: dict[str, set[str]] = {}
    frames: list[str] = []

    def observe(frame: FrameType, event: str, _: Any) -> None:
        if event == "return":
            if frames:
                frames.pop()
            return
        if event != "call":
            return
        code, module = frame.f_code, frame.f_globals.get("__name__", "")
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        before = frames[-1] if frames else ""
        taken = module.startswith(ROOMS) and any(takes(frame.f_locals.get(name)) for name in names)
        frames.append(module if taken else before)
        if taken:
            givers.setdefault(module, set()).update({before} - {"", module})

    sys.setprofile(observe)
    try:
        call()
    finally:
        sys.setprofile(None)
    return givers


def judged_to_its_page() -> None:
    """One attack on one claim, with exact decisions, to the page of what it saw."""
    chosen = [claim("truncation")]
    parts = plan_parts(chosen, ["targeted"], profile("quick"))
    results = [
        run_part(part, profile_name="quick", seed=0) for part in parts if part.pool[:4] == "rnn-"
    ]
    assert any(form.escalated for form in results[0].evidence["truncation"].values())
    render_run(merge_record(results, claims=chosen, attacks=["targeted"], profile="quick", seed=0))


def test_a_statement_goes_forward() -> None:
    """Twelve modules take it at most; each gives it to those below it in the documented list."""
    givers = trace(judged_to_its_page)
    assert len(givers) <= MOST
    tuple(TopologicalSorter(givers).static_order())  # raises CycleError where it comes back
    lines = ARCHITECTURE.read_text(encoding="utf-8").splitlines()
    listed = [
        f"rnnbounds.{line.split('`')[1].removesuffix('.py').replace('/', '.')}"
        for line in lines if line.startswith(("- `properties/", "- `reports/")) and ".py`" in line
    ]  # fmt: skip
    order = [name for name in listed if name in givers]
    assert set(order) == set(givers)
    places = {name: place for place, name in enumerate(order)}
    assert all(places[giver] < places[name] for name, by in givers.items() for giver in by)
