"""How a statement is shown: plain text, LaTeX, and presentation MathML.

Each quantity has one notation, in a small part of LaTeX, and MathML is made of LaTeX.  A sum
begins with a positive term, so that λ^k − λ^T reads as it is written.
"""

from functools import lru_cache
from typing import Any

from sympy import Add, Expr, Symbol
from sympy.printing.latex import LatexPrinter
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter

from rnnbounds.theory.language.functions import SpecialFunction
from rnnbounds.theory.language.law import Clause, Law
from rnnbounds.theory.language.mathml import latex_to_mathml, xml_element
from rnnbounds.theory.language.statement import Statement
from rnnbounds.theory.language.terms.variables import NAMED
from rnnbounds.theory.language.terms.vectors import Term
from rnnbounds.theory.language.vocabulary import VOCABULARY

LATEX_SIGNS = {"<=": r"\le", "<": "<", "==": "=", "!=": r"\ne", "exists": r"\le"}
WITNESS_NOTE = " on the witness"
TERM_LATEX = {
    ("norm", 1): r"\lVert {0}\rVert", ("gain", 1): r"\lVert {0}\rVert_{{gain}}",
    ("max_norm", 1): r"\lVert {0}\rVert_\infty",
    ("entry", 2): "{0}_{{{1}}}", ("part", 2): r"\left[{0}\right]_{{{1}}}",
    ("transpose", 1): "{0}^T",
    ("inner", 2): r"\langle {0}, {1}\rangle", ("phi", 2): r"\varphi\left({0}, {1}\right)",
    ("exponential", 1): r"\exp\left({0}\right)",
}  # fmt: skip
"""LaTeX of formal functions with a notation, by name and number of arguments."""
SCRIPT_TERMS = ("entry", "transpose")  # a sum or product below a script stands in brackets


def notation(symbol: Symbol) -> str:
    """LaTeX of a symbol: the norm that a quantity names, or what is printed of another symbol."""
    quantity = VOCABULARY.get(symbol.name)
    is_quantity = quantity is not None and quantity.symbol == symbol
    return quantity.notation if quantity is not None and is_quantity else distinct_name(symbol)


def distinct_name(symbol: Symbol) -> str:
    """The symbol's name, with primes if symbols that the engine knows have it too."""
    known = NAMED.get(symbol.name, [])
    taken = symbol.name in VOCABULARY
    return f"{symbol.name}{chr(39) * (known.index(symbol) if symbol in known else taken)}"


def ordered_terms(expression: Add) -> list[Expr]:
    """The terms of a sum; it does not begin with a negative one if there are others."""
    ordered: list[Expr] = expression.as_ordered_terms()
    if not ordered[0].could_extract_minus_sign():
        return ordered
    return sorted(ordered, key=lambda term: bool(term.could_extract_minus_sign()))


class _TextPrinter(StrPrinter):
    def parenthesize(self, item: Expr, level: int, strict: bool = False) -> str:
        """Within a product that begins with a minus sign as within others: SymPy prints the factors
        of −3 (1/2)⁻¹ as those of a sum, −3/1/2."""
        level = PRECEDENCE["Mul"] if level == PRECEDENCE["Add"] else level
        return str(super().parenthesize(item, level, strict))

    def _as_ordered_terms(self, expr: Add, order: Any = None) -> list[Expr]:
        return ordered_terms(expr)

    def _print_Symbol(self, expr: Symbol) -> str:
        return distinct_name(expr)

    def _print_Function(self, expr: Expr) -> str:
        form = expr.textbook_form if isinstance(expr, SpecialFunction) else None
        return str(super()._print_Function(expr) if form is None else self._print(form))


class _NotationPrinter(LatexPrinter):
    def _as_ordered_terms(self, expr: Add, order: Any = None) -> list[Expr]:
        return ordered_terms(expr)

    def _print_Symbol(self, expr: Symbol, style: str = "plain") -> str:
        return notation(expr)

    def _print_Function(self, expr: Expr, exp: str | None = None) -> str:
        """A formal function in its notation, or as name(arguments); SymPy's own as SymPy does."""
        form = expr.textbook_form if isinstance(expr, SpecialFunction) else None
        if form is not None:
            typeset = str(self._print(form))
            if exp is not None or form.could_extract_minus_sign():
                typeset = rf"\left({typeset}\right)"
            return typeset if exp is None else f"{typeset}^{{{exp}}}"
        if not isinstance(expr, Term):
            return str(super()._print_Function(expr, exp))
        name = type(expr).__name__
        arguments = [self._print(argument) for argument in expr.args]
        template = TERM_LATEX.get((name, len(arguments)))
        if template is None:
            name = name.replace("_", r"\_")
            typeset = rf"\operatorname{{{name}}}\left({', '.join(arguments)}\right)"
        elif name in SCRIPT_TERMS and not (expr.args[0].is_Symbol or expr.args[0].is_Function):
            typeset = template.format(rf"\left({arguments[0]}\right)", *arguments[1:])
        else:
            typeset = template.format(*arguments)
        return typeset if exp is None else rf"{{{typeset}}}^{{{exp}}}"


def plain_text(expression: Expr) -> str:
    """Print an expression as plain text, with the names of the vocabulary."""
    return str(_TextPrinter().doprint(expression))


def statement_text(statement: Statement) -> str:
    """Print a statement as plain text that the parser reads back."""
    if statement.relation == "exists":
        return f"{plain_text(statement.lhs)} <= {plain_text(statement.rhs)}{WITNESS_NOTE}"
    return f"{plain_text(statement.lhs)} {statement.relation} {plain_text(statement.rhs)}"


def law_text(law: Law) -> str:
    """Print a law as plain text: its clauses, each with its premises."""
    return "; ".join(map(_clause_text, law.clauses))


def _clause_text(clause: Clause) -> str:
    given = " and ".join(map(statement_text, clause.given))
    return f"{statement_text(clause.conclusion)}{f' where {given}' if given else ''}"


def latex(expression: Expr) -> str:
    """Print an expression in LaTeX, with the notations of the vocabulary."""
    return str(_NotationPrinter({"ln_notation": True}).doprint(expression))


def statement_latex(statement: Statement) -> str:
    """Print a statement in LaTeX, with the notations of the vocabulary."""
    witness = rf"\quad\text{{{WITNESS_NOTE.strip()}}}" if statement.relation == "exists" else ""
    sign = LATEX_SIGNS[statement.relation]
    return f"{latex(statement.lhs)} {sign} {latex(statement.rhs)}{witness}"


@lru_cache(maxsize=4096)
def statement_mathml(statement: Statement) -> str:
    """Presentation MathML of a statement, one `<math>` element."""
    signs = {"<=": "≤", "==": "=", "!=": "≠", "exists": "≤", "<": "&lt;"}
    sign = xml_element("mo", signs[statement.relation])
    parts = [latex_to_mathml(latex(statement.lhs)), sign, latex_to_mathml(latex(statement.rhs))]
    if statement.relation == "exists":
        parts.append(xml_element("mtext", WITNESS_NOTE.replace(" ", "\u00a0", 1)))
    return xml_element("math", xml_element("mrow", *parts))
