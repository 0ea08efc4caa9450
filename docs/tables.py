"""The tables of the documentation that commands print: never typed, made anew at each build."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from inspect import cleandoc, getdoc
from io import StringIO
from pathlib import Path
from unittest.mock import patch

import msgspec

import rnnbounds
from rnnbounds.cli import main
from rnnbounds.commands.models.outcomes import GuardResults
from rnnbounds.reports.records.codec import json_schema
from rnnbounds.shell.program import COMMANDS
from rnnbounds.theory import CLAIMS
from rnnbounds.theory.axioms.base import AXIOMS
from rnnbounds.theory.claims.models import NO_MODEL
from rnnbounds.theory.language.mathml import latex_to_mathml
from rnnbounds.theory.language.printing import plain_text, statement_mathml
from rnnbounds.theory.language.quantity import ROLE_MEANINGS
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.proof.claim import Claim

HERE = Path(__file__).parent
WIDTH = 92  # columns of what a command prints


def write_tables(folder: Path) -> None:
    """Write each table to a Markdown file of its name, if its text changed."""
    folder.mkdir(exist_ok=True)
    for name, lines in TABLES.items():
        text = "\n".join(lines()) + "\n"
        place = folder / f"{name}.md"
        if not place.exists() or place.read_text(encoding="utf-8") != text:
            place.write_text(text, encoding="utf-8")


def claims() -> Iterator[str]:
    """Each claim with its forms, assumptions and false variants, from the theory itself."""
    for claim in CLAIMS:
        yield from (f"(claim-{claim.id})=", f"## {claim.id}", "", f"{claim.title}.", "")
        yield from _statement(claim)
        count = f"[Forms](../reference/vocabulary.md#forms): {len(claim.forms)}."
        yield from (f"{claim.source.text}. {count}", "")
        yield from ("Assumed, of one form or another:", "")
        texts = dict.fromkeys(a.text for form in claim.forms for a in form.assumptions)
        yield from (f"- {_plain(text)}" for text in texts)
        yield ""
        yield "False variants, each of which the attack refutes:"
        yield ""
        yield from (f"- `{variant.id}`: {_plain(variant.text)}" for variant in claim.false_variants)
        yield ""


def _statement(claim: Claim) -> Iterator[str]:
    forms = claim.forms
    yield f'<div class="statement">{statement_mathml(claim.statement)}</div>'
    yield ""
    if len(forms) > 1:
        yield f"It has {len(forms)} forms: " + ", ".join(f"`{form.name}`" for form in forms) + "."
        yield ""


def forms() -> Iterator[str]:
    """What each form assumes of computed sets, and these inclusions, from the theory itself."""
    known = {f"{claim.id}/{form.name}": form for claim in CLAIMS for form in claim.forms}
    assuming = sum(bool(form.inclusions) for form in known.values())
    yield f"{len(known)} forms, {assuming} of them derived from an assumed inclusion."
    yield ""
    yield "| form | assumed inclusions | a system meets all assumptions |"
    yield "|---|---|---|"
    for name, form in known.items():
        met = "not shown" if name in NO_MODEL else "yes"
        yield f"| `{name}` | {', '.join(form.inclusions) or 'none: derived'} | {met} |"
    yield from ("", "| inclusion | it says | forms |", "|---|---|---|")
    assumed = [a for form in known.values() for a in form.assumptions if a.inclusion]
    for a in dict.fromkeys(assumed):
        yield f"| {a.id} | {_plain(a.text)} | {assumed.count(a)} |"


def quantities() -> Iterator[str]:
    """The vocabulary: name, notation, meaning, norm, formal definition of what is measured."""
    yield "| name | notation | meaning | norm or unit | definition |"
    yield "|---|---|---|---|---|"
    for quantity in VOCABULARY.values():
        term = quantity.definition
        defined = "" if term is None else f"`{_cell(plain_text(term))}`"
        given = defined or ROLE_MEANINGS[quantity.role]
        yield (
            f"| `{quantity.name}` | {_math(quantity.notation)} | {_plain(quantity.meaning)} "
            f"| {_plain(quantity.norm)} | {given} |"
        )


def laws() -> Iterator[str]:
    """The textbook lemmas that ledgers may use without proof."""
    yield "| theorem | law | source |"
    yield "|---|---|---|"
    seen = dict.fromkeys((axiom.id, axiom.text, axiom.source) for axiom in AXIOMS)
    for id, text, source in sorted(seen):
        yield f"| {_plain(id)} | {_plain(text)} | {_plain(source)} |"


def commands() -> Iterator[str]:
    """The help of every command."""
    for name in COMMANDS:
        yield from (f"(command-{name})=", f"## rnnbounds {name}", "", "```text")
        yield from said(name, "--help").splitlines()
        yield from ("```", "")


def names() -> Iterator[str]:
    """Every public name, and the first sentence about it."""
    yield from ("| name | |", "|---|---|")
    for module in (rnnbounds, rnnbounds.cells, rnnbounds.strategies, rnnbounds.theory):
        for name in module.__all__:
            thing = getattr(module, name)
            text = getdoc(thing) if callable(thing) else "All claims, in reading order."
            first = " ".join(str(text).partition("\n\n")[0].split()).partition(". ")[0]
            first = first.removesuffix(".").replace("``", "`")
            short = f"{module.__name__}.{name}".removeprefix("rnnbounds.")
            yield f"| {{py:obj}}`{short} <{module.__name__}.{name}>` | {_cell(first)} |"


def schemas() -> Iterator[str]:
    """The JSON Schemas of a run record, and of what `guard` prints."""
    guarded = msgspec.json.schema(GuardResults)
    for definition in guarded["$defs"].values():
        definition["description"] = cleandoc(definition["description"])
    for schema in (json_schema(), guarded):
        yield from ("```json", json.dumps(schema, indent=1, ensure_ascii=False), "```", "")


def said(*arguments: str) -> str:
    """What a command prints, on a terminal of WIDTH columns; raises if it fails."""
    with redirect_stdout(StringIO()) as out, patch.dict("os.environ", COLUMNS=str(WIDTH)):
        if code := main(list(arguments)):
            raise RuntimeError(f"rnnbounds {' '.join(arguments)}: exit code {code}")
    return out.getvalue().rstrip()


def _math(latex: str) -> str:
    """Presentation MathML of a notation."""
    return f"<math>{latex_to_mathml(latex)}</math>"


def _cell(text: str) -> str:
    """Text that does not end a cell of a table."""
    return text.replace("|", "\\|")


def _plain(text: str) -> str:
    """Text none of whose signs are Markdown's."""
    return re.sub(r"([\\`*_\[\]<>|$#~])", r"\\\1", text)


TABLES: dict[str, Callable[[], Iterator[str]]] = {
    "claims": claims,
    "forms": forms,
    "quantities": quantities,
    "laws": laws,
    "commands": commands,
    "names": names,
    "schemas": schemas,
}
