"""Displayed statements that fit a column: long ones break at the relation and between terms."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sympy import Add, Expr, Max, Min, Mul, Symbol, default_sort_key

from rnnbounds.theory.language.printing import LATEX_SIGNS, WITNESS_NOTE, latex, ordered_terms
from rnnbounds.theory.language.statement import Statement

COLUMN = 34.5  # em: 345pt at 10pt, the width of an article's text
ROOM = 3.5  # em that a number, (12), takes
TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[{}^_]|[^\s]")
WORDS = {
    "bar": 0.0,
    "hat": 0.0,
    "infty": 1.0,
    "W": 1.0,
    "min": 2.0,
    "max": 2.2,
    "log": 1.4,
    "exp": 1.7,
    "quad": 1.0,
    "lambda": 0.58,
    "beta": 0.6,
}
RELATIONS = {"le", "ge", "ne", "<", "=", "+", "-"}
NARROW = {"(": 0.39, ")": 0.39, ",": 0.44, "|": 0.28, "lVert": 0.5, "rVert": 0.5, "1": 0.5}
SMALL = 0.7  # a script beside its letter


def lines(statement: Statement) -> list[str]:
    """The LaTeX of a statement in lines that fit, each aligned at its `&`; one without `&` if all
    of it fits. Long arguments of min and max are named q_1, q_2, … and stated below."""
    left, sign = latex(statement.lhs), LATEX_SIGNS[statement.relation]
    witness = rf"\quad\text{{{WITNESS_NOTE.strip()}}}" if statement.relation == "exists" else ""
    whole = f"{left} {sign} {latex(statement.rhs)}{witness}"
    if width(whole) <= COLUMN - ROOM:
        return [whole]
    room = COLUMN - ROOM - 2
    named: dict[Expr, Symbol] = {}
    parts = [latex(abbreviated(part, room, named)) for part in pieces(statement.rhs, room)]
    if len(parts) > 1 and not named and width(left) + max(map(width, parts)) <= room:
        first = [f"{left} &{sign} {parts[0]}"]
    else:
        first = [f"&{left}", rf"&\quad {sign} {parts[0]}"]
    found = [*first, *rest_of(parts)]
    found[-1] += witness + (r"\quad\text{with}" if named else "")
    for argument, name in named.items():
        stated = list(map(latex, pieces(argument, COLUMN - ROOM - 4)))
        found += [rf"&\quad {name} = {stated[0]}", *rest_of(stated)]
    return found


def rest_of(parts: list[str]) -> list[str]:
    """Display lines of all terms but the first, each with its sign."""
    return [rf"&\quad {part if part[0] == '-' else '+ ' + part}" for part in parts[1:]]


def abbreviated(side: Expr, room: float, named: dict[Expr, Symbol]) -> Expr:
    """The side, where it is too wide, with the longer arguments of min and max as names."""
    if width(latex(side)) <= room:
        return side
    for extremum in sorted(side.atoms(Min, Max), key=default_sort_key):
        for argument in extremum.args:
            if width(latex(argument)) > room / 3:
                named.setdefault(argument, Symbol(f"q_{len(named) + 1}", real=True))
    return side.xreplace(named)


def pieces(side: Expr, room: float) -> Iterator[Expr]:
    """Terms whose sum is the side, each in so many em where a sum in it can be multiplied out."""
    if width(latex(side)) <= room:
        yield side
        return
    if isinstance(side, Add):
        for term in ordered_terms(side):
            yield from pieces(term, room)
        return
    sums = [factor for factor in Mul.make_args(side) if isinstance(factor, Add)]
    if not sums:
        yield side
        return
    longest = max(sums, key=lambda factor: width(latex(factor)))
    rest = Mul(*(factor for factor in Mul.make_args(side) if factor is not longest))
    for term in ordered_terms(longest):
        yield from pieces(rest * term, room)


def width(text: str) -> float:
    """Estimate the printed width of a LaTeX formula, in em."""
    return _width(TOKEN.findall(text), 0)[0]


def _width(tokens: list[str], at: int, closing: str = "") -> tuple[float, int]:
    """The width from a place on, up to what closes it, and the place behind."""
    total = 0.0
    while at < len(tokens):
        token = tokens[at]
        if token == closing:
            return total, at + 1
        size, at = _one(tokens, at)
        total += size
    return total, at


def _one(tokens: list[str], at: int) -> tuple[float, int]:
    """The width of the token or group at a place, and the place behind it."""
    token, name = tokens[at], tokens[at].lstrip("\\")
    if token == "{":
        return _width(tokens, at + 1, "}")
    if name == "frac":
        above, at = _one(tokens, at + 1)
        below, at = _one(tokens, at)
        return max(above, below) + 0.24, at
    if token in ("^", "_"):
        script, at = _one(tokens, at + 1)
        return SMALL * script, at
    if name in ("left", "right", "mathrm", "text"):
        return 0.2, at + 1
    usual = 1.33 if name in RELATIONS else 0.75 if name.isupper() else NARROW.get(name, 0.6)
    return WORDS.get(name, usual), at + 1
