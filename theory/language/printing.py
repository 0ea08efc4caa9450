"""How a statement is shown: plain text, LaTeX, and presentation MathML.

Each quantity has one notation, in a small part of LaTeX, and MathML is made of LaTeX.  A sum
begins with a positive term, so that λ^k − λ^T reads as it is written.
"""

from typing import Any

from sympy import Add, Expr, Symbol
from sympy.printing.latex import LatexPrinter
from sympy.printing.str import StrPrinter

from theory.language.functions import shown
from theory.language.law import Clause, Law
from theory.language.mathml import element, markup
from theory.language.statement import Statement
from theory.language.vocabulary import VOCABULARY

LATEX_SIGNS = {"<=": r"\le", "<": "<", "==": "=", "!=": r"\ne", "exists": r"\le"}
WITNESS = " on the witness"


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


def statement_mathml(statement: Statement) -> str:
    """Presentation MathML of a statement, one `<math>` element."""
    signs = {"<=": "≤", "==": "=", "!=": "≠", "exists": "≤", "<": "&lt;"}
    sign = element("mo", signs[statement.relation])
    parts = [markup(latex(statement.lhs)), sign, markup(latex(statement.rhs))]
    if statement.relation == "exists":
        parts.append(element("mtext", WITNESS.replace(" ", "\u00a0", 1)))
    return element("math", element("mrow", *parts))
