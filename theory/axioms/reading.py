"""Axioms are written as text: `X Y: norm(X + Y) <= norm(X) + norm(Y)`.

Variables stand before the colon, clauses are separated by semicolons, premises behind `where`. A
name is that of a function of formal terms or of a symbol, as laws are printed; none has two.
"""

from sympy import Abs, Expr, Symbol, log, sqrt, tanh

from rnnbounds.theory.language import Axiom, Law, symbols
from rnnbounds.theory.language.constants import SILU_PEAK
from rnnbounds.theory.language.parse import read_clauses
from rnnbounds.theory.language.terms import jets, variables
from rnnbounds.theory.language.terms.variables import operator, vector
from rnnbounds.theory.language.terms.vectors import FUNCTIONS

HORN = "Horn & Johnson, Matrix Analysis"
RUDIN = "Rudin, Principles of Mathematical Analysis"

BOUND: tuple[Symbol, ...] = (
    *(each for each in vars(variables).values() if isinstance(each, Symbol)),
    *(Symbol(name, real=True) for name in "L y_ z_ q_ size_ premise_".split()),
    *map(operator, "C P_list T_list X_list Y_list Z_list".split()),
    *map(vector, ("w_", "offset_")), jets.in_largest, *symbols("L_rho beta_rho"),
)  # fmt: skip
NAMES: dict[str, Expr] = {symbol.name: symbol for symbol in BOUND} | {"z_silu": SILU_PEAK}
ELEMENTARY = {"Abs": Abs, "log": log, "sqrt": sqrt, "tanh": tanh}


def stated(text: str, id: str = "") -> Law:
    """The law that the text says."""
    ranging, clauses = text.split(":")
    found = read_clauses(clauses, FUNCTIONS | ELEMENTARY | NAMES)
    return Law(id, tuple(NAMES[name] for name in ranging.split()), found)


def axiom(id: str, source: str, text: str, says: str, *requires: str) -> Axiom:
    """A textbook theorem, and what it says where laws of the same step say what it requires."""
    law = stated(says, id)
    return Axiom(id, law.variables, law.clauses, text, source, tuple(map(stated, requires)))
