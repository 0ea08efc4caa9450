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
BOUNDS = {"tanh": ("<", 1), "erf": ("<", 1), "sin": ("<=", 1), "cos": ("<=", 1), "atan": ("<", 2)}


class Unsettled(Exception):  # noqa: N818 - a verdict on a step
    """cvc5 gives up; the message says on what."""


@cache
def solve_script(script: str) -> str:
    """cvc5's: sat, unsat or unknown. Cylindrical coverings, which it asks last, do not count their
    steps: a process of its own is ended where they take too much CPU time."""
    answer = _run_cvc5(script, "false")
    if answer != "unknown" or sys.platform == "win32":
        return answer
    read, write = os.pipe()
    if not (child := os.fork()):
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        os.write(write, _run_cvc5(script, "true").encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return answer or "unknown"


def _run_cvc5(script: str, use_coverings: str) -> str:
    import cvc5

    manager = cvc5.TermManager()
    solver = cvc5.Solver(manager)
    options = {"rlimit": str(STEPS), "decision": "justification", "nl-cov": use_coverings}
    for name, value in options.items():
        solver.setOption(name, value)
    symbols = cvc5.SymbolManager(manager)
    parser = cvc5.InputParser(solver, symbols)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, f"{script}\n(check-sat)\n", "question")
    output = ""
    while not (command := parser.nextCommand()).isNull():
        output += str(command.invoke(solver, symbols))
    return output.split()[0]


class Question:
    """Atoms as constants of a script, with what is known of each."""

    def __init__(self, kind: str = "Real") -> None:
        self._kind = kind
        self._names: dict[int, str] = {}
        self._facts: list[str] = []
        self._definitions: list[tuple[str, str]] = []  # condition, meaning

    def clause(self, clause: Clause) -> str:
        """SMT-LIB formula of a clause."""
        parts = [*map(self.statement, clause.given), self.statement(clause.conclusion)]
        return f"(=> {' '.join(parts)})" if clause.given else parts[0]

    def statement(self, statement: Statement) -> str:
        """The statement as a formula; a strict inequality of integers gains 1."""
        lhs, rhs = map(self.real, statement.sides)
        if statement.relation == "<" and all(map(_is_integer_poly, statement.sides)):
            return f"(<= (+ {lhs} {self._number(1)}) {rhs})"
        relation = {"exists": "<=", "==": "=", "!=": "distinct"}.get(
            statement.relation, statement.relation
        )
        return f"({relation} {lhs} {rhs})"

    def real(self, poly: Poly) -> str:
        """SMT-LIB term of a polynomial."""
        if terms.sort(poly) not in ("number", None):
            raise Refused("a vector stands where a number is needed")
        parts = []
        for (numbers, _), factor in sorted(poly, key=lambda part: terms.monomial_key(part[0])):
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
            chosen, *others = map(self.real, args)
            for other in [f"(- {chosen})"] if head.name == "abs" else others:
                sign = "<=" if head.name == "min" else ">="
                chosen = f"(ite ({sign} {chosen} {other}) {chosen} {other})"
            return chosen
        if number not in self._names:
            self._names[number] = name = f"a{len(self._names)}"
            self._add_facts(head, args, name)
        return self._names[number]

    def _add_facts(self, head: terms.Head, args: tuple[Poly, ...], name: str) -> None:
        """Add the unconditional facts on an atom to the script; define a quotient or root."""
        least = 0 if head.kind == "norm" else head.least
        low, high = head.interval or (least, None)
        for sign, bound in ((">=", low), ("<=", high)):
            self._facts += [f"({sign} {name} {self._number(bound)})"] if bound is not None else []
        inner = self.real(args[0]) if head in (INVERSE, ROOT) or head.mark < 0 < len(args) else ""
        if head is INVERSE:
            self._definitions.append((f"(distinct {inner} 0.0)", f"(= (* {name} {inner}) 1.0)"))
        if head is ROOT:
            meaning = f"(and (>= {name} 0.0) (= (* {name} {name}) {inner}))"
            self._definitions.append((f"(>= {inner} 0.0)", meaning))
        if head.mark < 0 and head.name in BOUNDS:
            sign, bound = BOUNDS[head.name]
            self._facts.append(f"(and ({sign} (- {bound}.0) {name}) ({sign} {name} {bound}.0))")
        if head.mark < 0 and head.name == "exp":
            self._facts.append(f"(> {name} 0.0)")
            self._facts.append(f"(=> (<= {inner} 0.0) (<= {name} 1.0))")
            self._facts.append(f"(>= {name} (+ 1.0 {inner}))")

    def ask(self, *formulas: str) -> str:
        """cvc5's answer (sat, unsat, unknown) on the formulas and all facts on their atoms."""
        names = (f"(declare-const {name} {self._kind})" for name in self._names.values())
        asserted = (f"(assert {formula})" for formula in (*self._facts, *formulas))
        logic = f"(set-logic QF_{'NRA' if self._kind == 'Real' else 'LIA'})"
        return solve_script("\n".join([logic, *names, *asserted]))

    def meanings(self, facts: Sequence[str]) -> list[str]:
        """Definitions of quotients and roots, each shown to exist by the facts and the others."""
        definitions: list[str] = []
        pending = self._definitions
        while pending:
            answers = {part: self.ask(*facts, *definitions, f"(not {part[0]})") for part in pending}
            if "unsat" not in answers.values():
                require_unsat(answers[pending[0]], "a quotient or a root may have no value")
            definitions += [part[1] for part in pending if answers[part] == "unsat"]
            pending = [part for part in pending if answers[part] != "unsat"]
        return definitions


