"""Proof ledgers of claims: run, and printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rnnbounds.commands.proofs.steps import listed, print_wrapped, quantified_text
from rnnbounds.properties.runs.ledgers import ledger_records, unused_assumptions
from rnnbounds.reports.records.record import LedgerRecord
from rnnbounds.reports.text import plural
from rnnbounds.shell.output import echo, show_progress
from rnnbounds.theory.proof.claim import Claim

STEP = ("id", "statement", "quantifier", "method", "uses", "verdict")


def prove_all(entries: Sequence[Claim]) -> list[tuple[Claim, tuple[LedgerRecord, ...]]]:
    """Each claim with its ledgers, run under a progress bar."""
    with show_progress(len(entries), "proving") as advance:
        proofs = []
        for entry in entries:
            advance(entry.id)
            proofs.append((entry, ledger_records(entry)))
    return proofs


def prove_document(entry: Claim, ledgers: tuple[LedgerRecord, ...]) -> dict[str, Any]:
    """The JSON document of one claim's proofs."""
    return {
        "id": entry.id,
        "forms": [
            {"name": one.form, "proved": one.proved, "presupposed": one.presupposed,
             "ranges": one.ranges, "met": one.met} for one in ledgers
        ],
        "steps": [
            {"form": ledger.form} | {name: getattr(step, name) for name in STEP}
            for ledger in ledgers
            for step in ledger.steps
        ],
        "axioms": sorted({axiom for ledger in ledgers for axiom in ledger.axioms}),
        "definitions": {d.name: d.text for ledger in ledgers for d in ledger.definitions},
        "unused": unused_assumptions(entry),
        "proved": all(ledger.proved for ledger in ledgers),
    }  # fmt: skip


def print_ledgers(entry: Claim, ledgers: tuple[LedgerRecord, ...]) -> None:
    """Print each form's assumptions, its steps with reasons of failure, its definitions, and the
    assumptions that no step uses."""
    unused = unused_assumptions(entry)
    for ledger in ledgers:
        state = ledger.standing if ledger.proved else "NOT PROVED"
        presupposed = f" ({', '.join(ledger.presupposed)})" if ledger.presupposed else ""
        echo(f"{entry.id} ({ledger.form}): {state}{presupposed}")
        for assumption in entry.form(ledger.form).assumptions:
            print_wrapped(f"{assumption.label}: {assumption.id}: {assumption.text}")
        if not ledger.met:
            print_wrapped(
                "not shown: that a system meets all of this; only that z3 does not refute it"
            )
        for step in ledger.steps:
            uses = f"  [{listed(step.uses)}]" if step.uses else ""
            stated = quantified_text(step.quantifier, step.statement)
            print_wrapped(f"{step.verdict:7} {step.method:10} {step.id}: {stated}{uses}")
            if step.verdict == "failed":
                print_wrapped(step.detail, 10)
        for definition in ledger.definitions:
            print_wrapped(f"defines {definition.name}: {definition.text}")
        if ledger.ranges:
            print_wrapped(f"declared: {', '.join(ledger.ranges)}")
        if not ledger.steps:
            echo("  no steps: a statement without a proof is not proved")
        if ledger.form in unused:
            assumed = listed(unused[ledger.form])
            print_wrapped(
                f"assumed, but used by no step: {assumed}; remove it, unless a quantity has no "
                "meaning without it"
            )


def print_summary(proofs: list[tuple[Claim, tuple[LedgerRecord, ...]]]) -> None:
    """The last line: how the forms are proved, and from which textbook theorems."""
    ledgers = [ledger for _, some in proofs for ledger in some]
    axioms = sorted({axiom for ledger in ledgers for axiom in ledger.axioms})
    standings = [ledger.standing for ledger in ledgers]
    forms = ", ".join(f"{standings.count(name)} {name}" for name in dict.fromkeys(standings))
    steps = sum(len(ledger.steps) for ledger in ledgers)
    proved = f"{plural(len(proofs), 'claim')}, {plural(len(ledgers), 'form')}: {forms}"
    theorems = plural(len(axioms), "textbook theorem")
    echo(f"{proved}; {plural(steps, 'step')}, from {theorems}: {', '.join(axioms)}")
