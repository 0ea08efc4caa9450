"""How a ground term is computed: from what, and by which operation. No system is known here.

A difference of two terms of one form is carried as a difference: ``("gap", p, q)`` is the pair of p
and p − q, which comes from pairs of their arguments, so that it vanishes exactly where these do. Of
h_T − h_T^k, both runs take the same last k steps:

    gap(state(x, 0, T), state(x, T − k, k)) ← gap(state(x, 0, T − 1), state(x, T − k, k − 1)) ← …
                                            ← gap(state(x, 0, T − k), 0)
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from rnnbounds.properties.read.ground_terms import CACHED_TERMS, Term, is_number, unfold

GAP = "gap"
# Functions of vectors and operators that systems have, with the arguments that are computed first:
# what follows says of which weights they are.
ARGUMENT_COUNTS = {
    "phi": 2, "d_state": 2, "d_weights": 2, "d_input": 2, "d_loss": 1, "gradient": 1, "readout": 1,
    "lower": 2, "upper_layer": 2, "activation": 1, "transpose": 1,
}  # fmt: skip
# What numbers are made of, and sizes.
NUMBER_HEADS = ("^", "Max", "Min", "Abs")
SIZE_HEADS = ("norm", "max_norm", "weighted", "frobenius", "rank", "is_scalar")


class PlanStep(NamedTuple):
    """An operation, what it needs to know beside, and the nodes whose values it takes."""

    operation: str
    parameters: tuple[Term, ...] = ()
    operands: tuple[Term, ...] = ()


@lru_cache(maxsize=CACHED_TERMS)
def plan_step(node: Term) -> PlanStep:
    """How a term or a pair of terms is computed."""
    if is_number(node):
        return PlanStep("number", (node,))
    head, *arguments = node
    if head == GAP:
        return plan_pair(*arguments)
    if (rewritten := unfold(node)) is not None:
        return PlanStep("same", (), (rewritten,))
    if head == "+":
        return PlanStep("sum", (), tuple(pair_terms(arguments)))
    if head == "-":
        return PlanStep("apart", (), ((GAP, *arguments),))
    if head == "*":
        return PlanStep("product", (), tuple(arguments))
    if head in SIZE_HEADS:
        return PlanStep(head, tuple(arguments), tuple(arguments))
    if head == "^":
        return PlanStep(head, tuple(arguments[1:]), tuple(arguments[:1]))
    if head in NUMBER_HEADS:
        return PlanStep(head, (), tuple(arguments))
    if head in ARGUMENT_COUNTS:
        count = ARGUMENT_COUNTS[head]
        return PlanStep(head, tuple(arguments[count:]), tuple(arguments[:count]))
    if any(
        not is_number(argument) and not all(map(is_number, argument[1:])) for argument in arguments
    ):
        return PlanStep(head, (), tuple(arguments))  # of what is computed, not of names and numbers
    return PlanStep("leaf", (node,))


def pair_terms(terms: list[Term]) -> list[Term]:
    """The terms of a sum, with those that are subtracted from one of their form beside it."""
    result = [term for term in terms if negated_factor(term) is None]
    for term in terms:
        subtracted = negated_factor(term)
        if subtracted is None:
            continue
        similar = [other for other in result if term_form(other) == term_form(subtracted)]
        if similar:
            result[result.index(similar[0])] = ("-", similar[0], subtracted)
        else:
            result.append(term)
    return result


def negated_factor(term: Term) -> Term | None:
    """The factor p of a term −p; None for other terms."""
    if is_number(term) or term[0] != "*" or term[1] != -1:
        return None
    return term[2] if len(term) == 3 else ("*", *term[2:])


def term_form(term: Term) -> Term:
    """Reduce a term to its form without arguments, by which terms of a sum are paired; vectors of
    different heads have one form."""
    if is_number(term):
        return "number"
    if term[0] == "*":
        return tuple(map(term_form, term[1:]))
    return "vector" if term[0] in VECTORS or len(term) == 1 else term[0]


VECTORS = ("state", "gated_run", "forward", "boxed", "phi", "recent", "sensitivity")


def plan_pair(p: Term, q: Term) -> PlanStep:
    """Plan the pair (p, p − q): from pairs of arguments where both have one form."""
    if p == q:
        return PlanStep("still", (), (p,))
    if q == 0:
        return PlanStep("begun", (), (p,))
    if p == 0:
        return PlanStep("ended", (), (q,))
    first, second = unfold(p), unfold(q)
    if first is not None and second is not None:
        return PlanStep("same", (), ((GAP, first, second),))
    if is_number(p) or is_number(q) or p[0] != q[0]:
        return PlanStep("pair", (), (p, q))
    head, pairs = p[0], tuple((GAP, *pair) for pair in zip(p[1:], q[1:], strict=False))
    if head not in ARGUMENT_COUNTS and len(p) != len(q):
        return PlanStep("pair", (), (p, q))
    if head == "+":
        return PlanStep("sum", (), pairs)
    if head == "*":
        # Of two operators that have names of their own the sizes may differ.
        is_named = any(p != q and len(p) == 1 == len(q) for _, p, q in pairs if not is_number(p))
        return PlanStep("pair", (), (p, q)) if is_named else PlanStep("product", (), pairs)
    if head in ARGUMENT_COUNTS:
        count = ARGUMENT_COUNTS[head]
        return PlanStep(head, (p[1 + count :], q[1 + count :]), pairs[:count])
    return PlanStep("pair", (), (p, q))