def require_unsat(answer: str, failure: str) -> None:
    """Refused, or unsettled, unless the answer is unsat."""
    if answer != "unsat":
        raise (Refused if answer == "sat" else Unsettled)(failure)


def _is_integer_poly(poly: Poly) -> bool:
    numbers = (ATOMS[n].head.range == "natural" for (ns, _), _ in poly for n, _ in ns)
    return all(f.denominator == 1 and not word for (_, word), f in poly) and all(numbers)


def _is_linear(poly: Poly) -> bool:
    """True if the polynomial is linear in natural variables, with integer coefficients."""
    return _is_integer_poly(poly) and all(
        sum(e for _, e in numbers) <= 1 for (numbers, _), _ in poly
    )


def require_natural(poly: Poly, facts: Iterable[Clause]) -> None:
    """Refused unless the linear facts of integers make it a natural number."""
    if not _is_linear(poly):
        raise Refused(f"{terms.poly_key(poly)} is no sum of natural variables")
    if any(factor < 0 for _, factor in poly):
        question = Question("Int")
        plain_facts = (fact.conclusion for fact in facts if not fact.given)
        formulas = [question.statement(s) for s in plain_facts if all(map(_is_linear, s.sides))]
        answer = question.ask(*formulas, f"(< {question.real(poly)} 0)")
        require_unsat(answer, f"{terms.poly_key(poly)} may be no natural number")


def entail(goal: Statement, facts: Sequence[Clause], conditions: Facts, rewrite_all: bool) -> None:
    """Refused, or unsettled, unless the facts entail the goal and give it a value. Equations of
    vectors, and for function terms or, with `rewrite_all`, all atoms, are used by rewriting."""
    goal, facts, partial_terms = _rewrite_problem(goal, facts, rewrite_all)
    sides = [*goal.sides, *partial_terms, *(side for fact in facts for side in fact.sides)]
    aligned = align_powers(sides, (*facts, *conditions))
    goal, facts = goal.at(aligned), [fact.at(aligned) for fact in facts]
    question = Question()
    formulas = [question.clause(fact) for fact in facts]
    for number in terms.partial_atoms(
        [*goal.sides, *(terms.substitute(term, aligned) for term in partial_terms)]
    ):
        question.real(terms.atom_poly(number))
    is_trivial = goal.relation == "==" and goal.lhs == goal.rhs
    negation = "" if is_trivial else f"(not {question.statement(goal)})"
    formulas += question.meanings(formulas)
    require_unsat(
        "unsat" if is_trivial else question.ask(*formulas, negation), f"{goal} does not follow"
    )


