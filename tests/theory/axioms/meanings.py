"""What functions and quantities are in a system of one state and one input: all are numbers.

Vectors and operators are numbers, products of operators are products, and every norm is a modulus.
What no system says is 0, of functions, and 1, of quantities.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flint import arb, fmpq
from sympy import Max, Min, Symbol, exp
from sympy.core.function import FunctionClass

from rnnbounds.theory.language import functions
from rnnbounds.theory.language.constants import SILU_PEAK, silu_peak_ball
from rnnbounds.theory.language.terms import jets, networks, unitary
from rnnbounds.theory.language.terms import vectors as terms
from rnnbounds.theory.language.terms.vectors import Norm, Term
from rnnbounds.theory.models.unitary import local_maps, relations

HALF, ONE, ZERO = fmpq(1, 2), fmpq(1), fmpq(0)
Meaning = Callable[..., Any]


class System(dict[Any, Any]):
    """What functions are, and symbols by their names; and the rest."""

    def __init__(self, known: Any, numbers: dict[str, Any] | None = None) -> None:
        super().__init__(known)
        self.numbers = numbers if numbers is not None else known.numbers

    def __or__(self, more: dict[Any, Any]) -> System:  # type: ignore[override]
        return System({**self, **more}, self.numbers)

    def __contains__(self, key: object) -> bool:
        formal = isinstance(key, FunctionClass) and issubclass(key, Term)  # type: ignore[arg-type]
        return formal or isinstance(key, Symbol) or super().__contains__(key)

    def __missing__(self, key: Any) -> Any:
        if isinstance(key, Symbol):
            return self.numbers.get(key.name, ONE if key.is_commutative else ZERO)
        return abs if issubclass(key, Norm) else always(self.numbers.get(key.__name__, ZERO))


def always(number: Any) -> Meaning:
    """A function that is everywhere this."""
    return lambda *_: fmpq(number)


def itself(value: Any, *_: Any) -> Any:
    """The first argument."""
    return value


def running(step: Meaning, entry: Meaning = itself) -> dict[Any, Any]:
    """The model h⁺ = step(h, x), and its runs; an input sequence is a number, as entry reads it."""

    def run(start: Any, x: Any, s: Any, j: Any) -> Any:
        for time in range(int(j)):
            start = step(start, entry(x, s + time + 1))
        return start

    return {
        terms.phi: lambda h, x, *w: step(h, x),
        terms.state: lambda x, s, j, *w: run(ZERO, x, s, j),
        terms.forward: lambda x, j, m: run(ZERO, x, m - j, j),
        networks.gated_run: lambda v, x, j: run(v, x, 0, j),
        networks.lower_run: lambda v, x, s, j: run(v, x, s, j),
        terms.entry: entry,
    }


def quotient(steps: Any, rate: Any) -> arb:
    """Π (1 + c/t)."""
    top, rest = (arb(steps) + 1 + rate).gamma(), (arb(steps) + 1).gamma()
    return top / (rest * (arb(rate) + 1).gamma())


def halved(h: Any, x: Any) -> Any:
    """h/2 + x."""
    return h / 2 + x


def upper_run(v: Any, p: Any, x: Any, s: Any, j: Any) -> Any:
    """A layer p⁺ = p/4 + v above v⁺ = v/2 + x."""
    for _ in range(int(j)):
        v, p = v / 2 + x, p / 4 + v / 2 + x
    return p


EVERYWHERE: dict[Any, Any] = {
    **running(halved),
    terms.frobenius: lambda p: p * p,
    terms.inner: lambda p, q: p * q,
    terms.exponential: lambda z: arb(z).exp(),
    unitary.part: lambda p, i: p if i == 0 else ZERO,
    unitary.line: lambda p, i: p if i == 0 else ZERO,
    unitary.below: lambda z, p: -z * abs(p),
    unitary.identity: lambda m: fmpq(m != 0),
    unitary.d_run: lambda x, s, j: HALF ** int(j),
    networks.in_box: lambda p: fmpq(abs(p) <= 100),
    networks.jacobian: lambda x, T, t: HALF ** int(T - t),
    networks.step_size: lambda j: fmpq(1, 1000) / (j + 1),
    networks.d_offset: itself,
    networks.mass: lambda c, j: fmpq(j > 0),
    networks.share: lambda c, j: fmpq(j == 0),
    networks.tap: itself,
    networks.delay: always(1),
    networks.delays: lambda j: j,
    networks.lower: halved,
    networks.upper: lambda p, q: p / 4 + q,
    networks.upper_run: upper_run,
    functions.StepProduct: quotient,
    functions.gamma_function: lambda z: arb(z).gamma(),
    functions.RealPower: lambda base, e: (arb(e) * arb(base).log()).exp(),
    functions.LambertRoot: lambda z: -(-(-arb(z)).exp()).lambertw(-1),
    SILU_PEAK: silu_peak_ball(),
    exp: lambda z: arb(z).exp(),
    Max: lambda *values: max(values),
    Min: lambda *values: min(values),
    relations.power: lambda A, v, j: A ** int(j) * v,
    local_maps.pattern: always(1),
}
for function in (unitary.rank, unitary.rows):
    EVERYWHERE[function] = lambda p: fmpq(p != 0)
for function in (
    *(terms.transpose, terms.readout, terms.least, networks.activation, networks.project),
    *(networks.boxed, networks.layer),
):
    EVERYWHERE[function] = itself
for function in (
    *(networks.differentiable, networks.projects, networks.feasible, networks.slopes),
    *(networks.derivative, networks.d_input, terms.is_diagonal, terms.is_symmetric),
    *(jets.unit_weight, networks.layer_product),
):
    EVERYWHERE[function] = always(1)
EVERYWHERE[networks.d_state] = always(HALF)

HALF_ARE = "lam lam_box lam_1 lam_P lam_v lam_omega W W_norm W_radius z_low"
ONE_ARE = "U V J I e P_h V_unit P_root P_root_inverse D D_inverse V_inverse"
NUMBERS = {
    **dict.fromkeys([*HALF_ARE.split(), "least_z", "D_1"], HALF),
    **dict.fromkeys(ONE_ARE.split(), ONE),
    **dict.fromkeys(("T", "K_1"), fmpq(4)),
    **dict.fromkeys(("k", "t", "B_h"), fmpq(2)),
    **{"N": fmpq(3), "lam_2": fmpq(1, 4), "L_p": fmpq(1, 100)},
    **{"G_0": fmpq(5), "eps_k": fmpq(7, 4), "K_0": fmpq(3)},
    **{"alpha": fmpq(1, 1000), "beta": fmpq(1000)},
}
