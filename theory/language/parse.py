"""Reads `h_gap <= S_0*lam**k/(1 - lam)` into a Statement.

The text is never evaluated as code: its tokens are checked against a whitelist, Python's `ast`
gives the tree, and the tree is rebuilt node by node.  Decimal numbers become exact rationals; caps
on length, depth and the size of numbers keep hostile text from taking time.  Side conditions follow
a statement behind commas: they compare k, T and lam with numbers or with one another.
"""

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, cast

import sympy
from sympy import Expr, Integer, Rational

from rnnbounds.theory.errors import StatementError, UnknownNameError
from rnnbounds.theory.language.law import Clause
from rnnbounds.theory.language.printing import statement_text
from rnnbounds.theory.language.spelling import NUMBER, translate_notation
from rnnbounds.theory.language.statement import Relation, Statement
from rnnbounds.theory.language.vocabulary import VOCABULARY

MAX_LENGTH = 10_000
MAX_DEPTH = 60
MAX_TOKENS = 1_000
MAX_LITERAL = 400  # digits
MAX_BITS = 2_048  # of a constant's numerator and denominator

TOKEN = re.compile(rf"(?P<number>{NUMBER})|(?P<name>[A-Za-z_]\w*)|\*\*|[<>]=?|[-+*/(),]", re.ASCII)
ALLOWED_TOKENS = (
    "names of the vocabulary, numbers, + - * / **, sqrt, log, exp, min, max and one <= or <"
)

RELATIONS: dict[type[ast.cmpop], tuple[Relation, bool]] = {  # (relation, sides swapped)
    ast.LtE: ("<=", False),
    ast.Lt: ("<", False),
    ast.GtE: ("<=", True),
    ast.Gt: ("<", True),
}
FUNCTIONS: dict[str, Callable[..., Expr]] = {"sqrt": sympy.sqrt, "log": sympy.log, "exp": sympy.exp}
# SymPy's own names too, by which statements are printed.
EXTREMA: dict[str, Any] = dict.fromkeys(("min", "Min"), sympy.Min) | dict.fromkeys(
    ("max", "Max"), sympy.Max
)


