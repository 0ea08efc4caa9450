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
from rnnbounds.theory.proof.everywhere import WEIGHT_POSITIONS, WeightSet

OF_ALL = ", for all weights of Ω"


def content(law: Law) -> tuple[object, ...]:
    """(variables, clauses) of the law as terms of the kernel, without its name."""
    unfolded = door.unfolded(law)
    return unfolded.variables, unfolded.clauses


def insert_weights(statement: Statement, weights: Symbol) -> Statement:
    """The statement with these weights in every term of the model's own."""

    def insert(term: Expr) -> Expr:
        args = tuple(map(insert, term.args))
        is_own = WEIGHT_POSITIONS.get(term.func) == len(args)
        return term.func(*args, *((weights,) if is_own else ())) if args else term

    return Statement(insert(statement.lhs), statement.relation, insert(statement.rhs))


def _extend_statement(omega: WeightSet, statement: Statement) -> Statement:
    return insert_weights(unfold(statement).replace(dict(omega.constants)), w)


def extend_law(omega: WeightSet, law: Law) -> Law:
    """The law for all weights of the set that it speaks of: w, or w and w′."""
    clauses = tuple(
        Clause(
            _extend_statement(omega, c.conclusion),
            tuple(_extend_statement(omega, given) for given in c.given),
        )
        for c in law.clauses
    )
    free_symbols = frozenset[Symbol]().union(*(clause.symbols for clause in clauses))
    own_weights = tuple(symbol for symbol in (w, w_other) if symbol in free_symbols)
    bound_weights = (w, w_other)[: len(own_weights)]
    memberships = tuple(omega.membership.replace({w: symbol}) for symbol in bound_weights)
    instances = (
        clause.replace(dict(zip(own_weights, bound_weights, strict=True))) for clause in clauses
    )
    restricted = tuple(replace(clause, given=(*memberships, *clause.given)) for clause in instances)
    return Law(law.id, (*bound_weights, *law.variables), restricted)


def extend_assumption(
    omega: WeightSet, assumption: Assumption, id: str = "", text: str = ""
) -> Assumption:
    """Assumption restated for all weights of the set, under `id` and `text` if given."""
    condition = assumption.condition
    return replace(
        assumption,
        id=id or assumption.id,
        text=text or f"{assumption.text.removesuffix(OF_ALL)}{OF_ALL}",
        condition=None if condition is None else _extend_statement(omega, condition),
        law=None if assumption.law is None else extend_law(omega, assumption.law),
    )
