"""The norms in which quantities are measured: values with a formal function and a notation."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from sympy import Expr

from rnnbounds.theory.language.quantity import Quantity, Symbol, measured
from rnnbounds.theory.language.terms.vectors import gain, max_norm, norm, weighted

T, k = Symbol("T", integer=True), Symbol("k", integer=True)


@dataclass(frozen=True)
class Norm:
    """A norm: its name or unit, its formal function, and the LaTeX behind the closing bars; `shown`
    is what it is of a cell, which shows a part of its state."""

    unit: str
    size: Callable[[Expr], Expr]
    mark: str = ""
    shown: Callable[[Expr], Expr] | None = None

    def of(
        self,
        name: str,
        meaning: str,
        notation: str,
        term: Expr,
        mark: str | None = None,
        windowed: bool = False,
    ) -> Quantity:
        """The quantity ‖term‖; the notation is that of the term, the mark perhaps its own."""
        bars = rf"\lVert {notation}\rVert{self.mark if mark is None else mark}"
        found = measured(name, meaning, bars, self.size(term), self.unit, windowed)
        return found if self.shown is None else replace(found, of_cells=self.shown(term))

    def pair(
        self, after: str, before: str, meaning: str, state: str, moved: Expr, apart: Expr
    ) -> tuple[Quantity, Quantity]:
        """Two states, after one step and before, under these names."""
        step = rf"\varphi({state},x)-\varphi({state}',x)"
        return (
            self.of(after, f"{meaning} after one step", step, moved),
            self.of(before, meaning, f"{state}-{state}'", apart),
        )


EUCLIDEAN, SPECTRAL = Norm("Euclidean", norm), Norm("spectral", norm)
OF_STATES, OF_SLOPES = (replace(each, shown=gain) for each in (EUCLIDEAN, SPECTRAL))
MAXIMUM = Norm("maximum", max_norm, r"_\infty")
BOX = Norm("max |·|_j/v_j", weighted, "_{box}")
