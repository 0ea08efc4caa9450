"""Trees that answer for nothing: of SymPy's own classes, of the language's, and of `function`'s."""

import sys

from sympy import Basic
from sympy.core.function import AppliedUndef, FunctionClass, UndefinedFunction

from rnnbounds.theory.language.terms.vectors import Term

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
        kept = getattr(one, "__dict__", {}).keys()
        if not isinstance(one, Basic) or not _is_plain(kind) or kept - _KEPT:
            return kind.__name__
        left += one.args
    return ""


def _is_plain(kind: type) -> bool:
    if _is_listed(kind):
        return True
    return (
        type(kind) in (FunctionClass, UndefinedFunction)  # `Function("f")` the door refuses
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
