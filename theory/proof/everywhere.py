"""What is proved of a model's own weights holds of all weights of which the same is granted.

A form speaks of the weights w of a model, which its terms leave out, and it may speak of other ones
w′.  Nothing is known of them but what it assumes: where that is granted for all weights of a set,
so is what it concludes.
"""

from dataclasses import dataclass, replace

from sympy import Expr, Symbol

from theory.kernel import door
from theory.language import Assumption, Clause, Law, Statement
from theory.language.terms.gates import in_box
from theory.language.terms.gradients import (
    d_input,
    d_loss,
    d_state,
    d_weights,
    differentiable,
    sensitivity,
)
from theory.language.terms.variables import w, w_other
from theory.language.terms.vectors import Norm, Term, entry, phi, readout, state
from theory.language.vocabulary import VOCABULARY, unfold

# How many terms each has before its weights.
_OF_WEIGHTS = {
    phi: 2,
    state: 3,
    d_state: 2,
    d_input: 2,
    d_weights: 2,
    differentiable: 2,
    sensitivity: 3,
}
OF_ALL = ", for all weights of Ω"
_OF_NONE = (entry, readout, d_loss, in_box)


def _is_own(term: Expr) -> bool:
    return _OF_WEIGHTS.get(term.func) == len(term.args)


def written_out(statement: Statement, weights: Symbol) -> Statement:
    """The statement with these weights in every term of the model's own."""
    lhs, rhs = (
        side.replace(_is_own, lambda term: term.func(*term.args, weights))
        for side in (statement.lhs, statement.rhs)
    )
    return Statement(lhs, statement.relation, rhs)


def stated(law: Law) -> tuple[object, ...]:
    """What the law says, over terms of the kernel, but for its name."""
    found = door.unfolded(law)
    return found.variables, found.clauses


@dataclass(frozen=True)
class Everywhere:
    """All weights w of a set, and perhaps other names for the constants that are uniform on it."""

    member: Statement
    constants: tuple[tuple[Symbol, Symbol], ...] = ()

    def statement(self, statement: Statement) -> Statement:
        """The statement with the weights written out."""
        return written_out(unfold(statement).replace(dict(self.constants)), w)

    def law(self, law: Law) -> Law:
        """The law for all weights of the set that it speaks of: w, or w and w′."""
        clauses = tuple(
            Clause(self.statement(c.conclusion), tuple(map(self.statement, c.given)))
            for c in law.clauses
        )
        free = frozenset[Symbol]().union(*(clause.symbols for clause in clauses))
        spoken = tuple(symbol for symbol in (w, w_other) if symbol in free)
        bound = (w, w_other)[: len(spoken)]
        members = tuple(self.member.replace({w: symbol}) for symbol in bound)
        put = (clause.replace(dict(zip(spoken, bound, strict=True))) for clause in clauses)
        ranged = tuple(replace(clause, given=(*members, *clause.given)) for clause in put)
        return Law(law.id, (*bound, *law.variables), ranged)

    def assumption(self, assumption: Assumption, id: str = "", text: str = "") -> Assumption:
        """The same presupposed of all weights of the set, or what goes with them."""
        condition = assumption.condition
        return replace(
            assumption,
            id=id or assumption.id,
            text=text or f"{assumption.text.removesuffix(OF_ALL)}{OF_ALL}",
            condition=None if condition is None else self.statement(condition),
            law=None if assumption.law is None else self.law(assumption.law),
        )

    def objection(self, assumptions: tuple[Assumption, ...], goal: Statement) -> str:
        """A term of which it is not known how it depends on the weights, a condition on weights, or
        a name that is not free."""
        constants = {
            q.symbol for q in VOCABULARY.values() if q.role == "certified" and q.lower == 0
        }
        for old, new in self.constants:
            if not {old, new} <= constants:
                return f"{old} cannot be {new}"
        said = [unfold(goal)]
        for assumption in assumptions:
            if assumption.condition is not None:
                said.append(unfold(assumption.condition))
                if not {w, w_other}.isdisjoint(self.statement(said[-1]).symbols):
                    return f"{assumption.id!r} is tested of single weights"
            if assumption.law is not None:
                if not {w, w_other}.isdisjoint(assumption.law.variables):
                    return f"{assumption.id!r} ranges over weights of its own"
                clauses = assumption.law.clauses
                said.extend(unfold(s) for c in clauses for s in (c.conclusion, *c.given))
        terms = (term for s in said for side in (s.lhs, s.rhs) for term in side.atoms(Term))
        strange = (term for term in terms if not _is_known(term))
        return next((f"{term} may depend on the weights" for term in strange), "")


def _is_known(term: Expr) -> bool:
    before = _OF_WEIGHTS.get(term.func)
    if before is None:
        return term.func in _OF_NONE or isinstance(term, Norm)
    return len(term.args) in (before, before + 1)
