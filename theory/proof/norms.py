"""Axioms on ‖·‖₂ where it is another norm, or none: of states of a cell, of functions of inputs.

Of a cell's states it is the length of what the cell shows, h of an LSTM's (c, h); of a function of
the inputs it is half of how far it varies; of outputs in all runs, their supremum.  All three are
seminorms, in which sums and multiples are measured as in a norm; nothing is known of operators on
them, of entries or of inner products.
"""

from collections.abc import Iterator

from sympy import Basic, Expr

from rnnbounds.theory.axioms.analytic import ANALYTIC_AXIOMS
from rnnbounds.theory.axioms.base import HOMOGENEITY, SUBMULTIPLICATIVE, TRIANGLE
from rnnbounds.theory.axioms.entries import INNER_PRODUCT
from rnnbounds.theory.language import ZERO, Assumption, Axiom, Instance
from rnnbounds.theory.language.terms.analytic import FunctionList
from rnnbounds.theory.language.terms.gradients import loss_gradient
from rnnbounds.theory.language.terms.jets import own_slope
from rnnbounds.theory.language.terms.unitary import OUTPUTS
from rnnbounds.theory.language.terms.vectors import norm
from rnnbounds.theory.proof.proof import Proof
from rnnbounds.theory.proof.records import Lemma

SEMINORM_AXIOMS = (TRIANGLE, HOMOGENEITY)  # what holds of the length of a part of the state too


def norm_misuses(
    proof: Proof, about: str, assumptions: tuple[Assumption, ...] = ()
) -> Iterator[Instance]:
    """Uses of axioms on ‖·‖₂ that are false of a seminorm, in the proof and in its lemmas; and of
    steps that say of all vectors what such axioms do."""
    general, functions = set[str](), _function_terms(proof, assumptions)
    for step in proof.steps:
        for use in step.method.uses:
            law = use.law if isinstance(use, Instance) else use
            if isinstance(law, Lemma):
                yield from norm_misuses(law.proof, about, law.assumptions)
            axiom = isinstance(law, Axiom) and law not in SEMINORM_AXIOMS and mentions_norm(law)
            if not axiom and law not in general:
                continue
            general.add(step.id)
            if isinstance(use, Instance):
                false_of_states = axiom and about == "cell" and not is_about_weights(use)
                yield from ((use,) if false_of_states or is_about_functions(use, functions) else ())


def _function_terms(proof: Proof, assumptions: tuple[Assumption, ...]) -> set[Basic]:
    """Outputs of all runs, and all that an equation gives as another name to a function."""
    laws = [*(part.law for part in assumptions if part.law), *(step.law for step in proof.steps)]
    said = [part.condition for part in assumptions if part.condition]
    said += [
        s for law in laws for clause in law.clauses for s in (clause.conclusion, *clause.given)
    ]
    sides = [pair for s in said if s.relation == "==" for pair in ((s.lhs, s.rhs), (s.rhs, s.lhs))]
    functions, named = set[Basic](), set[Basic](OUTPUTS)
    while named - functions:
        functions |= named
        named = {name for name, value in sides if _has_functions(value, functions)} - {ZERO}
    return functions


def mentions_norm(axiom: Axiom) -> bool:
    """True if ‖·‖₂ occurs in the axiom."""
    said = (s for clause in axiom.clauses for s in (clause.conclusion, *clause.given))
    required = (c.conclusion for part in axiom.requires for c in part.clauses)
    sides = (side for s in (*said, *required) for side in (s.lhs, s.rhs))
    return any(term.func == norm for side in sides for term in _subterms(side))


def is_about_weights(use: Instance) -> bool:
    """True if a term of the use is a covector of weights, not of states: a derivative in weights
    in a sum, a gradient of a loss; or the law is that of the inner product."""
    heads = (part.func for term in use.terms for part in _subterms(term))
    return use.law is INNER_PRODUCT or any(head in (own_slope, loss_gradient) for head in heads)


def is_about_functions(use: Instance, functions: set[Basic]) -> bool:
    """True if a term of the use is a function of inputs or of all runs' outputs, or an operator
    on them; a list of functions, which are bounded, is an operator into them."""
    if use.law in ANALYTIC_AXIOMS:
        return False
    into = use.terms[1:] if use.law is SUBMULTIPLICATIVE else use.terms
    return any(_has_functions(term, functions) for term in into)


def _has_functions(term: Expr, functions: set[Basic]) -> bool:
    """True if the term is or contains a function and is not a number, as a function's norm is."""
    parts = [] if term.is_commutative else _subterms(term)
    return any(isinstance(part, FunctionList) or part in functions for part in parts)


def _subterms(term: Basic) -> Iterator[Basic]:
    yield term
    for arg in term.args:
        yield from _subterms(arg)
