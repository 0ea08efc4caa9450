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

STATES, SHOWN, NUMBERS = "states", "outputs", "numbers"
WEIGHTS, INPUTS = "weights", "inputs"
Space = tuple[str, str | None]  # of the values, and of the arguments, which vectors do not have
OPERATORS: dict[str, Space] = {
    "d_state": (STATES, STATES), "d_run": (STATES, STATES),
    "d_weights": (STATES, WEIGHTS), "sensitivity": (STATES, WEIGHTS), "recent": (STATES, WEIGHTS),
    "d_input": (STATES, INPUTS), "jacobian": (STATES, INPUTS), "d_loss": (NUMBERS, STATES),
    "W": (STATES, STATES),
    **dict.fromkeys(("P_root", "D", "V", "P_c", "P_h", "V_unit"), (SHOWN, STATES)),
}  # fmt: skip
# Of a boxed state, the joint one of a gated cell, all is measured.
OUTPUT_HEADS = (
    "boxed", "readout", "gradient", "w", "w_other", "project", "vec_A", "vec_B", "vec_Z",
)  # fmt: skip


def term_space(term: Term) -> Space:
    """The space of a term's values and arguments; a state unless listed otherwise."""
    head, *arguments = term
    parts = [argument for argument in arguments if not is_number(argument)]
    if head in ("+", "-"):
        return next(
            filter(lambda one: one[0] == STATES, map(term_space, parts)), term_space(parts[0])
        )
    if head == "gated_run" and parts[0] == ("boxed", *parts[0][1:]):
        return SHOWN, None
    if head == "*":
        return term_space(parts[0])[0], term_space(parts[-1])[1]
    return OPERATORS.get(head, (SHOWN if head in OUTPUT_HEADS else STATES, None))


GAP = "gap"
# Functions of vectors and operators that systems have, with the arguments that are computed first:
# what follows says of which weights they are.
ARGUMENT_COUNTS = {
    "phi": 2, "derivatives": 2, "d_weights": 2, "d_loss": 1, "gradient": 1, "readout": 1,
    "lower": 2, "upper_layer": 2, "activation": 1, "transpose": 1,
}  # fmt: skip
PARTIAL = ("d_state", "d_input")  # parts of the derivatives of one step in all that goes in
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
        return plan_product(arguments)
    if head in SIZE_HEADS:
        return PlanStep(head, term_space(arguments[0]), tuple(arguments))
    if head in PARTIAL:
        return PlanStep(head, (), (("derivatives", *arguments),))
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


def plan_product(factors: list[Term]) -> PlanStep:
    """A product of operators from its left end, which others share: A_T … A_{t+1} for all t."""
    if term_space(factors[-1])[1] is None:
        return PlanStep("product", (), tuple(factors))
    while isinstance(inner := unfold(factors[-1]), tuple) and inner[0] == "*":
        factors = [*factors[:-1], *inner[1:]]
    left = ("*", *factors[:-1]) if len(factors) > 2 else factors[0]
    return PlanStep("product", (), (left, factors[-1]))


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
    if p[0] in PARTIAL:
        return PlanStep(p[0], (), ((GAP, ("derivatives", *p[1:]), ("derivatives", *q[1:])),))
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
