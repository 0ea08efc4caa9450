"""Reads `h_gap <= S_0*lam**k/(1 - lam)`, or `‖h_T − h_T^(k)‖ ≤ S_0 λ^k/(1 − λ)`, into a Statement.

The text is never evaluated as code: its tokens are read one by one, with Python's precedence. The
longest run of tokens that spells a quantity, by its name or by its notation, is the quantity; what
is neither a sign nor spelled is refused. Decimal numbers become exact rationals; caps on length,
depth and the size of numbers keep hostile text from taking time. Side conditions follow a statement
behind commas: they compare k, T and lam with numbers or with one another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any, TypeAlias, cast

import sympy
from sympy import Expr, Rational

from rnnbounds.theory.errors import StatementError, UnknownNameError
from rnnbounds.theory.language import spelling
from rnnbounds.theory.language.law import Clause
from rnnbounds.theory.language.printing import statement_text
from rnnbounds.theory.language.spelling import CLOSING, MAX_DEPTH, NUMBER, fault, tokenize
from rnnbounds.theory.language.statement import Relation, Statement
from rnnbounds.theory.language.vocabulary import VOCABULARY

MAX_LENGTH = 10_000
MAX_TOKENS = 1_000
MAX_LITERAL = 400  # digits
MAX_BITS = 2_048  # of a constant's numerator and denominator
CONDITION_NAMES = ("k", "T", "lam")
MAX_CONDITIONS = 8

ALLOWED = "names of the vocabulary, numbers, + - * / **, sqrt, log, exp, min, max and one <= or <"
RELATIONS: dict[str, tuple[Relation, bool]] = {  # (relation, sides swapped)
    "<=": ("<=", False), "<": ("<", False), ">=": ("<=", True), ">": ("<", True),
}  # fmt: skip
FUNCTIONS: dict[str, Callable[..., Expr]] = {"sqrt": sympy.sqrt, "log": sympy.log, "exp": sympy.exp}
# SymPy's own names too, by which statements are printed.
EXTREMA: dict[str, Any] = dict.fromkeys(("min", "Min"), sympy.Min) | dict.fromkeys(
    ("max", "Max"), sympy.Max
)
OPERATORS = ("+", "-", "*", "/", "**", "^", ",", ")", "}", *RELATIONS)
MEANT = {
    **dict.fromkeys(("=", "!"), "is no bound; write one <= or >= (an equality is two bounds)"),
    **dict.fromkeys(CLOSING.values(), "has a bracket that closes nothing, or not enough before it"),
    **dict.fromkeys(
        ("and", "or", "not", "if", "for", "where", "when", "with"),
        "has a word of logic or prose; write side conditions behind commas, ', k >= 1, k < T'",
    ),
}
PLAIN_TOKEN = re.compile(rf"[A-Za-z_]\w*|{NUMBER}|\*\*|[<>]=|\S", re.ASCII)
Names: TypeAlias = Mapping[tuple[str, ...], Expr | Callable[..., Expr]]


def parse_statement(text: str) -> Statement:
    """The statement that a user typed; `a >= b` becomes `b <= a`.

    Quantities by their names or as pages print them: `‖h_T − h_T^(k)‖ ≤ S_0 λ^k/(1 − λ)`, or LaTeX.
    Raises StatementError, one line, for anything else.
    """
    line = " ".join(text.split())
    if not line:
        raise StatementError("the statement is empty; write it as lhs <= rhs")
    if len(line) > MAX_LENGTH:
        raise fault(line, f"has {len(line)} characters; at most {MAX_LENGTH} are read")
    reader = _Reader(line, _quantities(len(VOCABULARY)))
    lhs = reader.sum(0)
    if reader.word not in RELATIONS:
        raise reader.unread("compares nothing; write it as lhs <= rhs")
    relation, is_swapped = RELATIONS[reader.take()]
    rhs = reader.sum(0)
    if reader.at < len(reader.words):
        raise reader.unread()
    return Statement(rhs, relation, lhs) if is_swapped else Statement(lhs, relation, rhs)


@lru_cache(maxsize=1)
def _quantities(size: int) -> Names:
    """The quantities by the tokens of their notations and of their names; `size`, the vocabulary's,
    is the key of the cache: the vocabulary only grows."""
    notations = {tuple(tokenize(q.notation)): q.symbol for q in VOCABULARY.values()}
    names = {tuple(tokenize(name)): q.symbol for name, q in VOCABULARY.items()}
    return notations | names | {(name,): q.symbol for name, q in VOCABULARY.items()}


def read_clauses(text: str, names: Mapping[str, Any]) -> tuple[Clause, ...]:
    """The clauses of a law as it is printed: `0 <= y; y == z where 0 <= z and z <= 0`.

    The names are those of symbols and of functions. Raises StatementError for what is no law.
    """
    known: Names = {(name,): value for name, value in names.items()}

    def statement(part: str) -> Statement:
        lhs, sign, rhs = re.split(r" (<=|<|==|!=) ", part.strip())
        one, other = (_Reader(side, known).whole() for side in (lhs, rhs))
        return Statement(one, cast(Relation, sign), other)

    def clause(part: str) -> Clause:
        conclusion, _, premises = part.partition(" where ")
        given = premises.split(" and ") if premises else ()
        return Clause(statement(conclusion), tuple(map(statement, given)))

    return tuple(map(clause, text.split(";")))


class _Reader:
    """Reads the tokens of one line from left to right; each method begins at the place `at`, and
    leaves it behind what it has read."""

    def __init__(self, line: str, names: Names) -> None:
        self.line, self.names, self.at = line, names, 0
        self.longest = max(map(len, names))
        # In names alone products are written with *.
        self.is_plain = line.isascii() and not set("\\^{}|").intersection(line)
        self.words = PLAIN_TOKEN.findall(line) if self.is_plain else tokenize(line)
        nested = ((word in CLOSING) - (word in CLOSING.values()) for word in self.words)
        if max(accumulate(nested), default=0) > MAX_DEPTH:
            raise fault(line, f"is too deep; at most {MAX_DEPTH} brackets are nested")
        if len(self.words) > MAX_TOKENS:
            raise fault(line, f"is too long; at most {MAX_TOKENS} names and signs are read")

    @property
    def word(self) -> str:
        """The token at the place; empty at the end."""
        return self.words[self.at] if self.at < len(self.words) else ""

    def take(self, *wanted: str) -> str:
        """The token at the place, if it is one of those wanted, or any; else nothing is read."""
        found = self.word if self.word in wanted or not wanted else ""
        self.at += bool(found)
        return found

    def whole(self) -> Expr:
        """All of the line as an expression."""
        found = self.sum(0)
        if self.word:
            raise self.unread()
        return found

    def sum(self, depth: int) -> Expr:
        """Terms with + and - between them."""
        total = self.product(depth)
        while sign := self.take("+", "-"):
            term = self.product(depth)
            total = total + term if sign == "+" else total - term
        return total

    def product(self, depth: int) -> Expr:
        """Factors with * and / between them; in notation what stands side by side is multiplied."""
        total, sign = self.factor(depth), ""
        while self.word and self.word not in ("+", "-", ",", ")", "}", "^", *RELATIONS):
            before, sign = sign, self.take("*", "/")
            word = self.word
            factor = self.factor(depth)
            if not sign and before == "/" and not self.is_plain:
                raise fault(self.line, "divides by a product without brackets; write a/(b*c)")
            if not sign and (self.is_plain or word[0].isdigit()):
                raise fault(self.line, f"has {word} behind a factor; write * between them")
            if sign == "/" and factor == 0:
                raise fault(self.line, "divides by zero")
            total = total / factor if sign == "/" else total * factor
            sign = sign or before
        return total

    def factor(self, depth: int) -> Expr:
        """An operand, with a sign before it or a power behind it, which binds one factor alone."""
        if depth > MAX_DEPTH:
            raise fault(self.line, f"is too deep; at most {MAX_DEPTH} levels are read")
        if sign := self.take("+", "-"):
            found = self.factor(depth + 1)
            return -found if sign == "-" else found
        base = self.operand(depth + 1)
        if not self.take("**", "^"):
            return base
        if self.word in ("", *OPERATORS) and self.word not in ("+", "-"):
            raise fault(self.line, "raises to no power; write it behind ^")
        return self._power(base, self.factor(depth + 1))

    def operand(self, depth: int) -> Expr:
        """A name, a number, a group or a function of some."""
        for size in range(min(self.longest, len(self.words) - self.at), 0, -1):
            known = self.names.get(tuple(self.words[self.at : self.at + size]))
            if isinstance(known, Expr):
                self.at += size
                return known
            if known is not None:
                self.at += size
                return known(*self.arguments(depth))
        word = self.word
        if word[:1].isdigit() or (word[:1] == "." and len(word) > 1):
            return self._number(self.take())
        if word in CLOSING:
            return self.group(depth)
        following = self.words[self.at + 1 : self.at + 2]
        if word == "e" and following == ["^"]:
            self.at += 2
            return sympy.exp(self.factor(depth))
        if word in (*FUNCTIONS, *EXTREMA, "frac") and following and following[0] in CLOSING:
            return self._call(self.take(), self.arguments(depth))
        raise self.unread()

    def group(self, depth: int) -> Expr:
        """Read a group in brackets."""
        (found, *more) = self.arguments(depth)
        if more:
            raise fault(self.line, f"cannot be read; use {ALLOWED}")
        return found

    def arguments(self, depth: int) -> list[Expr]:
        """Read expressions in brackets, separated by commas."""
        closing = CLOSING.get(self.take(*CLOSING))
        found = [self.sum(depth)]
        while self.take(","):
            found.append(self.sum(depth))
        if closing is None or not self.take(closing):
            raise fault(self.line, f"has a bracket open at {self.word or 'its end'!r}; close it")
        return found

    def _number(self, literal: str) -> Expr:
        exponent = literal.lower().partition("e")[2] or "0"
        if len(literal) > MAX_LITERAL or len(exponent) > 4 or abs(int(exponent)) > MAX_LITERAL:
            raise fault(self.line, f"has the number {literal[:20]}..., which is too long")
        if re.match(r"0\d", literal):
            raise fault(self.line, f"has the number {literal[:20]}; write it without the first 0")
        return Rational(literal)

    def _power(self, base: Expr, exponent: Expr) -> Expr:
        """SymPy computes constant powers at once, so they are capped first."""
        sizes = (int(max(abs(n.p), n.q)).bit_length() for n in base.atoms(Rational))
        if isinstance(exponent, Rational):
            if abs(exponent) * max(sizes, default=1) > MAX_BITS:
                raise fault(self.line, "has a constant power that is too large")
            if base == 0 and exponent < 0:
                raise fault(self.line, "divides by zero")
            if base.is_negative and not exponent.is_integer:
                raise fault(self.line, "takes a root of a negative number")
        return base**exponent

    def _call(self, name: str, arguments: list[Expr]) -> Expr:
        if name in EXTREMA:
            return cast(Expr, EXTREMA[name](*arguments, evaluate=False))
        if len(arguments) != 1:
            raise fault(self.line, f"gives {name} {len(arguments)} arguments; it takes one")
        (argument,) = arguments
        if name == "frac":
            if self.word != "{":
                raise fault(self.line, r"has \frac with one group; write \frac{a}{b}")
            divisor = self.group(0)
            if divisor == 0:
                raise fault(self.line, "divides by zero")
            return argument / divisor
        if (name == "sqrt" and argument.is_negative) or (name == "log" and argument.is_nonpositive):
            raise fault(self.line, f"takes {name} of {argument}, which is not real")
        return FUNCTIONS[name](argument)

    def unread(self, at_end: str = "ends too early; write it as lhs <= rhs") -> StatementError:
        """The error for the token at the place, with what to write instead."""
        rest, word = self.words[self.at :], self.word
        if not word:
            return fault(self.line, at_end)
        if word in (*FUNCTIONS, *EXTREMA, "frac"):
            return fault(self.line, f"has {word} without brackets; write {word}(…)")
        if word in RELATIONS and not RELATIONS.keys().isdisjoint(self.words[: self.at]):
            return fault(self.line, "has more than one comparison; state one at a time")
        if word in MEANT:
            return fault(self.line, MEANT[word])
        if word in ("‖", "|") or (word == "[" and not self.is_plain):
            closing = {"[": "]"}.get(word, word)
            excerpt = "".join(rest[: rest.index(closing, 1) + 1 if closing in rest[1:] else None])
            return StatementError(
                f"{excerpt[:60]!r} is the notation of no quantity; "
                f"{spelling.suggest_notations(excerpt[:60])}{spelling.HINT}"
            )
        if (word.isidentifier() and word != "_") or rest[:2] == ["_", "_"]:
            end = 1
            while rest[end : end + 1] == ["_"]:
                end += 2
            name = "".join(rest[:end])
            known = [*VOCABULARY, *FUNCTIONS, *EXTREMA]
            return StatementError(str(UnknownNameError("quantity", name, known)))
        if self.is_plain and word not in OPERATORS:
            return fault(self.line, f"contains {word!r}; use {ALLOWED}")
        needed = f"has {word!r} where a quantity or a number is needed; {spelling.HINT}"
        return fault(self.line, needed)


@dataclass(frozen=True)
class ConditionalStatement:
    """A statement, and conditions on k, T and lam: only checks that meet all of them count."""

    statement: Statement
    conditions: tuple[Statement, ...] = ()

    @property
    def text(self) -> str:
        """Statement and conditions by the vocabulary's names; reads back as the same."""
        return ", ".join(map(statement_text, (self.statement, *self.conditions)))


