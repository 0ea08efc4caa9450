"""Mutants of a module: each is one small edit of its text that a test should notice.

Docstrings, annotations, messages (strings and what an exception is given), assertions and
decorators are left alone: an edit of these changes no result.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt), ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}  # fmt: skip
# What rounds outwards, and what takes the other end: an inward edit makes a bound unsound.
ENDS = {
    "up": "down", "upper": "lower", "above": "below", "hi": "lo", "ceil": "floor", "max": "min",
    "amax": "amin", "maximum": "minimum", "fmax": "fmin", "all": "any", "inf": "-inf",
}  # fmt: skip
ENDS |= {b: a for a, b in ENDS.items() if not b.startswith("-")}
INWARD = {  # the same without its rounding, for those that have no opposite
    "add_up": "{0} + {1}", "mul_up": "{0} * {1}", "div_up": "{0} / {1}", "sum_up": "{0}.sum(-1)",
    "subtract_down": "{0} - {1}", "sqrt_up": "{0} ** 0.5", "norm_up": "{0}.norm(dim=-1)",
    "shift_up": "shift({0}, {1})", "float_above": "float({0})", "above": "{0}", "below": "{0}",
    "upper": "{f}.mid()", "lower": "{f}.mid()", "abs_upper": "abs({f}.mid())",
    "abs_lower": "abs({f}.mid())", "nextafter": "{0}", "norm_above": "{0}.norm()",
}  # fmt: skip
SILENT = {"__repr__", "__str__"}


@dataclass(frozen=True)
class Mutant:
    """One edit of a module; `text` is the whole module with it.

    `name` says the edit, without the line's number, which changes with other code.
    """

    file: str
    line: int
    operator: str
    name: str
    text: str


def mutants(file: str, text: str) -> list[Mutant]:
    """All mutants of a module of this text, in the order of its lines."""
    whole, tree, found = text.encode(), ast.parse(text), {}
    lines = whole.splitlines(keepends=True)
    starts = [0, *accumulate(map(len, lines))]
    for node, operator, after in edits(tree):
        first = starts[node.lineno - 1] + node.col_offset
        last = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        before = " ".join(whole[first:last].decode().split())
        edited = (whole[:first] + after.encode() + whole[last:]).decode()
        where = lines[node.lineno - 1].decode().strip()
        name = f"{file}: {before} → {after}" + (f" in {where}" if before != where else "")
        if edited != text:
            found[edited] = Mutant(file, node.lineno, operator, name, edited)
    return sorted(found.values(), key=lambda one: (one.line, one.operator, one.name))


def edits(tree: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str, str]]:
    """Each (node, operator, new text) of a tree."""
    for node in walk(tree):
        match node:
            case ast.Compare(left, ops, rights):
                for i, op in enumerate(ops):
                    for other in COMPARISONS[type(op)][: 2 if len(ops) == 1 else 1]:
                        changed = [*ops[:i], other(), *ops[i + 1 :]]
                        yield node, "comparison", code(ast.Compare(left, changed, rights))
            case ast.BinOp(left, op, right) if type(op) in ARITHMETIC:
                yield node, "arithmetic", code(ast.BinOp(left, ARITHMETIC[type(op)](), right))
            case ast.AugAssign(target, op, value):
                if type(op) in ARITHMETIC:
                    changed_to = ast.AugAssign(target, ARITHMETIC[type(op)](), value)
                    yield node, "arithmetic", ast.unparse(changed_to)
                yield node, "removed statement", "pass"
            case ast.BoolOp(op, values):
                other_op = ast.Or() if isinstance(op, ast.And) else ast.And()
                yield node, "boolean", code(ast.BoolOp(other_op, values))
            case ast.UnaryOp(ast.Not() | ast.USub(), operand):
                yield node, "dropped sign or not", code(operand)
            case ast.Constant(bool() as value):
                yield node, "constant", str(not value)
            case ast.Constant(int() | float() as value):
                yield node, "constant", repr(value + 1)
            case ast.Expr(ast.Call()) | ast.Raise() | ast.Delete():
                yield node, "removed statement", "pass"
            case ast.Return(value) if value and not (
                isinstance(value, ast.Constant) and value.value is None
            ):
                yield node, "removed value", "return None"
            case ast.If(test) | ast.IfExp(test) | ast.While(test):
                yield test, "boolean", f"(not {code(test)})"
        yield from rounding(node)


def rounding(node: ast.AST) -> Iterator[tuple[ast.expr, str, str]]:
    """Edits that round the other way, or not at all."""
    match node:
        case ast.Name(id=name) if name in ENDS:
            yield node, "rounding", ENDS[name]
        case ast.Attribute(value, name) if name in ENDS:
            other = ENDS[name]
            sign, other = ("-", other[1:]) if other.startswith("-") else ("", other)
            yield node, "rounding", f"{sign}{code(value)}.{other}"
    match node:
        case ast.Call(func, args):
            name = getattr(func, "attr", getattr(func, "id", ""))
            form, owner = INWARD.get(name, ""), getattr(func, "value", None)
            if form and len(args) >= form.count("{0}") + form.count("{1}"):
                f = code(owner) if owner else ""
                if f or "{f}" not in form:
                    yield node, "rounding", "(" + form.format(*map(code, args), f=f) + ")"


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below that say something that is computed."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, ast.Raise):
                yield one
            elif isinstance(one, ast.AST) and not is_text(one):
                yield one
                yield from walk(one)


def is_text(node: ast.AST) -> bool:
    """True of assertions, f-strings, texts for people, imports for types, and `strict=` of zip."""
    match node:
        case ast.Assert() | ast.JoinedStr() | ast.Import() | ast.ImportFrom():
            return True
        case ast.FunctionDef(name=name):
            return name in SILENT
        case ast.If(ast.Name("TYPE_CHECKING")) | ast.keyword("strict"):
            return True
        case ast.MatchValue() | ast.MatchSingleton():
            return True
    return False


def code(node: ast.expr) -> str:
    """An expression as text that stands anywhere."""
    text = ast.unparse(node)
    plain = isinstance(node, ast.Name | ast.Constant | ast.Call | ast.Attribute | ast.Subscript)
    return text if plain else f"({text})"
