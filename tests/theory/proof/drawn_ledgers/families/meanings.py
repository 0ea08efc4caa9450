"""New functions by recursion, and quantities by what they are measured as, lemmas on these too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from flint import fmpq
from sympy import Abs, Expr, Integer, exp, log, sqrt

from drawn_ledgers.models import k, steps, whole, x
from drawn_ledgers.said import Said, method, premises
from drawn_ledgers.values import Model, Value
from rnnbounds.theory.errors import InputError
from rnnbounds.theory.language import Clause, Statement, at, define, eq, le, lt, ne, symbols
from rnnbounds.theory.language.definitions import REGISTRY, Definition
from rnnbounds.theory.language.quantity import measured
from rnnbounds.theory.language.terms.networks import feasible
from rnnbounds.theory.language.terms.variables import j, m, w, w_other, z
from rnnbounds.theory.language.terms.vectors import Scalar, function, norm, state
from rnnbounds.theory.language.vocabulary import DEFINITIONS
from rnnbounds.theory.proof import Proof, Step
from rnnbounds.theory.proof.everywhere import WeightSet
from rnnbounds.theory.proof.methods import Smt
from rnnbounds.theory.proof.scope import lemma

(h_norm,) = symbols("h_norm")
OF_ALL = WeightSet(eq(feasible(w), 1))
final = norm(state(x, 0, steps))
DEEP = 12
NAME, new = "drawn definition", function("drawn", Scalar, defined=True)
INSTANCES: tuple[tuple[Expr, Expr], ...] = ((j, z), (j, j), (0, z), (0, j), (m, j), (j, Integer(0)))


def _accepted(chance: Random) -> Definition | None:
    """A definition of a new function by recursion, if it passes for one; it is not kept."""
    second = chance.choice((z, z, m))
    first = chance.choice((j + 1, j + 1, j + 1, j))
    argument = chance.choice(
        (
            *((j, z), (j, second), (j, second), (j, j), (j + 1, j), (j + 1, j), (j, second + 1)),
            *((second, j), (j + 1, second), (0, 0), (j, 2 * z), (j - 1, second)),
        )
    )
    inner = new(*argument)
    value = chance.choice(
        (inner + 1, 2 * inner, inner - second, 1 - inner, inner**2 + j, Integer(1))
    )
    again = Clause(eq(new(first, second), value))
    if not chance.choice(range(6)):
        again = Clause(eq(new(first, second), 1), (le(inner, 0),))
    start = eq(new(0, second), chance.choice((Integer(0), second, Integer(1), inner)))
    try:
        return define(NAME, (j, second), start, again)
    except InputError:
        return None
    finally:
        REGISTRY.pop(NAME, None)


def _recursion(found: Definition) -> Callable[[Model], Callable[..., Value]]:
    """The function that is defined; what has no end is 0 after so many calls."""
    deep = [0]

    def of(model: Model) -> Callable[..., Value]:
        def value(*args: Value) -> Value:
            if deep[0] > DEEP:
                return fmpq(0)
            for clause in found.clauses:
                here = dict[Expr, Value]()
                pairs = zip(clause.conclusion.lhs.args, args, strict=True)
                if all(_matches(pattern, arg, here) for pattern, arg in pairs):
                    inside = model.at(here)
                    deep[0] += 1
                    try:
                        if all(map(inside.grants, clause.given)):
                            return inside.of(clause.conclusion.rhs)
                    finally:
                        deep[0] -= 1
            return fmpq(0)

        return value

    return of


def _matches(pattern: Expr, arg: Value, here: dict[Expr, Value]) -> bool:
    """Whether the argument is of this form: 0, a variable, or j + 1."""
    if pattern.is_Symbol:
        here[pattern] = whole(arg) if pattern.is_integer else arg
        return True
    if pattern == 0 or arg == 0:
        return bool(pattern == arg == 0)
    (symbol,) = pattern.free_symbols
    here[symbol] = whole(arg) - 1
    return True


def definitions(chance: Random, model: Model) -> Said | None:
    """A clause of a definition at some terms; one that is accepted gives each place one value."""
    found = _accepted(chance)
    if found is None:
        return None
    functions = dict(model.functions)
    meant = replace(model, functions=functions)
    functions[new] = _recursion(found)(meant)
    clause, terms = chance.choice(found.clauses), chance.choice(INSTANCES)
    put = clause.replace(dict(zip(found.variables, terms, strict=True)))
    stated, kind = put.conclusion, chance.choice(range(3))
    if kind == 1:
        stated = chance.choice((lt, le))(stated.rhs, stated.lhs - 1)
    elif kind == 2:
        stated = stated.replace({chance.choice((j, z, m)): chance.choice((Integer(0), j + 1, z))})
    forall = tuple(sorted(stated.symbols.union(*(g.symbols for g in put.given)), key=str))
    by = Smt(*premises(put.given), found.at(*terms))
    return Said(stated, forall, by, put.given, kind == 0, model=meant, defined=found)


QUANTITIES = tuple(
    measured(f"drawn_{name}", "a quantity", name, value)
    for name, value in {
        "log": log(final), "twice": log(final**2), "inverse": 1 / final, "root": sqrt(final - 1),
        "same": final,
        "below": log(final / 2), "over": final / (1 + final), "power": final**2,
    }.items()
)  # fmt: skip
SHAPES: tuple[Callable[[Expr], Statement], ...] = (
    lambda q: lt(0, exp(q)), lambda q: lt(0, exp(q) + q**2), lambda q: eq(exp(q), h_norm),
    lambda q: eq(q * h_norm, 1),
    lambda q: le(0, q**2), lambda q: eq(q**2, h_norm - 1), lambda q: le(0, q),
    lambda q: eq(q / h_norm, 1), lambda q: ne(q, 0), lambda q: le(q, h_norm),
    lambda q: lt(0, exp(2 * q)), lambda q: le(0, Abs(q)), lambda q: lt(q, 1),
    lambda q: lt(0, exp(log(q), evaluate=False)), lambda q: lt(0, exp(q + log(2))),
)  # fmt: skip


def quantities(chance: Random, model: Model) -> Said:
    """A statement about a new quantity, or what it comes to where its definition is written out."""
    quantity, shape = chance.choice(QUANTITIES[:2] + QUANTITIES), chance.choice(SHAPES[:2] + SHAPES)
    meant = replace(model, defined={**DEFINITIONS, quantity.symbol: quantity.definition})
    stated = shape(quantity.symbol)
    by = method(chance, Smt)()
    kind = chance.choice(range(4))
    if kind == 0:
        return Said(stated, (), by, model=meant)
    written = stated.replace({quantity.symbol: quantity.definition})
    if kind == 1:
        law = Step("b", shape(z), Smt(), (z,), location="drawn")
        use = at("b", quantity.symbol)
        return Said(written, (), Smt(use), before=(law,), model=meant)
    if kind == 2:
        proved = lemma("lemma", (steps,), (), stated, Proof((Step("s", stated, by),)))
        length = chance.choice((steps, k, Integer(0)))
        said = written.replace({steps: length})
        return Said(said, (), Smt(proved.at(length)), model=meant)
    proved = lemma("lemma", (w,), (), stated, Proof((Step("s", stated, by),)), OF_ALL)
    given = (eq(feasible(w_other), 1),)
    said = written.replace({final: norm(state(x, 0, steps, w_other))})
    by = Smt("given 1", proved.at(w_other))
    return Said(said, (w_other,), by, given, model=meant)
