"""``rnnbounds claims``: what is claimed, as the run that the package carries found it.

Nothing that proves or attacks is imported, unless it is asked for now.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from reports.errors import RecordError
from reports.records.codec import load
from reports.records.matrix import Matrix, blanks
from reports.table import CARRIED, Proof, Row, Table, carried, table_of
from reports.words import plural
from rnnbounds.commands.matrix import matrix_in, show_matrix
from rnnbounds.commands.options import CORES, As, Workers
from rnnbounds.shell.output import Format, echo, print_json, print_table

HEADS = ("claim", "statement", "source", "proof", "tightest lhs/rhs, by", "false variants")


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
    markdown: Annotated[
        bool, typer.Option("--markdown", help="the table as the README has it")
    ] = False,
    format: As = Format.text,
) -> int:
    """The table of claims: id, statement, source, proof, tightness, false variants; or the matrix,
    exit 1 if an entry of it fails.

    As the run that the package carries found it.
    """
    if now and run is not None:
        raise typer.BadParameter("--run tells of a run, and --now makes one: leave one out")
    if markdown and (matrix or format is Format.json):
        raise typer.BadParameter("--markdown is a form of the table of claims: leave the other out")
    if now:
        from rnnbounds.commands import proofs  # with all that proves and attacks

        if matrix:
            return show_matrix(proofs.matrix_now(workers), format)
        rows = proofs.proved_now()
    else:
        table = carried() if run is None else table_of(load(run))
        if matrix:
            return show_matrix(whole(table, run), format)
        rows = table.claims
    if markdown:
        for line in markdown_table(rows):
            echo(line)
        return 0
    if format is Format.json:
        print_json([describe(row) for row in rows])
        return 0
    print_table(
        HEADS,
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


def describe(row: Row) -> dict[str, Any]:
    """The JSON document of one claim; assumptions by their ids, where this program knows them."""
    known = next((told.needs for told in carried().claims if told.id == row.id), {})
    needs = sorted({known.get(text, id) for text, id in row.needs.items()})
    return {**msgspec.to_builtins(row), "needs": needs}


def markdown_table(rows: Iterable[Row]) -> list[str]:
    """The table of claims in the lines of the README."""
    lines = [HEADS]
    for row in rows:
        proof = (
            f"**not proved**, {len(row.proof.human)} of {plural(row.proof.steps, 'step')} in prose"
        )
        if row.proof.proved:
            proof = f"proved, {plural(row.proof.steps, 'step')}"
        names = (f"`{row.id}`", f"`{row.statement}`")
        lines.append((*names, row.source, proof, row.reached, str(len(row.false_variants))))
    head, *body = (f"| {' | '.join(line)} |" for line in lines)
    return [head, "|" + "---|" * len(HEADS), *body]


def proof_text(proof: Proof) -> str:
    """The state of a proof in a few words."""
    state = "proved" if proof.proved else "NOT PROVED"
    prose = f", {len(proof.human)} in prose" if proof.human else ""
    theorems = plural(len(proof.axioms), "textbook theorem")
    return f"{state}, {plural(proof.steps, 'step')}{prose}, {theorems}"
