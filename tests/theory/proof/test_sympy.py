"""No call into SymPy decides a step.

SymPy holds what claims are written in. The door reads the fields of its trees; methods may ask it
to propose terms, by the exceptions below, and decide nothing by them.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from rnnbounds import theory

ROOT = Path(theory.__file__).parent
KERNEL = sorted((ROOT / "kernel").rglob("*.py"))
# What accepts a definition.
OTHERS = [ROOT / "language" / "definitions.py"]

TYPES = {"Add", "Basic", "Dummy", "Expr", "Integer", "Rational", "Symbol"}
CALLS = set(
    "as_coeff_Mul as_numer_denom atoms cancel coeff diff doit equals evalf expand factor find has "
    "integrate lambdify limit match nsimplify powsimp refine rewrite series simplify solve subs "
    "together trigsimp xreplace".split()
)
FACTS = "finite integer negative nonnegative positive real zero".split()
FIELDS = {"free_symbols", *(f"is_{fact}" for fact in FACTS)}
# What proposes: instances of a law, which holds at all terms; false variants, which must fail; the
# statements of a step. And the sort of a symbol, which the door asks for too.
PROPOSING = {
    ("variants", "xreplace"), ("variants", "sympify"), ("definitions", "is_integer"),

}  # fmt: skip


def asked(path: Path) -> Iterator[str]:
    """What a module asks of SymPy: names that are no types, and deciding methods of anything."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "sympy":
            yield from (alias.name for alias in node.names if alias.name not in TYPES)
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("sympy"))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield from {node.func.attr} & CALLS
        if isinstance(node, ast.Attribute):
            yield from {node.attr} & FIELDS


@pytest.mark.parametrize(
    "path", [*KERNEL, *sorted((ROOT / "proof").rglob("*.py")), *OTHERS], ids=lambda path: path.stem
)
def test_no_call_into_sympy_decides(path: Path) -> None:
    """Neither its names beyond types, nor its methods: the door alone imports all of it."""
    found = {name for name in asked(path) if (path.stem, name) not in PROPOSING}
    assert found == ({"sympy", "UndefinedFunction"} if path.stem == "door" else set())


def test_the_search_sees_calls(tmp_path: Path) -> None:
    """A name, a method and a module."""
    module = tmp_path / "module.py"
    module.write_text(
        "import sympy.core\nfrom sympy import limit, Symbol\nlimit(y.diff(z), y.is_real)\n"
    )
    assert set(asked(module)) == {"sympy.core", "limit", "diff", "is_real"}
