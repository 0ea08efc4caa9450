"""``rnnbounds prove``: the ledgers of claims, run now."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from rnnbounds.commands.options import FormatOption, Ids
from rnnbounds.shell.output import Format, print_json


def prove(
    claim: Ids = None,
    form: Annotated[str | None, typer.Option("--form", metavar="NAME",
        help="one form of the claim; all by default")] = None,
    step: Annotated[str | None, typer.Option("--step", metavar="NAME",
        help="one step of the claim: its premises, and z3's part")] = None,
    lemmas: Annotated[bool, typer.Option("--lemmas",
        help="list the steps that several claims share; run none")] = False,
    second: Annotated[bool, typer.Option("--recheck",
        help="give all that z3 answered to cvc5; exit 1 if it contradicts z3")] = False,
    format: FormatOption = Format.text,
) -> int:  # fmt: skip
    """Run the proof ledgers; exit 1 if a step fails."""
    if second and (lemmas or step is not None):
        raise typer.BadParameter("--recheck is of whole claims; leave out --step and --lemmas")
    from rnnbounds import theory
    from rnnbounds.commands.proofs.ledgers import (
        print_ledgers,
        print_summary,
        prove_all,
        prove_document,
    )
    from rnnbounds.commands.proofs.recheck import (
        CONTRADICTED,
        print_recheck,
        recheck,
        recheck_document,
        require_cvc5,
    )
    from rnnbounds.commands.proofs.steps import show_lemmas, show_step
    from rnnbounds.properties.runs.ledgers import named_claims
    from rnnbounds.theory.registry import check_claims

    if second:
        require_cvc5()
    if (form is not None or step is not None) and len(claim or ()) != 1:
        raise typer.BadParameter("--form and --step are about one claim; name it")
    entries = named_claims(claim or ()) or list(theory.CLAIMS)
    check_claims(entries)
    if form is not None:
        entries = [replace(entry, forms=(entry.form(form),)) for entry in entries]
    if lemmas:
        return show_lemmas(entries, format)
    if step is not None:
        return show_step(entries[0], step, format)
    proofs = prove_all(entries)
    rechecked = recheck(entries) if second else None
    if format is Format.json:
        documents = [prove_document(entry, ledgers) for entry, ledgers in proofs]
        for document in documents if rechecked is not None else ():
            document["recheck"] = recheck_document(document["id"], rechecked or ())
        print_json(documents)
    else:
        for entry, ledgers in proofs:
            print_ledgers(entry, ledgers)
        print_summary(proofs)
        if rechecked is not None:
            print_recheck(rechecked)
    contradicted = any(one.outcome == CONTRADICTED for one in rechecked or ())
    return int(contradicted or not all(one.proved for _, some in proofs for one in some))
