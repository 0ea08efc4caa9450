"""Axioms on ‖·‖₂ where it is no norm: of the states of a cell, and of functions of the inputs.

Of a cell's states it is the length of what the cell shows, h of an LSTM's (c, h); of a function of
the inputs it is half of how far it varies.  Both are seminorms, in which sums and multiples are
measured as in a norm, and nothing is known of operators on them.
"""

from collections.abc import Iterator

from sympy import Expr

from theory.axioms.analytic import ANALYTIC_AXIOMS
from theory.axioms.base import HOMOGENEITY, SUBMULTIPLICATIVE, TRIANGLE
from theory.axioms.entries import INNER_PRODUCT
from theory.language import Axiom, Instance
from theory.language.terms.analytic import FunctionList
from theory.language.terms.gradients import loss_gradient
from theory.language.terms.jets import own_slope
from theory.language.terms.vectors import norm
from theory.proof.laws import instances
from theory.proof.proof import Proof

SEMINORM = (TRIANGLE, HOMOGENEITY)  # what holds of the length of a part of the state too


def misused(proof: Proof, about: str) -> Iterator[Instance]:
    """Uses of axioms on ‖·‖₂ that are false of a seminorm, in the proof and in its lemmas."""
    for use in instances(proof):
        law = use.law
        if isinstance(law, Axiom) and law not in SEMINORM and speaks_of_norm(law):
            false_of_states = about == "cell" and not of_weights(use)
            yield from (use,) if false_of_states or of_functions(use) else ()


def speaks_of_norm(axiom: Axiom) -> bool:
    """Whether ‖·‖₂ occurs in it."""
    statements = (s for clause in axiom.clauses for s in (clause.conclusion, *clause.given))
    required = (c.conclusion for part in axiom.requires for c in part.clauses)
    return any(side.has(norm) for s in (*statements, *required) for side in (s.lhs, s.rhs))


def of_weights(use: Instance) -> bool:
    """Whether it speaks of covectors of weights, which no states are: derivatives in the weights
    that a sum multiplies, gradients of losses; of states no inner product is taken."""
    return use.law is INNER_PRODUCT or any(t.has(own_slope, loss_gradient) for t in use.terms)


def of_functions(use: Instance) -> bool:
    """Whether it speaks of operators on functions of the inputs; a list of functions, which are
    bounded, is an operator into them."""
    if use.law in ANALYTIC_AXIOMS:
        return False
    into = use.terms[1:] if use.law is SUBMULTIPLICATIVE else use.terms
    return any(map(_has_functions, into))


def _has_functions(term: Expr) -> bool:
    return not term.is_commutative and bool(term.atoms(FunctionList))
