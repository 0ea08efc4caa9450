"""Assumptions on all weights of a set, written out from those on a model's own weights.

They are what a claim then assumes: a lemma on all weights compares them with what the kernel makes
of its own assumptions (`theory.proof.everywhere`).
"""

from dataclasses import replace

from sympy import Expr, Symbol

from rnnbounds.theory.kernel import door
from rnnbounds.theory.language import Assumption, Clause, Law, Statement
from rnnbounds.theory.language.terms.variables import w, w_other
from rnnbounds.theory.language.vocabulary import unfold
from rnnbounds.theory.proof.everywhere import OF_WEIGHTS, Everywhere

OF_ALL = ", for all weights of Ω"


def stated(law: Law) -> tuple[object, ...]:
    """(variables, clauses) of the law as terms of the kernel, without its name."""
    found = door.unfolded(law)
    return found.variables, found.clauses


def written_out(statement: Statement, weights: Symbol) -> Statement:
    """The statement with these weights in every term of the model's own."""

    def put(term: Expr) -> Expr:
        args = tuple(map(put, term.args))
        own = OF_WEIGHTS.get(term.func) == len(args)
        return term.func(*args, *((weights,) if own else ())) if args else term

    return Statement(put(statement.lhs), statement.relation, put(statement.rhs))


def _of_all(every: Everywhere, statement: Statement) -> Statement:
    return written_out(unfold(statement).replace(dict(every.constants)), w)


def law_everywhere(every: Everywhere, law: Law) -> Law:
    """The law for all weights of the set that it speaks of: w, or w and w′."""
    clauses = tuple(
        Clause(_of_all(every, c.conclusion), tuple(_of_all(every, given) for given in c.given))
        for c in law.clauses
    )
    free = frozenset[Symbol]().union(*(clause.symbols for clause in clauses))
    spoken = tuple(symbol for symbol in (w, w_other) if symbol in free)
    bound = (w, w_other)[: len(spoken)]
    members = tuple(every.member.replace({w: symbol}) for symbol in bound)
    put = (clause.replace(dict(zip(spoken, bound, strict=True))) for clause in clauses)
    ranged = tuple(replace(clause, given=(*members, *clause.given)) for clause in put)
    return Law(law.id, (*bound, *law.variables), ranged)


def assumed_everywhere(
    every: Everywhere, assumption: Assumption, id: str = "", text: str = ""
) -> Assumption:
    """Assumption restated for all weights of the set, under `id` and `text` if given."""
    condition = assumption.condition
    return replace(
        assumption,
        id=id or assumption.id,
        text=text or f"{assumption.text.removesuffix(OF_ALL)}{OF_ALL}",
        condition=None if condition is None else _of_all(every, condition),
        law=None if assumption.law is None else law_everywhere(every, assumption.law),
    )
