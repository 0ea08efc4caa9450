"""How a statement is shown: plain text, LaTeX, and presentation MathML.

Each quantity has one notation, in a small part of LaTeX, and MathML is made of LaTeX.  A sum
begins with a positive term, so that λ^k − λ^T reads as it is written.
"""

from functools import lru_cache
from typing import Any

from sympy import Add, Expr, Symbol
from sympy.printing.latex import LatexPrinter
from sympy.printing.str import StrPrinter

from rnnbounds.theory.language.functions import shown
from rnnbounds.theory.language.law import Clause, Law
from rnnbounds.theory.language.mathml import element, markup
from rnnbounds.theory.language.statement import Statement
from rnnbounds.theory.language.terms.vectors import Term
from rnnbounds.theory.language.vocabulary import VOCABULARY

LATEX_SIGNS = {"<=": r"\le", "<": "<", "==": "=", "!=": r"\ne", "exists": r"\le"}
WITNESS = " on the witness"
TERMS = {
    ("norm", 1): r"\lVert {0}\rVert", ("max_norm", 1): r"\lVert {0}\rVert_\infty",
    ("entry", 2): "{0}_{{{1}}}", ("part", 2): "{0}_{{{1}}}", ("transpose", 1): "{0}^T",
    ("inner", 2): r"\langle {0}, {1}\rangle", ("phi", 2): r"\varphi\left({0}, {1}\right)",
    ("exponential", 1): r"\exp\left({0}\right)",
}  # fmt: skip
"""LaTeX of formal functions with a notation, by name and number of arguments."""
SCRIPTED = ("entry", "part", "transpose")  # a sum or product below a script stands in brackets


def notation(symbol: Symbol) -> str:
    """LaTeX of a symbol: the norm that a quantity names, or what is printed of another symbol."""
    quantity = VOCABULARY.get(symbol.name)
    known = quantity is not None and quantity.symbol == symbol
    return quantity.notation if quantity is not None and known else told_apart(symbol)


def told_apart(symbol: Symbol) -> str:
    """The symbol's name; with a prime if a quantity has that name and the symbol is not it."""
    quantity = VOCABULARY.get(symbol.name)
    return f"{symbol.name}'" if quantity is not None and quantity.symbol != symbol else symbol.name


def terms(expression: Add) -> list[Expr]:
    """The terms of a sum; it does not begin with a negative one if there are others."""
    ordered: list[Expr] = expression.as_ordered_terms()
    if not ordered[0].could_extract_minus_sign():
        return ordered
    return sorted(ordered, key=lambda term: bool(term.could_extract_minus_sign()))


class _Plain(StrPrinter):
    def _as_ordered_terms(self, expr: Add, order: Any = None) -> list[Expr]:
        return terms(expr)

    def _print_Symbol(self, expr: Symbol) -> str:
        return told_apart(expr)


class _Latex(LatexPrinter):
    def _as_ordered_terms(self, expr: Add, order: Any = None) -> list[Expr]:
        return terms(expr)

    def _print_Symbol(self, expr: Symbol, style: str = "plain") -> str:
        return notation(expr)

    def _print_Function(self, expr: Expr, exp: str | None = None) -> str:
        """A formal function in its notation, or as name(arguments); SymPy's own as SymPy does."""
        if not isinstance(expr, Term):
            return str(super()._print_Function(expr, exp))
        name = type(expr).__name__
        arguments = [self._print(argument) for argument in expr.args]
        shape = TERMS.get((name, len(arguments)))
        if shape is None:
            name = name.replace("_", r"\_")
            made = rf"\operatorname{{{name}}}\left({', '.join(arguments)}\right)"
        elif name in SCRIPTED and not (expr.args[0].is_Symbol or expr.args[0].is_Function):
            made = shape.format(rf"\left({arguments[0]}\right)", *arguments[1:])
        else:
            made = shape.format(*arguments)
        return made if exp is None else rf"{{{made}}}^{{{exp}}}"


def plain(expression: Expr) -> str:
    """Plain text with the names of the vocabulary."""
    return str(_Plain().doprint(shown(expression)))


def statement_text(statement: Statement) -> str:
    """Plain text, as a reader types it."""
    if statement.relation == "exists":
        return f"{plain(statement.lhs)} <= {plain(statement.rhs)}{WITNESS}"
    return f"{plain(statement.lhs)} {statement.relation} {plain(statement.rhs)}"


def law_text(law: Law) -> str:
    """The clauses, each with where it holds."""
    return "; ".join(map(_clause_text, law.clauses))


def _clause_text(clause: Clause) -> str:
    given = " and ".join(map(statement_text, clause.given))
    return f"{statement_text(clause.conclusion)}{f' where {given}' if given else ''}"


def latex(expression: Expr) -> str:
    """LaTeX with the notations of the vocabulary."""
    return str(_Latex({"ln_notation": True}).doprint(shown(expression)))


def statement_latex(statement: Statement) -> str:
    """LaTeX with each quantity printed as the norm that it names."""
    witness = rf"\quad\text{{{WITNESS.strip()}}}" if statement.relation == "exists" else ""
    sign = LATEX_SIGNS[statement.relation]
    return f"{latex(statement.lhs)} {sign} {latex(statement.rhs)}{witness}"


@lru_cache(maxsize=4096)
def statement_mathml(statement: Statement) -> str:
    """Presentation MathML of a statement, one `<math>` element."""
    signs = {"<=": "≤", "==": "=", "!=": "≠", "exists": "≤", "<": "&lt;"}
    sign = element("mo", signs[statement.relation])
    parts = [markup(latex(statement.lhs)), sign, markup(latex(statement.rhs))]
    if statement.relation == "exists":
        parts.append(element("mtext", WITNESS.replace(" ", "\u00a0", 1)))
    return element("math", element("mrow", *parts))