def _rewrite_problem(
    goal: Statement, facts: Facts, rewrite_all: bool
) -> tuple[Statement, Facts, Sequence[Poly]]:
    """The goal and the clauses of numbers, rewritten to the end; and what the goal has, or the
    rules bring, that is to have a value."""
    rules = dict(_rewrite_rules(facts, rewrite_all))

    def rewrite(statement: Statement) -> Statement:
        for _ in range(100):
            previous, statement = statement, statement.at(rules)
            if statement == previous:
                return statement
        raise Refused("rewriting does not end")

    rewritten = rewrite(goal)
    rule_terms = rules.values() if rewritten != goal else ()
    parts = map(terms.atom_poly, terms.partial_atoms([*goal.sides, *rule_terms]))
    partial_terms = [rewrite(Statement(statement, "==", statement)).lhs for statement in parts]
    number_facts = (fact for fact in facts if not fact.conclusion.compares_vectors)
    clauses = [
        Clause(rewrite(fact.conclusion), tuple(map(rewrite, fact.given))) for fact in number_facts
    ]
    return rewritten, clauses, partial_terms


def _rewrite_rules(facts: Facts, rewrite_all: bool) -> list[tuple[int, Poly]]:
    """Equations for one vector or operator, whose premises are facts; and equations of numbers for
    a function term that is an atom or a number or, with `rewrite_all`, for any atom."""
    granted, rules = {fact.conclusion for fact in facts if not fact.given}, []
    for fact in facts:
        equation, number = fact.conclusion, terms.single_atom(fact.conclusion.lhs)
        if equation.compares_vectors and (number is None or not granted.issuperset(fact.given)):
            raise Refused(f"{equation} is no granted equation for one term")
        if (
            number is None
            or equation.relation != "=="
            or (fact.given and not equation.compares_vectors)
        ):
            continue
        head, args = ATOMS[number].head, ATOMS[number].args
        is_simple = (
            terms.constant_value(equation.rhs) is not None
            or terms.single_atom(equation.rhs) is not None
        )
        is_formal = head.kind == "scalar" and head.mark >= 0 and args and is_simple
        if (
            equation.compares_vectors
            or is_formal
            or (rewrite_all and head not in (INVERSE, ROOT, POWER))
        ):
            rules.append((number, equation.rhs))
    return rules


def align_powers(polys: Iterable[Poly], facts: Sequence[Clause]) -> dict[int, Poly]:
    """Each symbolic power as the one of its kind with the least exponent, which is shown to be
    natural, times factors."""
    powers_by_kind: dict[tuple[Poly, Poly], dict[int, int]] = {}
    for number in terms.partial_atoms(polys, POWER):
        base, exponent = ATOMS[number].args
        if terms.sort(base) not in ("number", None):
            raise Refused("a symbolic power of an operator")
        integer_part = floor(dict(exponent).get(terms.EMPTY_MONOMIAL, 0))
        powers_by_kind.setdefault(
            (base, terms.subtract(exponent, terms.constant(integer_part))), {}
        )[number] = integer_part
    values = {}
    for (base, fractional_part), offsets in powers_by_kind.items():
        least_integer = min(offsets.values())
        least = terms.add(fractional_part, terms.constant(least_integer))
        require_natural(least, facts)
        for number, integer_part in offsets.items():
            factors = terms.power(base, terms.constant(integer_part - least_integer))
            values[number] = terms.times(terms.power(base, least), factors)
    return values