def parse_conditional(text: str) -> ConditionalStatement:
    """The statement before the first comma outside of brackets, with the conditions behind it.

    Raises:
        StatementError: the statement or a condition cannot be read, a condition names something
            other than k, T and lam, or nothing, or k where the statement has no windows, or there
            are more than MAX_CONDITIONS of them.
    """
    statement_text, *condition_texts = split_at_commas(text) if len(text) <= MAX_LENGTH else [text]
    if len(condition_texts) > MAX_CONDITIONS:
        raise StatementError(
            f"{len(condition_texts)} side conditions; at most {MAX_CONDITIONS} are read"
        )
    statement = parse_statement(statement_text)
    conditions = tuple(parse_condition(each, statement) for each in condition_texts)
    return ConditionalStatement(statement, conditions)


def split_at_commas(text: str) -> list[str]:
    """Split the text at commas that are outside of brackets."""
    pieces, depth = [""], 0
    for character in text:
        depth += (character in "({[") - (character in ")}]")
        if character == "," and depth == 0:
            pieces.append("")
        else:
            pieces[-1] += character
    return pieces


def parse_condition(text: str, statement: Statement) -> Statement:
    """Parse one side condition, which may name k, T and lam alone."""
    compared = parse_statement(text)
    names = {symbol.name for symbol in compared.symbols}
    if not names or not names <= set(CONDITION_NAMES):
        raise StatementError(
            f"the side condition {text.strip()[:60]!r} may compare {', '.join(CONDITION_NAMES)} "
            "with numbers or with one another, and nothing else"
        )
    if "k" in names and not any(VOCABULARY[s.name].windowed for s in statement.symbols):
        raise StatementError(
            f"the side condition {text.strip()[:60]!r} names k, and the statement has no windows; "
            "leave it out"
        )
    return compared
