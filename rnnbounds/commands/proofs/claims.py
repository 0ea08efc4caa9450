"""``rnnbounds claims``: what is claimed, as the run that the package carries found it.

Nothing that proves or attacks is imported, unless it is asked for now; the theory is, for the
statements as LaTeX, the entries of their sources and the vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Annotated, Any

import msgspec
import typer

from rnnbounds.commands.options import FormatOption, Ids
from rnnbounds.reports.errors import RecordError
from rnnbounds.reports.records.codec import load
from rnnbounds.reports.records.matrix import Column, Entry, Matrix, missing_entries
from rnnbounds.reports.table import (
    TABLE_FILE,
    ClaimRow,
    ClaimsTable,
    Proof,
    build_table,
    packaged_table,
)
from rnnbounds.reports.words import plural
from rnnbounds.shell.output import Format, echo, print_json, print_table, terminal_columns
from rnnbounds.shell.terminal import write

HEADS = ("claim", "statement", "source", "proof", "tightest lhs/rhs, by", "false variants")


def claims(
    ids: Ids = None,
    matrix: Annotated[bool, typer.Option("--matrix",
        help="the result of each claim on each cell")] = False,
    run: Annotated[Path | None, typer.Option("--run", metavar="RUN.json",
        help="the table of this run")] = None,
    now: Annotated[bool, typer.Option("--now",
        help="prove everything now: minutes")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="the table in Markdown")] = False,
    latex: Annotated[bool, typer.Option("--latex",
        help="statements, assumptions and sources as LaTeX")] = False,
    form: Annotated[str | None, typer.Option("--form", metavar="NAME",
        help="with --latex: this form alone")] = None,
    bibtex: Annotated[bool, typer.Option("--bibtex",
        help="BibTeX entries of the sources and textbooks")] = False,
    vocabulary: Annotated[bool, typer.Option("--vocabulary",
        help="every quantity: name, meaning, norm, definition")] = False,
    format: FormatOption = Format.text,
) -> int:  # fmt: skip
    """Print the table of claims: id, statement, source, proof, tightness, false variants; with
    --matrix the claims by cell, exit 1 if an entry fails.

    Results are those of the run that the package carries. --latex, --bibtex and --vocabulary print
    the theory for use elsewhere.
    """
    forms = {"--markdown": markdown, "--latex": latex, "--bibtex": bibtex,
             "--vocabulary": vocabulary}  # fmt: skip
    chosen, *others = [*(name for name, is_set in forms.items() if is_set), ""]
    if len(others) > 1 or (chosen and (matrix or (format is Format.json and not vocabulary))):
        raise typer.BadParameter(f"{chosen} prints one thing alone; leave the other options out")
    if chosen and not markdown and (now or run is not None):
        raise typer.BadParameter(f"{chosen} is not about a run; leave out --run and --now")
    if form is not None and not latex:
        raise typer.BadParameter("--form chooses what --latex prints: give --latex too")
    if vocabulary or matrix:
        if ids:
            raise typer.BadParameter("it is about all claims; leave out the names of claims")
        if vocabulary:
            return show_vocabulary(format)
    if latex or bibtex:
        return show_theory(ids, latex, form)
    if now and matrix:
        raise typer.BadParameter("--matrix is of a run; leave out --now, or give --run RUN.json")
    if now and run is not None:
        raise typer.BadParameter("--run reads a run, and --now makes one; leave one out")
    if now:
        from rnnbounds.commands.proofs import prove as proofs

        rows = select_rows(proofs.prove_rows(), ids)
    else:
        table = packaged_table() if run is None else build_table(load(run))
        if matrix:
            return show_matrix(complete_matrix(table, run), format)
        rows = select_rows(table.claims, ids)
    if markdown:
        for line in markdown_table(rows):
            echo(line)
        return 0
    if format is Format.json:
        print_json([row_document(row) for row in rows])
        return 0
    print_table(HEADS, [
        (row.id, row.statement, row.source, proof_text(row.proof), row.reached,
         len(row.false_variants))
        for row in rows
    ])  # fmt: skip
    return 0


def select_rows(rows: Sequence[ClaimRow], ids: Sequence[str] | None) -> list[ClaimRow]:
    """The rows of these claims, all by default; raises UnknownClaimError."""
    by_id = {row.id: row for row in rows}
    for id in ids or ():
        if id not in by_id:
            from rnnbounds.theory.errors import UnknownClaimError

            raise UnknownClaimError("claim", id, by_id)
    return [by_id[id] for id in dict.fromkeys(ids or by_id)]


def show_theory(ids: Sequence[str] | None, latex: bool, form: str | None = None) -> int:
    """Print the claims as LaTeX, or the BibTeX entries of what they and their proofs cite."""
    from rnnbounds.theory import CLAIMS, claim
    from rnnbounds.theory.latex.document import document

    chosen = [claim(id) for id in ids] if ids else list(CLAIMS)
    if latex:
        write(document(chosen, form))
        return 0
    from rnnbounds.theory.axioms.base import AXIOMS
    from rnnbounds.theory.bibliography import bibtex

    names = {entry.id for entry in chosen}
    axioms = {
        axiom for row in packaged_table().claims if row.id in names for axiom in row.proof.axioms
    }
    sources = [entry.source.text for entry in chosen]
    write(bibtex([*sources, *(axiom.source for axiom in AXIOMS if axiom.id in axioms)]) + "\n")
    return 0


def show_vocabulary(format: Format) -> int:
    """Print every quantity that a statement can name, in the order of the theory."""
    from rnnbounds.theory.language.printing import latex, plain_text
    from rnnbounds.theory.language.quantity import ROLE_MEANINGS
    from rnnbounds.theory.language.spelling import typed_notation
    from rnnbounds.theory.language.vocabulary import VOCABULARY

    if format is Format.json:
        print_json(
            [
                {
                    "name": q.name, "notation": typed_notation(q.notation), "latex": q.notation,
                    "meaning": q.meaning, "norm": q.norm, "role": q.role,
                    "value": ROLE_MEANINGS[q.role], "least": q.lower,
                    "definition": None if q.definition is None else plain_text(q.definition),
                    "definition_latex": None if q.definition is None else latex(q.definition),
                    "systems": list(q.about),
                }
                for q in VOCABULARY.values()
            ]
        )  # fmt: skip
        return 0
    heads = ("name", "notation", "meaning", "norm or unit", "definition or value used")
    rows = []
    for q in VOCABULARY.values():
        defined = ROLE_MEANINGS[q.role] if q.definition is None else plain_text(q.definition)
        rows.append((q.name, typed_notation(q.notation), q.meaning, q.norm, defined))
    print_table(heads, rows)
    return 0


def complete_matrix(table: ClaimsTable, record: Path | None) -> Matrix:
    """The matrix of a table; raises RecordError if it leaves a claim out on some cell."""
    if (matrix := table.matrix) is None:
        raise RecordError(f"{record}: this record has no matrix; write the run again")
    claims = dict.fromkeys([row.id for row in table.claims] + list(matrix.claims))
    if missing := missing_entries(matrix, tuple(claims)):
        raise RecordError(f"{record or TABLE_FILE}: {missing[0]}; write the run again")
    return matrix


def row_document(row: ClaimRow) -> dict[str, Any]:
    """The JSON document of one claim; assumptions by their ids, where this program knows them."""
    ids = next(
        (packaged.needs for packaged in packaged_table().claims if packaged.id == row.id), {}
    )
    needs = sorted({ids.get(text, id) for text, id in row.needs.items()})
    return {**msgspec.to_builtins(row), "needs": needs}


def markdown_table(rows: Iterable[ClaimRow]) -> list[str]:
    """The table of claims in Markdown."""
    lines = [HEADS]
    for row in rows:
        proof = f"{row.proof.words if row.proof.proved else '**not proved**'}; "
        proof += plural(row.proof.steps, "step")
        names = (f"`{row.id}`", f"`{row.statement}`")
        lines.append((*names, row.source, proof, row.reached, str(len(row.false_variants))))
    head, *body = (f"| {' | '.join(line)} |" for line in lines)
    return [head, "|" + "---|" * len(HEADS), *body]


def proof_text(proof: Proof) -> str:
    """The state of a proof in a few words."""
    state = proof.words if proof.proved else "NOT PROVED"
    theorems = plural(len(proof.axioms), "textbook theorem")
    return f"{state}; {plural(proof.steps, 'step')}, {theorems}"


WIDTH = 120  # columns of a table, where there is no terminal
FAILING_STANDINGS = ("VIOLATED", "UNDECIDED", "NOT PROVED")


def show_matrix(matrix: Matrix, format: Format) -> int:
    """Print a matrix; 1 if an entry fails."""
    if format is Format.json:
        print_json(matrix)
    else:
        print_matrix(matrix)
    return int(any(entry.standing in FAILING_STANDINGS for entry in matrix.entries))


def print_matrix(matrix: Matrix) -> None:
    """Tables of as many columns as fit, then the numbered reasons."""
    numbers, rows = matrix.reasons, matrix.rows

    def text(entry: Entry) -> str:
        return f"{entry.short} [{numbers[entry.reason]}]" if entry.reason else entry.short

    width = terminal_columns(WIDTH)
    first = max(len(claim) for claim in (*rows, "claim"))
    for columns in fitting_columns(matrix, first, width, text_width=lambda e: len(text(e))):
        print_table(
            ("claim", *(column.title for column in columns)),
            [(claim, *(text(row[c.name]) for c in columns)) for claim, row in rows.items()],
        )
        echo()
    for column in matrix.columns:
        if len(column.cells) > 1:
            print_paragraph(f"{column.title}: ", ", ".join(column.cells), width)
    echo("n/a: not applicable, by the assumption that fails; not yet: not yet proved;")
    echo("not attacked: whatever is proved, no system of that cell was shown to it")
    for reason, number in numbers.items():
        print_paragraph(f"[{number}] ", reason, width)


def fitting_columns(
    matrix: Matrix, name_width: int, line_width: int, text_width: Callable[[Entry], int]
) -> Iterator[list[Column]]:
    """The columns in groups that fit beside a first column of that width, in so much room."""
    rows = matrix.rows.values()
    group: list[Column] = []
    width_used = name_width
    for column in matrix.columns:
        width = 2 + max(len(column.title), *(text_width(row[column.name]) for row in rows))
        if group and width_used + width > line_width:
            yield group
            group, width_used = [], name_width
        group.append(column)
        width_used += width
    if group:
        yield group


def print_paragraph(label: str, text: str, width: int) -> None:
    """A line, or a few with the rest below the text's beginning; no word is broken."""
    below = " " * len(label)
    for line in wrap(
        text, width, initial_indent=label, subsequent_indent=below,
        break_long_words=False, break_on_hyphens=False,
    ):  # fmt: skip
        echo(line)
