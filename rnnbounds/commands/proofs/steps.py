"""``rnnbounds prove CLAIM --step NAME``: one step, with what it was proved from and what z3 was
asked; ``--lemmas``: the steps that several claims share."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import wrap
from typing import Any

from rnnbounds.shell.output import Format, echo, print_json, terminal_columns
from rnnbounds.theory.errors import InputError, UnknownNameError
from rnnbounds.theory.language.printing import statement_text
from rnnbounds.theory.proof.claim import Claim
from rnnbounds.theory.proof.proof import Step
from rnnbounds.theory.proof.shown import StepTrace, trace_step

WIDTH = 100  # columns that a formula is broken at, where there is no terminal


def print_wrapped(text: str, indent: int = 2) -> None:
    """A line, broken at blanks; what follows the first is indented further."""
    for line in wrap(
        text, terminal_columns(WIDTH), initial_indent=" " * indent,
        subsequent_indent=" " * (indent + 4), break_long_words=False, break_on_hyphens=False,
    ):  # fmt: skip
        echo(line)


def listed(names: Iterable[str]) -> str:
    """Names of premises behind one another; they have commas of their own."""
    return "; ".join(names)


def quantified_text(quantifier: str, statement: str) -> str:
    """The statement, and for what it is stated."""
    return f"{quantifier}: {statement}" if quantifier else statement


def find_steps(entry: Claim, name: str) -> dict[Step, list[str]]:
    """The steps of this name, and the forms that each is of; raises InputError, for what is
    assumed, not proved, too."""
    steps: dict[Step, list[str]] = {}
    for form in entry.forms:
        for step in form.proof.steps:
            if step.id == name:
                steps.setdefault(step, []).append(form.name)
    assumed = {one.id: one.text for form in entry.forms for one in form.assumptions}
    if not steps and name in assumed:
        raise InputError(f"{name!r} is assumed by {entry.id} ({assumed[name]}); name a step")
    if not steps:
        # In quotes: names have commas.
        names = dict.fromkeys(f"'{step.id}'" for form in entry.forms for step in form.proof.steps)
        raise UnknownNameError(f"step of {entry.id}", name, names)
    return steps


def show_step(entry: Claim, name: str, format: Format) -> int:
    """Run each step of this name, in the first of its forms; exit 1 if one is not proved."""
    results = []
    for step, forms in find_steps(entry, name).items():
        form = entry.form(forms[0])
        results.append((forms, trace_step(form, step)))
    if format is Format.json:
        print_json([step_document(forms, result) for forms, result in results])
    else:
        for forms, result in results:
            print_step(entry, forms, result)
    return int(any(result.result.verdict == "failed" for _, result in results))


def print_step(entry: Claim, forms: list[str], step: StepTrace) -> None:
    """A step: what is shown, from what, and z3's part in it."""
    result = step.result
    echo(f"{entry.id} ({', '.join(forms)}), {result.id}: {result.verdict} by {result.method}")
    print_wrapped(f"{result.location}: {result.detail}")
    print_wrapped(f"to show: {quantified_text(result.quantifier, result.statement)}")
    for premises in step.hypotheses:
        print_wrapped(f"from {listed(premises.uses) or 'nothing'}")
        for clause in premises.clauses:
            print_wrapped(clause, 4)
    for query in step.result.queries:
        echo(f"  z3: {query.verdict}: {query.what}")
        for line in query.script.splitlines():
            print_wrapped(line, 4)


def step_document(forms: list[str], step: StepTrace) -> dict[str, Any]:
    """The JSON document of a step."""
    result = step.result
    names = ("id", "statement", "quantifier", "method", "verdict", "detail")
    return {
        "forms": forms,
        **{name: getattr(result, name) for name in names},
        "where": result.location,
        "from": [{"uses": part.uses, "clauses": part.clauses} for part in step.hypotheses],
        "z3": [
            {"what": part.what, "script": part.script, "verdict": part.verdict}
            for part in step.result.queries
        ],
    }


def show_lemmas(entries: Iterable[Claim], format: Format) -> int:
    """The steps that several of these claims share, and where each is written."""
    shared = shared_steps(entries)
    if format is Format.json:
        print_json([
            {"id": step.id, "quantifier": step.quantifier,
             "statement": statement_text(step.conclusion), "where": step.location,
             "claims": claims}
            for step, claims in shared.items()
        ])  # fmt: skip
        return 0
    for step, claims in shared.items():
        echo(f"{step.id} ({step.location}), of {', '.join(claims)}")
        print_wrapped(quantified_text(step.quantifier, statement_text(step.conclusion)))
    return 0


def shared_steps(entries: Iterable[Claim]) -> dict[Step, list[str]]:
    """The steps that the proofs of at least two of the claims have, and these claims."""
    claims_by_step: dict[Step, list[str]] = {}
    for entry in entries:
        for step in dict.fromkeys(step for form in entry.forms for step in form.proof.steps):
            claims_by_step.setdefault(step, []).append(entry.id)
    return {step: claims for step, claims in claims_by_step.items() if len(claims) > 1}
