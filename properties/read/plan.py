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

from rnnbounds.properties.read.ground import KEPT, Term, is_number, unfolded

GAP = "gap"
# Functions of vectors and operators that systems have, with the arguments that are computed first:
# what follows says of which weights they are.
ARGUMENTS = {
    "phi": 2, "d_state": 2, "d_weights": 2, "d_input": 2, "d_loss": 1, "gradient": 1, "readout": 1,
    "lower": 2, "upper_layer": 2, "turned": 1, "pushed": 1, "activation": 1, "decay": 1, "fed": 1,
    "transpose": 1,
}  # fmt: skip
# What numbers are made of, and sizes.
OF_NUMBERS = ("^", "Max", "Min", "Abs")
SIZES = ("norm", "max_norm", "weighted", "whole", "omega_norm", "frobenius", "rank", "is_scalar")


class Step(NamedTuple):
    """An operation, what it needs to know beside, and the nodes whose values it takes."""

    operation: str
    known: tuple[Term, ...] = ()
    of: tuple[Term, ...] = ()


@lru_cache(maxsize=KEPT)
def plan(node: Term) -> Step:
    """How a term or a pair of terms is computed."""
    if is_number(node):
        return Step("number", (node,))
    head, *arguments = node
    if head == GAP:
        return of_pair(*arguments)
    if (same := unfolded(node)) is not None:
        return Step("same", (), (same,))
    if head == "+":
        return Step("sum", (), tuple(terms_of(arguments)))
    if head == "-":
        return Step("apart", (), ((GAP, *arguments),))
    if head == "*":
        return Step("product", (), tuple(arguments))
    if head in SIZES:
        return Step(head, tuple(arguments), tuple(arguments))
    if head == "^":
        return Step(head, tuple(arguments[1:]), tuple(arguments[:1]))
    if head in OF_NUMBERS:
        return Step(head, (), tuple(arguments))
    if head in ARGUMENTS:
        many = ARGUMENTS[head]
        return Step(head, tuple(arguments[many:]), tuple(arguments[:many]))
    if any(not is_number(one) and not all(map(is_number, one[1:])) for one in arguments):
        return Step(head, (), tuple(arguments))  # of what is computed, not of names and numbers
    return Step("leaf", (node,))


def terms_of(terms: list[Term]) -> list[Term]:
    """The terms of a sum, with those that are subtracted from one of their form beside it."""
    found = [term for term in terms if negated(term) is None]
    for term in terms:
        taken = negated(term)
        if taken is None:
            continue
        like = [one for one in found if form(one) == form(taken)]
        if like:
            found[found.index(like[0])] = ("-", like[0], taken)
        else:
            found.append(term)
    return found


def negated(term: Term) -> Term | None:
    """p of −p."""
    if is_number(term) or term[0] != "*" or term[1] != -1:
        return None
    return term[2] if len(term) == 3 else ("*", *term[2:])


def form(term: Term) -> Term:
    """Reduce a term to its form without arguments, by which terms of a sum are paired; vectors of
    different heads have one form."""
    if is_number(term):
        return "number"
    if term[0] == "*":
        return tuple(map(form, term[1:]))
    return "vector" if term[0] in VECTORS or len(term) == 1 else term[0]


VECTORS = ("state", "gated_run", "begun", "forward", "boxed", "computed", "computed_double",
           "unitary_computed", "on_record", "phi", "recent", "sensitivity")  # fmt: skip


def of_pair(p: Term, q: Term) -> Step:
    """How p and p − q are computed."""
    if p == q:
        return Step("still", (), (p,))
    if q == 0:
        return Step("begun", (), (p,))
    if p == 0:
        return Step("ended", (), (q,))
    one, two = unfolded(p), unfolded(q)
    if one is not None and two is not None:
        return Step("same", (), ((GAP, one, two),))
    if is_number(p) or is_number(q) or p[0] != q[0]:
        return Step("pair", (), (p, q))
    head, pairs = p[0], tuple((GAP, *both) for both in zip(p[1:], q[1:], strict=False))
    if head not in ARGUMENTS and len(p) != len(q):
        return Step("pair", (), (p, q))
    if head == "+":
        return Step("sum", (), pairs)
    if head == "*":
        # Of two operators that have names of their own the sizes may differ.
        named = any(p != q and len(p) == 1 == len(q) for _, p, q in pairs if not is_number(p))
        return Step("pair", (), (p, q)) if named else Step("product", (), pairs)
    if head in ARGUMENTS:
        many = ARGUMENTS[head]
        return Step(head, (p[1 + many :], q[1 + many :]), pairs[:many])
    return Step("pair", (), (p, q))
