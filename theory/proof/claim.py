"""A claim: its forms, each with assumptions and a proof, and the false variants near them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sympy import Expr, Symbol

from rnnbounds.theory.errors import UnknownClaimError
from rnnbounds.theory.kernel.terms import Gap
from rnnbounds.theory.language import Assumption, Statement
from rnnbounds.theory.language.printing import statement_text
from rnnbounds.theory.language.statement import Relation
from rnnbounds.theory.language.vocabulary import OF_CELLS
from rnnbounds.theory.proof.everywhere import WeightSet
from rnnbounds.theory.proof.proof import Ledger, Proof, check, checked, refused
from rnnbounds.theory.proof.records import RECORDS, Lemma, copied
from rnnbounds.theory.proof.scope import lemma

__all__ = [
    "Assumption", "Claim", "Form", "Relation", "Source", "Statement", "Variant", "prove",
    "prove_variant",
]  # fmt: skip


@dataclass(frozen=True)
class Source:
    """Paper and number at which the claim is stated."""

    paper: str
    number: str

    @property
    def text(self) -> str:
        """Citation for a page: paper and number."""
        return f"{self.paper}, {self.number}"


@dataclass(frozen=True)
class Variant:
    """A false statement near a form."""

    id: str
    text: str
    form: str
    statement: Statement
    assumptions: tuple[Assumption, ...]


@dataclass(frozen=True)
class Form:
    """One statement of a claim.

    `about` is the kind of system it speaks of: linear, rnn (any activation), descent, unstable;
    gradient, smooth, training, quadratic, projection; unitary, urnn, block, candidate, sigmoid;
    lstm, gru, gru-cho; layered, cascade; causal, feed-forward models; or a family of kinds: cell,
    of all that have a comparison matrix on an invariant box, whatever their gates, layers and depth
    are; losses, of training and quadratic.
    """

    name: str
    statement: Statement
    assumptions: tuple[Assumption, ...]
    about: str
    proof: Proof
    note: str = ""

    @property
    def inclusions(self) -> tuple[str, ...]:
        """Names of the assumed inclusions; a form without any is derived from hypotheses alone."""
        return tuple(a.id for a in self.assumptions if a.inclusion)

    def variant(
        self,
        id: str,
        text: str,
        *replacements: Expr | Statement | Assumption,
        assumptions: tuple[Assumption, ...] | None = None,
        without: str | None = None,
    ) -> Variant:
        """A distortion of this form: what is not changed is as in the form.

        An expression takes the place of the right side; an assumption that of the form's of its
        name, and is added if there is none; the form's of the name `without` is dropped.
        """
        statement = self.statement
        granted = self.assumptions if assumptions is None else assumptions
        by_id = {assumption.id: assumption for assumption in granted}
        if without is not None:
            del by_id[without]
        for replacement in replacements:
            if isinstance(replacement, Assumption):
                by_id[replacement.id] = replacement
            elif isinstance(replacement, Statement):
                statement = replacement
            else:
                statement = Statement(statement.lhs, statement.relation, replacement)
        return Variant(id, text, self.name, statement, tuple(by_id.values()))

    def meant(self, statement: Statement) -> Statement:
        """The statement with what quantities are of cells, if it is about these."""
        return statement.replace(OF_CELLS) if self.about == "cell" else statement

    def lemma(self, id: str, *variables: Symbol, everywhere: WeightSet | None = None) -> Lemma:
        """The proved statement, for all values of the given parameters, as a law; if so asked, for
        all weights of a set, which come before them."""
        return lemma(
            id, variables, self.assumptions, self.meant(self.statement), self.proof, everywhere
        )


@dataclass(frozen=True, repr=False)
class Claim:
    """A theorem with explicit constants.

    The first form is the claim; the others are its corollaries and restatements.  `extremal`
    describes the worst instance; `example_factor` multiplies the number of random systems that
    attack it, more for main claims, fewer for costly ones; `sequence_factor` that of the input
    sequences of each system.
    """

    id: str
    title: str
    source: Source
    forms: tuple[Form, ...]
    false_variants: tuple[Variant, ...]
    extremal: str
    example_factor: float = 1.0
    sequence_factor: int = 1

    def __repr__(self) -> str:
        """One line: `Claim('truncation': h_gap <= …; Miller & Hardt, …, Lemma 1)`."""
        return f"Claim({self.id!r}: {statement_text(self.statement)}; {self.source.text})"

    def __str__(self) -> str:
        """Title and source; the first form's assumptions and statement, a line each; the names of
        all forms."""
        assumption_lines = (
            f"  {assumption.label}: {assumption.text}" for assumption in self.assumptions
        )
        names = ", ".join(form.name for form in self.forms)
        lines = [f"{self.title} ({self.id}; {self.source.text})", *assumption_lines]
        return "\n".join(
            [*lines, f"  claimed: {statement_text(self.statement)}", f"forms: {names}"]
        )

    @property
    def statement(self) -> Statement:
        """Statement of the first form."""
        return self.forms[0].statement

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """Assumptions of the first form."""
        return self.forms[0].assumptions

    def form(self, name: str) -> Form:
        """The form of this name; raises UnknownClaimError."""
        for form in self.forms:
            if form.name == name:
                return form
        raise UnknownClaimError(f"form of {self.id}", name, [form.name for form in self.forms])

    def variant(self, id: str) -> Variant:
        """The false variant of this id; raises UnknownClaimError."""
        for variant in self.false_variants:
            if variant.id == id:
                return variant
        known = [variant.id for variant in self.false_variants]
        raise UnknownClaimError(f"false variant of {self.id}", id, known)


def prove(claim: Claim) -> tuple[Ledger, ...]:
    """One ledger a form; a ledger whose last step is not the form's statement is not proved."""
    return tuple(map(_prove, claim.forms))


def _prove(given: Form) -> Ledger:
    try:
        (form,) = copied(given, records=RECORDS | {id(Form)})
    except (Gap, RecursionError) as gap:
        return refused(gap)
    ledger = checked(form.proof, form.meant(form.statement), form.assumptions)
    if not form.proof.steps:
        return ledger
    last = ledger.steps[-1]
    if form.meant(form.statement) != form.statement:
        last = replace(last, statement=statement_text(form.statement))
    fault = _fault(form) if ledger.proved else ""
    if fault:
        last = replace(last, verdict="failed", detail=fault)
    return replace(ledger, steps=(*ledger.steps[:-1], last), proved=ledger.proved and not fault)


def _fault(form: Form) -> str:
    """Why a proof is none of the form: it ends elsewhere, or speaks of what cells measure by the
    name of what other systems do; empty if it is one."""
    if form.proof.conclusion != form.statement:
        concluded = statement_text(form.proof.conclusion)
        return (
            f"the last step concludes {concluded}, which is not the form's statement; conclude that"
        )
    for statement in _said(form):
        if form.meant(statement) != statement:
            return f"{statement_text(statement)} is of a cell; write out what it measures"
    return ""


def _said(form: Form) -> Iterator[Statement]:
    """The assumptions of a form, and its steps before the last."""
    yield from (each.condition for each in form.assumptions if each.condition is not None)
    laws = [each.law for each in form.assumptions if each.law is not None]
    for law in (*laws, *(step.law for step in form.proof.steps[:-1])):
        for clause in law.clauses:
            yield from (clause.conclusion, *clause.given)


def prove_variant(claim: Claim, variant: Variant) -> Ledger:
    """The form's own ledger, re-targeted at the variant: it must fail."""
    form = claim.form(variant.form)
    return check(form.proof, form.meant(variant.statement), variant.assumptions)
