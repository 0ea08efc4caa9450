"""``rnnbounds claims``: what is claimed, and what a run, or the prover now, found of it."""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import typer

from rnnbounds.commands.options import FormatOption, Ids
from rnnbounds.reports.errors import InputError
from rnnbounds.reports.records.codec import load
from rnnbounds.reports.records.record import ClaimRecord, LedgerRecord
from rnnbounds.reports.text import NOTHING, plural, ratio_text
from rnnbounds.shell.extras import require_extra
from rnnbounds.shell.output import Format, echo, print_json, print_table
from rnnbounds.shell.terminal import write

Document = dict[str, Any]
# A claim's id, title and source in its file, and the order of claims in that of the table.
HEAD = re.compile(r"Claim\(\s*id=(.+?),\s*title=(.+?),\s*source=Source(\(.+?\)),\s*forms=", re.S)
ORDER = re.compile(r"^ORDER = (\(.+?^\))", re.S | re.M)


def claims(
    ids: Ids = None,
    run: Annotated[Path | None, typer.Option("--run", metavar="RUN.json",
        help="the claims of this run, with proofs and tightness as it found them")] = None,
    now: Annotated[bool, typer.Option("--now", help="prove everything now: minutes")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="the table in Markdown")] = False,
    latex: Annotated[bool, typer.Option("--latex",
        help="every form in LaTeX: its statement, and above it what it assumes")] = False,
    bibtex: Annotated[bool, typer.Option("--bibtex",
        help="BibTeX entries of the sources and textbooks")] = False,
    vocabulary: Annotated[bool, typer.Option("--vocabulary",
        help="every quantity: name, meaning, norm, definition")] = False,
    format: FormatOption = Format.text,
) -> int:  # fmt: skip
    """Print the claims: id, title and source; of those that are named, or with --markdown, also the
    statement, the forms with those that assume an inclusion, and the false variants; with --run or
    --now their proofs too.

    --latex, --bibtex and --vocabulary print the theory for use elsewhere.
    """
    forms = {"--markdown": markdown, "--latex": latex, "--bibtex": bibtex,
             "--vocabulary": vocabulary}  # fmt: skip
    chosen, *others = [*(name for name, is_set in forms.items() if is_set), ""]
    if len(others) > 1 or (chosen and format is Format.json and not vocabulary):
        raise typer.BadParameter(f"{chosen} prints one thing alone; leave the other options out")
    if chosen and not markdown and (now or run is not None):
        raise typer.BadParameter(f"{chosen} is not about a run; leave out --run and --now")
    if now and run is not None:
        raise typer.BadParameter("--run reads a run, and --now makes one; leave one out")
    if now:
        require_extra("theory", "--now")
    if vocabulary:
        if ids:
            raise typer.BadParameter("it is about all claims; leave out the names of claims")
        return show_vocabulary(format)
    if latex or bibtex:
        return show_theory(ids or (), latex)
    if not (ids or run or now or markdown) and format is Format.text:
        print_table(("claim", "title", "source"), claim_heads())
        return 0
    documents = _documents(ids or (), run, now)
    if format is Format.json:
        print_json(documents)
    elif markdown:
        heads, rows = table(documents, code="`")
        lines = [heads, ("---",) * len(heads), *rows]
        for line in lines:
            echo(f"| {' | '.join(line)} |")
    else:
        print_table(*table(documents))
    return 0


def claim_heads() -> list[tuple[str, str, str]]:
    """(id, title, source) of all claims in reading order, read off their files: to evaluate these
    takes SymPy, a second's work. Raises InputError for a file that is no Python, and for one of the
    usual claims that is not found; a mistake that only evaluation shows is not seen."""
    folder = Path(str(files("rnnbounds"))) / "theory" / "claims"
    order = literal_eval(ORDER.findall((folder / "table.py").read_text(encoding="utf-8"))[0])
    heads = []
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        try:
            compile(text, path, "exec")
        except SyntaxError as error:
            raise InputError(f"{path}:{error.lineno}: SyntaxError: {error.msg}") from None
        for id, title, source in HEAD.findall(text):
            heads.append((literal_eval(id), literal_eval(title), ", ".join(literal_eval(source))))
    if missing := [id for id in order if id not in [head[0] for head in heads]]:
        raise InputError(f"{folder}: no file states {missing[0]}; restore it, or cut it from ORDER")
    return sorted(heads, key=lambda head: order.index(head[0]) if head[0] in order else len(order))


def _documents(ids: Sequence[str], run: Path | None, now: bool) -> list[Document]:
    """The documents of these claims, all by default; raises UnknownClaimError."""
    if run is not None:
        return [recorded_document(record) for record in choose(load(run).claims, ids)]
    from rnnbounds.theory import CLAIMS

    chosen = choose(CLAIMS, ids)
    if not now:
        return [claim_document(entry) for entry in chosen]
    from rnnbounds.commands.proofs.ledgers import prove_all

    return [
        claim_document(entry) | {"proof": proof_document(ledgers)}
        for entry, ledgers in prove_all(chosen)
    ]


