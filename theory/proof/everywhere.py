"""Extension of a form on a model's own weights to all weights with the same assumptions.

A form speaks of the weights w of a model, which its terms leave out, and it may speak of other ones
w′.  Nothing is known of them but its assumptions: if these are granted for all weights of a set,
so is its conclusion.
"""

from dataclasses import dataclass, replace

from sympy import Symbol

from rnnbounds.theory.kernel import door
from rnnbounds.theory.kernel.algebra import build
from rnnbounds.theory.kernel.statements import Clause, Law, Statement
from rnnbounds.theory.kernel.terms import Term, within
from rnnbounds.theory.language import Assumption
from rnnbounds.theory.language import Statement as Stated
from rnnbounds.theory.language.terms import networks as gradients
from rnnbounds.theory.language.terms.networks import in_box
from rnnbounds.theory.language.terms.variables import w, w_other
from rnnbounds.theory.language.terms.vectors import entry, phi, readout, state
from rnnbounds.theory.language.vocabulary import VOCABULARY

# How many terms each has before its weights.
WEIGHT_POSITIONS = {
    phi: 2,
    state: 3,
    gradients.d_state: 2,
    gradients.d_input: 2,
    gradients.d_weights: 2,
    gradients.differentiable: 2,
    gradients.sensitivity: 3,
}
_HEAD_POSITIONS = {door.head(function): terms for function, terms in WEIGHT_POSITIONS.items()}
_WEIGHT_FREE = frozenset(map(door.head, (entry, readout, gradients.d_loss, in_box)))
W, OTHER = door.term(w), door.term(w_other)


def insert_weights(term: Term, weights: Term) -> Term:
    """The term with these weights in every term of the model's own."""
    args = tuple(insert_weights(arg, weights) for arg in term.args)
    is_own = _HEAD_POSITIONS.get(term.head) == len(args)
    return build(term.head, (*args, weights) if is_own else args) if args else term


@dataclass(frozen=True)
class WeightSet:
    """All weights w of a set, and perhaps other names for the constants that are uniform on it."""

    membership: Stated
    constants: tuple[tuple[Symbol, Symbol], ...] = ()

    def statement(self, statement: Statement) -> Statement:
        """The statement with the weights written out, its constants named."""
        named = statement.replace({door.term(old): door.term(new) for old, new in self.constants})
        lhs, rhs = (insert_weights(side, W) for side in named.sides)
        return Statement(lhs, named.relation, rhs)

    def law(self, law: Law) -> Law:
        """The law for all weights of the set that it speaks of: w, or w and w′."""
        clauses = tuple(
            Clause(self.statement(c.conclusion), tuple(map(self.statement, c.given)))
            for c in law.clauses
        )
        free = frozenset[Term]().union(*(s.variables for c in clauses for s in c.statements))
        spoken = tuple(term for term in (W, OTHER) if term in free)
        bound = (W, OTHER)[: len(spoken)]
        members = tuple(door.goal(self.membership).replace({W: term}) for term in bound)
        put = (clause.replace(dict(zip(spoken, bound, strict=True))) for clause in clauses)
        ranged = tuple(replace(clause, given=(*members, *clause.given)) for clause in put)
        return Law(law.id, (*bound, *law.variables), ranged)

    def objection(self, assumptions: tuple[Assumption, ...], goal: Stated) -> str:
        """A term of which it is not known how it depends on the weights, a condition on weights, or
        a name that is not free."""
        constants = {
            q.symbol for q in VOCABULARY.values() if q.role == "certified" and q.lower == 0
        }
        for old, new in self.constants:
            if not {old, new} <= constants:
                return f"{old} cannot be {new}"
        said = [door.goal(goal)]
        for assumption in assumptions:
            if assumption.condition is not None:
                said.append(door.goal(assumption.condition))
                if not {W, OTHER}.isdisjoint(self.statement(said[-1]).variables):
                    return f"{assumption.id!r} is tested of single weights"
            if assumption.law is not None:
                law = door.unfolded(assumption.law)
                if not {W, OTHER}.isdisjoint(law.variables):
                    return f"{assumption.id!r} ranges over weights of its own"
                said.extend(s for clause in law.clauses for s in clause.statements)
        terms = (t for s in said for side in s.sides for t in within(side))
        return next((f"{t} may depend on the weights" for t in terms if not _is_known(t)), "")


def _is_known(term: Term) -> bool:
    head, position = term.head, _HEAD_POSITIONS.get(term.head)
    if position is not None:
        return len(term.args) in (position, position + 1)
    return head in _WEIGHT_FREE or not (head.kind in ("vector", "operator") or head.is_formal)
