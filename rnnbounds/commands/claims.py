"""``rnnbounds claims`` and ``rnnbounds prove``: what is claimed, and its proofs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from properties.parts import chosen_claims, ledger_records
from reports.ledger import LedgerRecord
from rnnbounds.commands.matrix import As as As
from rnnbounds.commands.matrix import show_matrix
from rnnbounds.output import Format, print_json, print_table, progress
from theory.claim import Claim

Ids = Annotated[list[str] | None, typer.Argument(metavar="CLAIM", help="claims; all by default")]
Workers = Annotated[
    int, typer.Option("--workers", "-n", min=0, help="processes; 0 runs in this one")
]
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command()(claims)
    app.command()(prove)


def claims(
    matrix: Annotated[
        bool, typer.Option("--matrix", help="what each claim comes to on each cell")
    ] = False,
    run: Annotated[
        Path | None, typer.Option("--run", metavar="RUN.json", help="the matrix of this run")
    ] = None,
    workers: Workers = CORES,
    format: As = Format.text,
) -> int:
    """The table of claims: id, statement, source, proof state, false variants; or the matrix."""
    if matrix or run is not None:
        return show_matrix(run, workers, format)
    entries = chosen_claims(())
    documents = []
    with progress(len(entries), "proving") as advance:
        for entry in entries:
            advance(entry.id)
            documents.append(describe(entry, ledger_records(entry)))
    if format is Format.json:
        print_json(documents)
        return 0
    rows = [
        (
            d["id"],
            entry.statement.text,
            entry.source.text,
            proof_text(d["proof"]),
            len(d["false_variants"]),
        )
        for d, entry in zip(documents, entries, strict=True)
    ]
    print_table(("claim", "statement", "source", "proof", "false variants"), rows)
    return 0


def describe(entry: Claim, ledgers: tuple[LedgerRecord, ...]) -> dict[str, Any]:
    """The JSON document of one claim."""
    return {
        "id": entry.id,
        "title": entry.title,
        "source": entry.source.text,
        "relation": entry.relation,
        "statement": entry.statement.text,
        "needs": sorted({a.id for form in entry.forms for a in form.assumptions}),
        "false_variants": [variant.id for variant in entry.false_variants],
        "proof": {
            "steps": sum(len(ledger.steps) for ledger in ledgers),
            "axioms": sorted({axiom for ledger in ledgers for axiom in ledger.axioms}),
            "human": [step for ledger in ledgers for step in ledger.human],
            "proved": all(ledger.proved for ledger in ledgers),
        },
    }


def proof_text(proof: dict[str, Any]) -> str:
    """The state of a proof in a few words."""
    state = "proved" if proof["proved"] else "NOT PROVED"
    prose = f", {len(proof['human'])} in prose" if proof["human"] else ""
    return f"{state}, {proof['steps']} steps{prose}, {len(proof['axioms'])} axioms"


def prove(
    claim: Ids = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="let a human step fail the command")
    ] = False,
    format: As = Format.text,
) -> int:
    """Run the proof ledgers; exit 1 if a machine step fails."""
    entries = chosen_claims(claim or ())
    proofs = []
    with progress(len(entries), "proving") as advance:
        for entry in entries:
            advance(entry.id)
            proofs.append((entry, ledger_records(entry)))
    if format is Format.json:
        print_json([prove_document(entry, ledgers) for entry, ledgers in proofs])
    else:
        for entry, ledgers in proofs:
            print_ledgers(entry, ledgers)
        summary(proofs)
    return int(any(fails(ledger, strict) for _, ledgers in proofs for ledger in ledgers))


def fails(ledger: LedgerRecord, strict: bool) -> bool:
    """Whether a machine step fails, or nothing is proved; a human step counts only if strict."""
    failed = any(step.verdict == "failed" for step in ledger.steps)
    return failed or not (ledger.proved or (ledger.argued and not strict))


def prove_document(entry: Claim, ledgers: tuple[LedgerRecord, ...]) -> dict[str, Any]:
    """The JSON document of one claim's proofs."""
    return {
        "id": entry.id,
        "steps": [
            {
                "form": ledger.form,
                "id": step.id,
                "statement": step.statement,
                "kind": step.kind,
                "method": step.method,
                "uses": step.uses,
                "redundant": step.redundant,
                "verdict": step.verdict,
            }
            for ledger in ledgers
            for step in ledger.steps
        ],
        "axioms": sorted({axiom for ledger in ledgers for axiom in ledger.axioms}),
        "human": [step for ledger in ledgers for step in ledger.human],
        "proved": all(ledger.proved for ledger in ledgers),
    }


def print_ledgers(entry: Claim, ledgers: tuple[LedgerRecord, ...]) -> None:
    """Every step in a line; what a step did not need, and why one failed, below it."""
    for ledger in ledgers:
        typer.echo(f"{entry.id} ({ledger.form}): {'proved' if ledger.proved else 'NOT PROVED'}")
        for step in ledger.steps:
            uses = f"  [{', '.join(step.uses)}]" if step.uses else ""
            typer.echo(f"  {step.verdict:7} {step.method:10} {step.id}: {step.statement}{uses}")
            if step.redundant:
                typer.echo(f"          not needed: {', '.join(step.redundant)}")
            if step.verdict == "failed":
                typer.echo(f"          {step.detail}")


def summary(proofs: list[tuple[Claim, tuple[LedgerRecord, ...]]]) -> None:
    """The last line: what was proved, from which axioms."""
    axioms = sorted({a for _, ledgers in proofs for ledger in ledgers for a in ledger.axioms})
    steps = sum(len(ledger.steps) for _, ledgers in proofs for ledger in ledgers)
    typer.echo(f"{len(proofs)} claims, {steps} steps, {len(axioms)} axioms: {', '.join(axioms)}")
