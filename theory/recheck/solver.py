"""Questions to cvc5: do facts entail a goal, over the reals, where all has a value?

1/p is a v with v·p = 1 and √p an r ≥ 0 with r² = p, once p ≠ 0 and p ≥ 0 are entailed; powers of
one base whose exponents differ by an integer share the least, once that is shown to be natural.
cvc5 is bounded in its own count of steps, so that it answers alike everywhere.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from math import floor
from typing import TypeAlias

from rnnbounds.theory.recheck import terms
from rnnbounds.theory.recheck.reading import Clause, Statement
from rnnbounds.theory.recheck.terms import ATOMS, INVERSE, POWER, ROOT, Poly, Refused

Facts: TypeAlias = Sequence[Clause]

STEPS, SECONDS = 20_000, 5
BETWEEN = {"tanh": ("<", 1), "erf": ("<", 1), "sin": ("<=", 1), "cos": ("<=", 1), "atan": ("<", 2)}


class Unsettled(Exception):  # noqa: N818 - a verdict on a step
    """cvc5 gives up; the message says on what."""


@cache
def verdict(script: str) -> str:
    """cvc5's: sat, unsat or unknown. Cylindrical coverings, which it asks last, do not count their
    steps: a process of its own is ended where they take too much CPU time."""
    found = _asked(script, "false")
    if found != "unknown" or sys.platform == "win32":
        return found
    read, write = os.pipe()
    if not (child := os.fork()):
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        os.write(write, _asked(script, "true").encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        found = answer.read()
    os.waitpid(child, 0)
    return found or "unknown"


def _asked(script: str, coverings: str) -> str:
    import cvc5

    manager = cvc5.TermManager()
    solver = cvc5.Solver(manager)
    options = {"rlimit": str(STEPS), "decision": "justification", "nl-cov": coverings}
    for name, value in options.items():
        solver.setOption(name, value)
    symbols = cvc5.SymbolManager(manager)
    parser = cvc5.InputParser(solver, symbols)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, f"{script}\n(check-sat)\n", "question")
    said = ""
    while not (command := parser.nextCommand()).isNull():
        said += str(command.invoke(solver, symbols))
    return said.split()[0]


class Question:
    """Atoms as constants of a script, with what is known of each."""

    def __init__(self, kind: str = "Real") -> None:
        self._kind = kind
        self._names: dict[int, str] = {}
        self._known: list[str] = []
        self._partial: list[tuple[str, str]] = []  # condition, meaning

    def clause(self, clause: Clause) -> str:
        """The clause as a formula."""
        parts = [*map(self.statement, clause.given), self.statement(clause.conclusion)]
        return f"(=> {' '.join(parts)})" if clause.given else parts[0]

    def statement(self, one: Statement) -> str:
        """The statement as a formula; a strict inequality of integers gains 1."""
        lhs, rhs = map(self.real, one.sides)
        if one.relation == "<" and all(map(_is_whole, one.sides)):
            return f"(<= (+ {lhs} {self._number(1)}) {rhs})"
        relation = {"exists": "<=", "==": "=", "!=": "distinct"}.get(one.relation, one.relation)
        return f"({relation} {lhs} {rhs})"

    def real(self, one: Poly) -> str:
        """The polynomial as a term of the script."""
        if terms.sort(one) not in ("number", None):
            raise Refused("a vector stands where a number is needed")
        parts = []
        for (numbers, _), factor in sorted(one, key=lambda part: terms.monomial_key(part[0])):
            names = [name for n, e in numbers for name in [self._name(n)] * e]
            names = names if names and factor == 1 else [self._number(factor), *names]
            parts.append(names[0] if len(names) == 1 else f"(* {' '.join(names)})")
        return f"(+ {' '.join(parts)})" if len(parts) > 1 else "".join(parts) or self._number(0)

    def _number(self, number: Fraction | int) -> str:
        above, below = abs(Fraction(number)).as_integer_ratio()
        dot = ".0" if self._kind == "Real" else ""
        size = f"{above}{dot}" if below == 1 else f"(/ {above}.0 {below}.0)"
        return f"(- {size})" if number < 0 else size

    def _name(self, number: int) -> str:
        head, args = ATOMS[number].head, ATOMS[number].args
        if head.mark < 0 and head.name in ("abs", "max", "min"):
            best, *others = map(self.real, args)
            for one in [f"(- {best})"] if head.name == "abs" else others:
                less = "<=" if head.name == "min" else ">="
                best = f"(ite ({less} {best} {one}) {best} {one})"
            return best
        if number not in self._names:
            self._names[number] = name = f"a{len(self._names)}"
            self._describe(head, args, name)
        return self._names[number]

    def _describe(self, head: terms.Head, args: tuple[Poly, ...], name: str) -> None:
        """Add the unconditional facts on an atom to the script; define a quotient or root."""
        least = 0 if head.kind == "norm" else head.least
        low, high = head.interval or (least, None)
        for less, end in ((">=", low), ("<=", high)):
            self._known += [f"({less} {name} {self._number(end)})"] if end is not None else []
        inner = self.real(args[0]) if head in (INVERSE, ROOT) or head.mark < 0 < len(args) else ""
        if head is INVERSE:
            self._partial.append((f"(distinct {inner} 0.0)", f"(= (* {name} {inner}) 1.0)"))
        if head is ROOT:
            meaning = f"(and (>= {name} 0.0) (= (* {name} {name}) {inner}))"
            self._partial.append((f"(>= {inner} 0.0)", meaning))
        if head.mark < 0 and head.name in BETWEEN:
            less, end = BETWEEN[head.name]
            self._known.append(f"(and ({less} (- {end}.0) {name}) ({less} {name} {end}.0))")
        if head.mark < 0 and head.name == "exp":
            self._known.append(f"(> {name} 0.0)")
            self._known.append(f"(=> (<= {inner} 0.0) (<= {name} 1.0))")
            self._known.append(f"(>= {name} (+ 1.0 {inner}))")

    def ask(self, *formulas: str) -> str:
        """The verdict on the formulas, with all that is known."""
        names = (f"(declare-const {name} {self._kind})" for name in self._names.values())
        asserted = (f"(assert {formula})" for formula in (*self._known, *formulas))
        logic = f"(set-logic QF_{'NRA' if self._kind == 'Real' else 'LIA'})"
        return verdict("\n".join([logic, *names, *asserted]))

    def meanings(self, known: Sequence[str]) -> list[str]:
        """Definitions of quotients and roots, each shown to exist by the facts and the others."""
        found: list[str] = []
        left = self._partial
        while left:
            answers = {part: self.ask(*known, *found, f"(not {part[0]})") for part in left}
            if "unsat" not in answers.values():
                require(answers[left[0]], "a quotient or a root may have no value")
            found += [part[1] for part in left if answers[part] == "unsat"]
            left = [part for part in left if answers[part] != "unsat"]
        return found


def require(answer: str, what: str) -> None:
    """Refused, or unsettled, unless the answer is unsat."""
    if answer != "unsat":
        raise (Refused if answer == "sat" else Unsettled)(what)


def _is_whole(one: Poly) -> bool:
    numbers = (ATOMS[n].head.range == "natural" for (ns, _), _ in one for n, _ in ns)
    return all(f.denominator == 1 and not word for (_, word), f in one) and all(numbers)


def _is_linear(one: Poly) -> bool:
    """True if the polynomial is linear in natural variables, with integer coefficients."""
    return _is_whole(one) and all(sum(e for _, e in numbers) <= 1 for (numbers, _), _ in one)


def require_natural(number: Poly, facts: Iterable[Clause]) -> None:
    """Refused unless the linear facts of integers make it a natural number."""
    if not _is_linear(number):
        raise Refused(f"{terms.key(number)} is no sum of natural variables")
    if any(factor < 0 for _, factor in number):
        question = Question("Int")
        plain = (fact.conclusion for fact in facts if not fact.given)
        stated = [question.statement(s) for s in plain if all(map(_is_linear, s.sides))]
        answer = question.ask(*stated, f"(< {question.real(number)} 0)")
        require(answer, f"{terms.key(number)} may be no natural number")


def entail(goal: Statement, facts: Sequence[Clause], conditions: Facts, every: bool) -> None:
    """Refused, or unsettled, unless the facts entail the goal and give it a value. Equations of
    vectors, and for function terms or, with `every`, all atoms, are used by rewriting."""
    goal, facts, also = _prepared(goal, facts, every)
    sides = [*goal.sides, *also, *(side for fact in facts for side in fact.sides)]
    put = least_powers(sides, (*facts, *conditions))
    goal, facts = goal.at(put), [fact.at(put) for fact in facts]
    question = Question()
    known = [question.clause(fact) for fact in facts]
    for number in terms.partial([*goal.sides, *(terms.replaced(one, put) for one in also)]):
        question.real(terms.of_number(number))
    same = goal.relation == "==" and goal.lhs == goal.rhs
    wrong = "" if same else f"(not {question.statement(goal)})"
    known += question.meanings(known)
    require("unsat" if same else question.ask(*known, wrong), f"{goal} does not follow")


def _prepared(
    goal: Statement, facts: Facts, every: bool
) -> tuple[Statement, Facts, Sequence[Poly]]:
    """The goal and the clauses of numbers, rewritten to the end; and what the goal has, or the
    rules bring, that is to have a value."""
    rules = dict(_rules(facts, every))

    def put(one: Statement) -> Statement:
        for _ in range(100):
            before, one = one, one.at(rules)
            if one == before:
                return one
        raise Refused("rewriting does not end")

    final = put(goal)
    brought = rules.values() if final != goal else ()
    parts = map(terms.of_number, terms.partial([*goal.sides, *brought]))
    also = [put(Statement(one, "==", one)).lhs for one in parts]
    plain = (fact for fact in facts if not fact.conclusion.vectors)
    known = [Clause(put(fact.conclusion), tuple(map(put, fact.given))) for fact in plain]
    return final, known, also


def _rules(facts: Facts, every: bool) -> list[tuple[int, Poly]]:
    """Equations for one vector or operator, whose premises are facts; and equations of numbers for
    a function term that is an atom or a number or, with `every`, for any atom."""
    stated, found = {fact.conclusion for fact in facts if not fact.given}, []
    for fact in facts:
        one, number = fact.conclusion, terms.single(fact.conclusion.lhs)
        if one.vectors and (number is None or not stated.issuperset(fact.given)):
            raise Refused(f"{one} is no granted equation for one term")
        if number is None or one.relation != "==" or (fact.given and not one.vectors):
            continue
        head, args = ATOMS[number].head, ATOMS[number].args
        simple = terms.value(one.rhs) is not None or terms.single(one.rhs) is not None
        formal = head.kind == "scalar" and head.mark >= 0 and args and simple
        if one.vectors or formal or (every and head not in (INVERSE, ROOT, POWER)):
            found.append((number, one.rhs))
    return found


def least_powers(polys: Iterable[Poly], facts: Sequence[Clause]) -> dict[int, Poly]:
    """Each symbolic power as the one of its kind with the least exponent, which is shown to be
    natural, times factors."""
    kinds: dict[tuple[Poly, Poly], dict[int, int]] = {}
    for number in terms.partial(polys, POWER):
        base, exponent = ATOMS[number].args
        if terms.sort(base) not in ("number", None):
            raise Refused("a symbolic power of an operator")
        more = floor(dict(exponent).get(terms.EMPTY, 0))
        kinds.setdefault((base, terms.minus(exponent, terms.const(more))), {})[number] = more
    found = {}
    for (base, rest), members in kinds.items():
        low = min(members.values())
        least = terms.add(rest, terms.const(low))
        require_natural(least, facts)
        for number, more in members.items():
            factors = terms.power(base, terms.const(more - low))
            found[number] = terms.times(terms.power(base, least), factors)
    return found