def choose(claims: Iterable[Any], ids: Sequence[str]) -> list[Any]:
    """Those with these ids, all for none; raises UnknownClaimError."""
    by_id = {claim.id: claim for claim in claims}
    for id in ids:
        if id not in by_id:
            from rnnbounds.theory.errors import UnknownClaimError

            raise UnknownClaimError("claim", id, by_id)
    return [by_id[id] for id in dict.fromkeys(ids or by_id)]


def claim_document(entry: Any) -> Document:
    """The document of a claim as the theory states it; nothing is proved."""
    from rnnbounds.theory.language.printing import statement_text

    return {
        "id": entry.id, "title": entry.title, "source": entry.source.text,
        "relation": entry.statement.relation, "statement": statement_text(entry.statement),
        "needs": sorted({a.id for form in entry.forms for a in form.assumptions}),
        "forms": {form.name: form.inclusions for form in entry.forms},
        "false_variants": [variant.id for variant in entry.false_variants],
    }  # fmt: skip


def recorded_document(record: ClaimRecord) -> Document:
    """The document of a claim in a run: as it was stated then, its proof, and how tight it was."""
    ledgers = {ledger.form: ledger for ledger in record.ledgers}
    best = record.best_ratio
    attack = next((name for name, one in record.attacks.items() if one.best_ratio == best), "")
    return {
        "id": record.id, "title": record.title, "source": record.source,
        "relation": record.relation, "statement": record.forms[0].text if record.forms else "",
        "needs": sorted({id for form in record.forms for id in form.ids}),
        "forms": {
            form.name: ledgers[form.name].presupposed if form.name in ledgers else ()
            for form in record.forms
        },
        "false_variants": [variant.id for variant in record.variants],
        "proof": proof_document(record.ledgers) | {"proved": record.proved},
        "tightest": None if best is None else {"ratio": best, "attack": attack},
    }  # fmt: skip


def proof_document(ledgers: Sequence[LedgerRecord]) -> Document:
    """The ledgers of a claim together."""
    return {
        "proved": bool(ledgers) and all(ledger.proved for ledger in ledgers),
        "steps": sum(len(ledger.steps) for ledger in ledgers),
        "axioms": sorted({axiom for ledger in ledgers for axiom in ledger.axioms}),
    }


def table(documents: Sequence[Document], code: str = "") -> tuple[tuple[str, ...], list[Any]]:
    """Heads and rows; proofs and tightness where the documents have them."""
    proved, seen = ([name in one for one in documents] for name in ("proof", "tightest"))
    heads = ["claim", "statement", "source", "forms"]
    heads += ["proof"] * any(proved) + ["tightest lhs/rhs, by"] * any(seen) + ["false variants"]
    rows = []
    for one in documents:
        row = [f"{code}{one['id']}{code}", f"{code}{one['statement']}{code}", one["source"]]
        forms, assuming = len(one["forms"]), sum(map(bool, one["forms"].values()))
        row.append(f"{forms}, {assuming} assuming an inclusion" if assuming else str(forms))
        if (proof := one.get("proof")) is not None:
            state, theorems = "proved" if proof["proved"] else "NOT PROVED", len(proof["axioms"])
            steps = plural(proof["steps"], "step")
            row.append(f"{state}; {steps}, {plural(theorems, 'textbook theorem')}")
        if "tightest" in one:
            best = one["tightest"]
            row.append(f"{ratio_text(best['ratio'])}, {best['attack']}" if best else NOTHING)
        rows.append((*row, str(len(one["false_variants"]))))
    return tuple(heads), rows


def show_theory(ids: Sequence[str], latex: bool) -> int:
    """Print the statements of the claims in LaTeX, or the BibTeX entries of all that they cite."""
    from rnnbounds.theory import CLAIMS

    chosen = choose(CLAIMS, ids)
    if latex:
        from rnnbounds.theory.language.printing import statement_latex
        from rnnbounds.theory.typeset import prose

        for entry in chosen:
            for form in entry.forms:
                echo(f"% {entry.id} ({form.name}): {entry.source.text}")
                for assumption in form.assumptions:
                    echo(f"% {assumption.label}: {prose(assumption.text)}")
                echo(statement_latex(form.statement))
        return 0
    from rnnbounds.theory.bibliography import bibtex
    from rnnbounds.theory.proof.proof import axioms_used

    proofs = [form.proof for entry in chosen for form in entry.forms]
    sources = sorted({axiom.source for proof in proofs for axiom in axioms_used(proof)})
    write(bibtex([*(entry.source.text for entry in chosen), *sources]) + "\n")
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
