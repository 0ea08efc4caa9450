"""Prose whose formulas are presentation MathML, as a page shows it: text and <math> elements.

The text between the elements is escaped for XML.
"""

from __future__ import annotations

import re
from xml.sax.saxutils import escape

from sympy import Expr

from rnnbounds.theory.language.law import Clause, Law
from rnnbounds.theory.language.mathml import latex_to_mathml, xml_element
from rnnbounds.theory.language.printing import latex, statement_mathml
from rnnbounds.theory.latex.document import prose
from rnnbounds.theory.proof.proof import Step

FORMULA = re.compile(r"\\\((.*?)\\\)")
ESCAPED = re.compile(r"\\([&%#$_{}])")


def typeset(text: str) -> str:
    """A line of prose, `λ < 1` in it as `<math>…</math>`."""
    parts = FORMULA.split(prose(text))
    parts[::2] = (escape(ESCAPED.sub(r"\1", part)) for part in parts[::2])
    parts[1::2] = (xml_element("math", latex_to_mathml(part)) for part in parts[1::2])
    return "".join(parts)


def expression_mathml(expression: Expr) -> str:
    """Print an expression as one `<math>` element."""
    return xml_element("math", latex_to_mathml(latex(expression)))


def quantifier(step: Step) -> str:
    """For which values a step is stated: for all …, if …; empty for what is closed."""
    variables = ", ".join(map(expression_mathml, step.forall))
    premises = " and ".join(map(statement_mathml, step.given))
    every = f"for all {variables}" if variables else ""
    return ", ".join(filter(None, (every, f"if {premises}" if premises else "")))


def law(stated: Law) -> str:
    """Print a law in MathML: its clauses, each with its premises."""
    return "; ".join(map(_clause, stated.clauses))


def _clause(clause: Clause) -> str:
    given = " and ".join(map(statement_mathml, clause.given))
    return statement_mathml(clause.conclusion) + (f" where {given}" if given else "")
