"""Trees that answer for nothing: of SymPy's own classes, of the language's, and of `function`'s."""

import sys

from sympy import Basic, Symbol
from sympy.core.function import AppliedUndef, FunctionClass, UndefinedFunction

from rnnbounds.theory.language.terms.variables import is_name
from rnnbounds.theory.language.terms.vectors import FUNCTIONS, Term

# What Python and SymPy write into a class that `function` makes.
_MADE = frozenset((
    "__module__", "__doc__", "defined", "_explicit_class_assumptions", "default_assumptions",
    "_prop_handler", "_nargs", "_kwargs", "_sage_", "name",
))  # fmt: skip
_KEPT = {"nargs", "_argset"}  # what SymPy writes into a function at its arguments
_ROOMS = ("sympy.", "rnnbounds.theory.language.")


def foreign(tree: Basic) -> str:
    """The name of a class within the tree that would answer for itself; empty if there is none.

    Classes are compared by identity: a class may say that it equals another one.
    """
    left: list[object] = [tree]
    while left:
        one = left.pop()
        kind = type(one)
        kept = getattr(one, "__dict__", {})
        if (
            not isinstance(one, Basic) or not _is_plain(kind) or type(kept) is not dict
            or kept.keys() - _KEPT or (isinstance(one, Symbol) and not is_name(one.name))
        ):  # fmt: skip
            return str(kind.__name__)
        left += one.args
    return ""


def _is_plain(kind: type) -> bool:
    name = kind.__name__
    if issubclass(kind, Term) and not (is_name(name) and FUNCTIONS.get(name) is kind):
        return False  # it was renamed
    return _is_listed(kind) or (
        any(type(kind) is one for one in (FunctionClass, UndefinedFunction))
        and not hasattr(kind, "textbook_form")  # it would be printed as its class is
        and issubclass(kind, Term | AppliedUndef)
        and len(kind.__bases__) == 1
        and _is_listed(kind.__bases__[0])
        and vars(kind).keys() <= _MADE
    )


def _is_listed(kind: type) -> bool:
    """True if the class is what its module, SymPy's or the language's, has by its name."""
    room = str(kind.__module__)  # None for `Function("f")`
    own = getattr(sys.modules.get(room), kind.__qualname__, None)
    return room.startswith(_ROOMS) and own is kind
