"""``rnnbounds claims`` and ``rnnbounds prove``: what is claimed, and its proofs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from properties.runs.parts import chosen_claims, ledger_records, unused
from reports.errors import RecordError
from reports.records.codec import load
from reports.records.ledger import LedgerRecord
from reports.records.matrix import Matrix, blanks
from reports.table import CARRIED, Proof, Row, Table, carried, table_of
from rnnbounds.commands.matrix import As as As
from rnnbounds.commands.matrix import matrix_in, matrix_now, show_matrix
from rnnbounds.output import Format, echo, print_json, print_table, progress
from theory import CLAIMS
from theory.language.claim import Claim

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
        Path | None, typer.Option("--run", metavar="RUN.json", help="the table of this run")
    ] = None,
    now: Annotated[
        bool, typer.Option("--now", help="prove (with --matrix: and probe) everything now: minutes")
    ] = False,
    workers: Workers = CORES,
    format: As = Format.text,
) -> int:
    """The table of claims: id, statement, source, proof, tightness, false variants; or the matrix.

    As the run that the package carries found it.
    """
    if now and run is not None:
        raise typer.BadParameter("--run tells of a run, and --now makes one: leave one out")
    if matrix and now:
        return show_matrix(matrix_now(workers), format)
    if now:
        rows = proved_now()
    else:
        table = carried() if run is None else table_of(load(run))
        if matrix:
            return show_matrix(whole(table, run), format)
        rows = table.claims
    if format is Format.json:
        print_json([describe(row) for row in rows])
        return 0
    print_table(
        ("claim", "statement", "source", "proof", "tightest lhs/rhs, by", "false variants"),
        [
            (
                row.id,
                row.statement,
                row.source,
                proof_text(row.proof),
                row.reached,
                len(row.false_variants),
            )
            for row in rows
        ],
    )
    return 0


def whole(table: Table, record: Path | None) -> Matrix:
    """The matrix of a table; raises RecordError if it leaves a claim out on some cell."""
    matrix = matrix_in(table, record)
    claims = dict.fromkeys([row.id for row in table.claims] + list(matrix.claims))
    if found := blanks(matrix, tuple(claims)):
        raise RecordError(f"{record or CARRIED}: {found[0]}; write the run again")
    return matrix


def proved_now() -> tuple[Row, ...]:
    """The claims with their ledgers as run now; nothing is attacked."""
    entries, rows = chosen_claims(()), []
    with progress(len(entries), "proving") as advance:
        for entry in entries:
            advance(entry.id)
            rows.append(row_of(entry, ledger_records(entry)))
    return tuple(rows)


def row_of(entry: Claim, ledgers: tuple[LedgerRecord, ...]) -> Row:
    """The row of a claim as it is stated, with these proofs."""
    return Row(
        id=entry.id,
        title=entry.title,
        source=entry.source.text,
        relation=entry.relation,
        statement=entry.statement.text,
        needs=tuple(dict.fromkeys(a.text for form in entry.forms for a in form.assumptions)),
        false_variants=tuple(variant.id for variant in entry.false_variants),
        proof=Proof(
            steps=sum(len(ledger.steps) for ledger in ledgers),
            axioms=tuple(sorted({axiom for ledger in ledgers for axiom in ledger.axioms})),
            human=tuple(step for ledger in ledgers for step in ledger.human),
            proved=bool(ledgers) and all(ledger.proved for ledger in ledgers),
        ),
    )


def describe(row: Row) -> dict[str, Any]:
    """The JSON document of one claim; assumptions by their ids, where this program knows them."""
    stated = [
        a for entry in CLAIMS if entry.id == row.id for f in entry.forms for a in f.assumptions
    ]
    unknown = set(row.needs) - {a.text for a in stated}
    needs = sorted({a.id for a in stated if a.text in row.needs} | unknown)
    return {**msgspec.to_builtins(row), "needs": needs}


def proof_text(proof: Proof) -> str:
    """The state of a proof in a few words."""
    state = "proved" if proof.proved else "NOT PROVED"
    prose = f", {len(proof.human)} in prose" if proof.human else ""
    return f"{state}, {proof.steps} steps{prose}, {len(proof.axioms)} axioms"


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
        "unused": unused(entry),
        "proved": all(ledger.proved for ledger in ledgers),
    }


def print_ledgers(entry: Claim, ledgers: tuple[LedgerRecord, ...]) -> None:
    """Every step in a line; what a step did not need, where one failed and why, below it, and what
    no step used at the end."""
    spare = unused(entry)
    for ledger in ledgers:
        echo(f"{entry.id} ({ledger.form}): {'proved' if ledger.proved else 'NOT PROVED'}")
        for step in ledger.steps:
            uses = f"  [{', '.join(step.uses)}]" if step.uses else ""
            echo(f"  {step.verdict:7} {step.method:10} {step.id}: {step.statement}{uses}")
            if step.redundant:
                echo(f"          not needed: {', '.join(step.redundant)}")
            if step.verdict == "failed":
                echo(f"          {step.detail}")
        if not ledger.steps:
            echo("  no step: what is stated without a proof is not proved")
        if ledger.form in spare:
            assumed = ", ".join(spare[ledger.form])
            echo(f"  assumed, and used by no step: {assumed}; state the form without")


def summary(proofs: list[tuple[Claim, tuple[LedgerRecord, ...]]]) -> None:
    """The last line: what was proved, from which axioms."""
    axioms = sorted({a for _, ledgers in proofs for ledger in ledgers for a in ledger.axioms})
    steps = sum(len(ledger.steps) for _, ledgers in proofs for ledger in ledgers)
    echo(f"{len(proofs)} claims, {steps} steps, {len(axioms)} axioms: {', '.join(axioms)}")