def parse_statement(text: str) -> Statement:
    """The statement that a user typed; `a >= b` becomes `b <= a`.

    Quantities by their names or as pages print them: `‖h_T − h_T^(k)‖ ≤ S_0 λ^k/(1 − λ)`, or LaTeX.
    Raises StatementError, one line, for anything else.
    """
    line = " ".join(text.split())
    if len(line) > MAX_LENGTH:
        raise _error(line, f"has {len(line)} characters; at most {MAX_LENGTH} are read")
    line = translate_notation(line)
    _check_tokens(line)
    try:
        tree = ast.parse(line, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        remedy = "write it as lhs <= rhs, products with *"
        raise _error(line, f"is not an inequality; {remedy}") from None
    if not isinstance(tree, ast.Compare):
        raise _error(line, "compares nothing; write it as lhs <= rhs")
    if len(tree.ops) > 1:
        raise _error(line, "has more than one comparison; state one at a time")
    relation, is_swapped = RELATIONS[type(tree.ops[0])]
    lhs, rhs = (_TreeReader(line).read(side, 0) for side in (tree.left, tree.comparators[0]))
    return Statement(rhs, relation, lhs) if is_swapped else Statement(lhs, relation, rhs)


def _error(line: str, fault: str) -> StatementError:
    excerpt = line if len(line) <= 60 else line[:57] + "..."
    return StatementError(f"{excerpt!r} {fault}")


def _check_tokens(line: str) -> None:
    """Only whitelisted tokens, known names, and no more than the parser bears."""
    if not line:
        raise StatementError("the statement is empty; write it as lhs <= rhs")
    depth = position = count = 0
    while position < len(line):
        if line[position] == " ":
            position += 1
            continue
        token = TOKEN.match(line, position)
        if token is None:
            raise _error(line, f"contains {line[position]!r}; use {ALLOWED_TOKENS}")
        if token["name"]:
            _check_name(token["name"])
        elif token["number"]:
            _check_number(line, token["number"], line[token.end() : token.end() + 1])
        depth += (token[0] == "(") - (token[0] == ")")
        count += 1
        position = token.end()
        if depth > MAX_DEPTH:
            raise _error(line, f"is too deep; at most {MAX_DEPTH} brackets are nested")
        if count > MAX_TOKENS:
            raise _error(line, f"is too long; at most {MAX_TOKENS} names and signs are read")


def _check_name(name: str) -> None:
    known = [*VOCABULARY, *FUNCTIONS, *EXTREMA]
    if name not in known:
        raise StatementError(str(UnknownNameError("quantity", name, known)))


def _check_number(line: str, literal: str, follower: str) -> None:
    exponent = literal.lower().partition("e")[2] or "0"
    if follower.isalnum() or follower == "_":
        raise _error(line, f"has a letter after {literal[:20]}; write numbers in plain decimals")
    if len(literal) > MAX_LITERAL or len(exponent) > 4 or abs(int(exponent)) > MAX_LITERAL:
        raise _error(line, f"has the number {literal[:20]}..., which is too long")


def read_clauses(
    text: str, names: Mapping[str, Expr], functions: Mapping[str, Callable[..., Expr]]
) -> tuple[Clause, ...]:
    """The clauses of a law as it is printed: `0 <= y; y == z where 0 <= z and z <= 0`.

    Raises StatementError for what is no law over these names and functions.
    """

    def statement(part: str) -> Statement:
        lhs, sign, rhs = re.split(r" (<=|<|==|!=) ", part.strip())
        trees = (ast.parse(side, mode="eval").body for side in (lhs, rhs))
        one, other = (
            _TreeReader(side, names, functions).read(tree, 0)
            for side, tree in zip((lhs, rhs), trees, strict=True)
        )
        return Statement(one, cast(Relation, sign), other)

    def clause(part: str) -> Clause:
        conclusion, _, premises = part.partition(" where ")
        given = premises.split(" and ") if premises else ()
        return Clause(statement(conclusion), tuple(map(statement, given)))

    return tuple(map(clause, text.split(";")))


class _TreeReader:
    """Rebuilds the syntax tree of one line as a SymPy expression; names are quantities unless
    others are given."""

    def __init__(
        self,
        line: str,
        names: Mapping[str, Expr] | None = None,
        functions: Mapping[str, Callable[..., Expr]] = MappingProxyType({}),
    ) -> None:
        self.line = line
        self.names = {name: q.symbol for name, q in VOCABULARY.items()} if names is None else names
        self.functions = functions

    def read(self, node: ast.expr, depth: int) -> Expr:
        """Translate a node of the syntax tree to a SymPy expression."""
        if depth > MAX_DEPTH:
            raise _error(self.line, f"is too deep; at most {MAX_DEPTH} levels are read")
        match node:
            case ast.Constant():
                return Rational(self.line[node.col_offset : node.end_col_offset])
            case ast.Name(id=name) if name in self.names:
                return self.names[name]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.read(operand, depth + 1)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.read(operand, depth + 1)
            case ast.BinOp(left=left, op=operator, right=right):
                return self._binary(
                    operator, self.read(left, depth + 1), self.read(right, depth + 1)
                )
            case ast.Call(func=ast.Name(id=name), args=args) if name in self.functions:
                return self.functions[name](*(self.read(arg, depth + 1) for arg in args))
            case ast.Call(func=ast.Name(id=name), args=args) if args and name not in self.names:
                return self._call(name, [self.read(arg, depth + 1) for arg in args])
        raise _error(self.line, f"cannot be read; use {ALLOWED_TOKENS}")

    def _binary(self, operator: ast.operator, left: Expr, right: Expr) -> Expr:
        match operator:
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.Mult():
                return left * right
            case ast.Div() if right != 0:
                return left / right
            case ast.Div():
                raise _error(self.line, "divides by zero")
            case ast.Pow():
                return self._power(left, right)
        raise _error(self.line, f"cannot be read; use {ALLOWED_TOKENS}")

    def _power(self, base: Expr, exponent: Expr) -> Expr:
        """SymPy computes constant powers at once, so they are capped first."""
        size = max((_bit_size(number) for number in base.atoms(Rational)), default=1)
        if isinstance(exponent, Rational):
            if abs(exponent) * size > MAX_BITS:
                raise _error(self.line, "has a constant power that is too large")
            if base == 0 and exponent < 0:
                raise _error(self.line, "divides by zero")
            if base.is_negative and not exponent.is_integer:
                raise _error(self.line, "takes a root of a negative number")
        return base**exponent

    def _call(self, name: str, arguments: list[Expr]) -> Expr:
        if name in EXTREMA:
            return EXTREMA[name](*arguments, evaluate=False)
        if len(arguments) != 1:
            raise _error(self.line, f"gives {name} {len(arguments)} arguments; it takes one")
        (argument,) = arguments
        if (name == "sqrt" and argument.is_negative) or (name == "log" and argument.is_nonpositive):
            raise _error(self.line, f"takes {name} of {argument}, which is not real")
        return FUNCTIONS[name](argument)


def _bit_size(number: Rational) -> int:
    return int(max(abs(Integer(number.p)), Integer(number.q))).bit_length()


NAMES = ("k", "T", "lam")
MAX_CONDITIONS = 8


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
    return ConditionalStatement(
        statement,
        tuple(parse_condition(condition_text, statement) for condition_text in condition_texts),
    )


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
    if not names or not names <= set(NAMES):
        raise StatementError(
            f"the side condition {text.strip()[:60]!r} may compare {', '.join(NAMES)} with numbers "
            "or with one another, and nothing else"
        )
    if "k" in names and not any(VOCABULARY[s.name].windowed for s in statement.symbols):
        raise StatementError(
            f"the side condition {text.strip()[:60]!r} names k, and the statement has no windows; "
            "leave it out"
        )
    return compared
