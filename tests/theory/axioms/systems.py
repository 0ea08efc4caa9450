"""One small system for each form: one state, one input, everything a number.

Vectors and operators are numbers, products of operators are products, and every norm is a modulus.
What no system says is 0, of functions, and 1, of quantities.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flint import arb, fmpq
from sympy import Max, Min, Symbol, exp
from sympy.core.function import FunctionClass

from theory.claims.memory import lasting_memory, near_data
from theory.language.constants import SILU_PEAK, silu_peak
from theory.language.functions import LambertRoot, RealPower, StepProduct, gamma_function
from theory.language.terms import (
    causal,
    certificates,
    gates,
    gradients,
    jets,
    layers,
    memory,
    stacks,
    unitary,
)
from theory.language.terms import vectors as terms
from theory.language.terms.vectors import Norm, Term
from theory.models.gates import gru_model
from theory.models.unitary import krylov, local_maps, returns

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
        gates.gated_run: lambda v, x, j: run(v, x, 0, j),
        stacks.lower_run: lambda v, x, s, j: run(v, x, s, j),
        certificates.begun: run,
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
    gates.in_box: lambda p: fmpq(abs(p) <= 100),
    gradients.jacobian: lambda x, T, t: HALF ** int(T - t),
    gradients.step_size: lambda j: fmpq(1, 1000) / (j + 1),
    gradients.d_offset: itself,
    gradients.mass: lambda c, j: fmpq(j > 0),
    gradients.share: lambda c, j: fmpq(j == 0),
    causal.tap: itself,
    causal.delay: always(1),
    causal.reach: lambda j: j,
    stacks.lower: halved,
    stacks.upper: lambda p, q: p / 4 + q,
    stacks.upper_run: upper_run,
    memory.decay: always(HALF),
    memory.tangent: always(1),
    memory.tangents: always(1),
    memory.decays: lambda x, s, j: HALF ** int(j),
    memory.turned: lambda p: p / 2,
    StepProduct: quotient,
    gamma_function: lambda z: arb(z).gamma(),
    RealPower: lambda base, e: (arb(e) * arb(base).log()).exp(),
    LambertRoot: lambda z: -(-(-arb(z)).exp()).lambertw(-1),
    SILU_PEAK: silu_peak(),
    exp: lambda z: arb(z).exp(),
    Max: lambda *values: max(values),
    Min: lambda *values: min(values),
    returns.power: lambda A, v, j: A ** int(j) * v,
    local_maps.response: lambda j, i: fmpq(j == i),
    local_maps.response_candidate: lambda j, i: fmpq(j == i),
    local_maps.pattern: always(1),
}
for function in (unitary.rank, unitary.rows):
    EVERYWHERE[function] = lambda p: fmpq(p != 0)
for function in (
    *(terms.transpose, terms.readout, terms.least, gradients.activation, gradients.project),
    *(gates.boxed, layers.layer),
):
    EVERYWHERE[function] = itself
for function in (
    *(gradients.differentiable, gradients.projects, gradients.feasible, gradients.slopes),
    *(gradients.derivative, gradients.d_input, terms.is_diagonal, terms.is_symmetric),
    *(terms.in_range, terms.completes, jets.unit_weight, layers.layer_product),
):
    EVERYWHERE[function] = always(1)
EVERYWHERE[gradients.d_state] = always(HALF)

HALF_ARE = "lam lam_box lam_told lam_1 lam_P lam_v lam_omega W W_norm W_radius mode_radius z_low"
ONE_ARE = "U V J I e P_h V_unit P_root P_root_inverse D D_inverse V_inverse"
LARGE = "gamma_told beta_told gain_told rounding_told R_told drift_told drift_own_told box_size"
NUMBERS = {
    **dict.fromkeys([*HALF_ARE.split(), "least_z", "D_1"], HALF),
    **dict.fromkeys(ONE_ARE.split(), ONE),
    **dict.fromkeys([*LARGE.split(), "B_u_told", "B_h_told"], fmpq(999)),
    **dict.fromkeys(("T", "K_1"), fmpq(4)),
    **dict.fromkeys(("k", "t", "B_h"), fmpq(2)),
    **{"N": fmpq(3), "u": fmpq(1, 2**53), "lam_2": fmpq(1, 4), "L_p": fmpq(1, 100)},
    **{"G_0": fmpq(5), "eps_k": fmpq(7, 4), "K_0": fmpq(3)},
    **{"alpha": fmpq(1, 1000), "beta": fmpq(1000)},
}


# What is otherwise for a claim, or for one of its forms: functions, and numbers by name.
CONSTANT = running(lambda h, x: ZERO)
HALVES = running(lambda h, x: h / 2)
CLIPPED = {gates.boxed: lambda p: min(max(p, -ONE), ONE)}
LSTM = dict.fromkeys(("W_i_inf", "W_f_inf", "W_g_inf", "W_o_inf"), ZERO)
LSTM |= {"f_bar": HALF, "most_f": HALF, "output_box": ONE}
LSTM |= dict.fromkeys(("most_i", "most_o", "most_g"), ONE) | {"cell_box": fmpq(2), "B_c": fmpq(2)}
STABLE_GRU = dict.fromkeys(("W_r_inf", "W_z_inf", "W_n_inf"), ZERO)
STABLE_GRU |= dict.fromkeys(("theta_gru", "most_z", "z_bar"), HALF)
DEEP = {
    layers.layer: lambda h, x, j: h * HALF ** int(j),
    layers.layer_product: lambda j: HALF ** int(j),
}
PER_UNIT = "contraction-gru/per-unit", "contraction-gru/per-unit-cho"
LONG = {"k": fmpq(40), "T": fmpq(50)}
DILATED = {
    "W": fmpq(3, 5),
    "lam": fmpq(3, 5),
    "states": fmpq(2),
    "low": fmpq(3, 5),
    "W_norm": fmpq(3, 5),
    "cosine": fmpq(4, 5),
}
DILATED |= {"singular": fmpq(3, 5), "W_2": fmpq(4, 5), "W_3": fmpq(4, 5), "W_4": fmpq(-3, 5)}
DILATED |= dict.fromkeys(("left", "right", "kept"), ONE)
# No unit is added.
ISOMETRIC = dict.fromkeys(("J_2", "kept", "cosine", "low", "W_2", "W_3", "W_4"), ZERO)
ISOMETRIC |= dict.fromkeys(("W", "lam", "singular", "left", "right", "J", "V", "I_m"), ONE)
ORTHOGONAL = dict.fromkeys(("W", "E", "G", "W_norm"), ONE)


def tanh_orbit(steps: Any) -> arb:
    """tanh 5, tanh(3 tanh 5), …"""
    found = arb(5).tanh()
    for _ in range(int(steps)):
        found = (3 * found).tanh()
    return found


def pulse(steps: Any) -> tuple[Any, Any, Any]:
    """After λ = 3/5 of a pulse of 5: the network, and both units of its equivalent."""
    if steps == 0:
        return ZERO, ZERO, ZERO
    h, up, low = fmpq(5), fmpq(5), ZERO
    for _ in range(int(steps) - 1):
        turned = (3 * up + 4 * low) / 5, (4 * up - 3 * low) / 5 - 2
        h, up, low = 3 * h / 5, max(turned[0], ZERO), max(turned[1], ZERO)
    return h, up, low


# Inputs 1 are recorded, and those that are run are 3/2, off by δ = 1/2.
RECORDED = running(halved)[certificates.begun]


def radius(steps: Any) -> fmpq:
    """Of the states near the data after so many steps: r⁺ = r/2 + δ, from 2."""
    return 1 + HALF ** int(steps)


def kept_near(s: Any, j: Any, v: Any) -> fmpq:
    """Whether a state is that near to the recorded one."""
    return fmpq(abs(v - RECORDED(ZERO, ONE, s, j)) <= radius(j))


def kept_apart(s: Any, j: Any, c: Any) -> fmpq:
    """Whether two runs come to differ by so little: what the first can be by s, and 2, halved."""
    return fmpq(abs(c) <= HALF ** int(j) * (RECORDED(ZERO, ONE, 0, s) + radius(s) + 2))


OTHERWISE: dict[str, tuple[dict[Any, Any], dict[str, Any]]] = {
    "contraction-lstm": (CONSTANT | CLIPPED, LSTM),
    "contraction-gru": (
        HALVES | CLIPPED | {gru_model.reset: lambda h, x: h / 2},
        dict.fromkeys(("most_r", "most_z", "output_box"), ONE),
    ),
    "contraction-gru/sufficient": ({}, STABLE_GRU),
    **dict.fromkeys((*PER_UNIT, "cell-constants/box-contraction"), (CONSTANT, {})),
    "contraction-deep": (HALVES | DEEP, {"layer_matrix": HALF}),
    "deep-gradient": (HALVES | DEEP, {"layer_matrix": HALF, "W_product": HALF}),
    "contraction-stacked/cascade-equal": ({}, {"lam_2": HALF}),
    "instability/no-window": (
        running(lambda h, x: h + x, lambda x, t: fmpq(t == 1)),
        {"lam": ONE, "beta_rho": ZERO},
    ),
    "instability/bounded-state": (
        running(lambda h, x: arb(3 * h + x).tanh(), lambda x, t: fmpq(5 * (t == 1)))
        | {lasting_memory.orbit: tanh_orbit},
        {},
    ),
    "urnn-equivalence/similar": ({}, {"T_similar": ONE, "T_inverse": ONE}),
    "urnn-equivalence/beyond": (
        {
            unitary.pulse: lambda j: pulse(j)[0],
            unitary.pulse_upper: lambda j: pulse(j)[1],
            unitary.pulse_lower: lambda j: pulse(j)[2],
            unitary.largest_pulse_gap: lambda j: max(
                abs(pulse(i)[0] - pulse(i)[1]) for i in range(int(j) + 1)
            ),
        },
        {"lam": fmpq(3, 5)},
    ),
    "receptive-field": ({}, {"R": fmpq(2)}),
    "receptive-field/oldest input": (
        {
            terms.entry: lambda x, t: x if t == 3 else ZERO,
            causal.tap: lambda x, j, t: x if t - j == 3 else ZERO,
        },
        {"R": fmpq(2), "x_edge": ONE},
    ),
    "near-data": (
        {
            certificates.on_record: lambda x, j: RECORDED(ZERO, x, 0, j),
            near_data.near: kept_near,
            near_data.between: kept_apart,
            near_data.chords: always(HALF),
        },
        {
            **{"x": fmpq(3, 2), "recorded": ONE, "near_delta": HALF, "near_states_told": fmpq(2)},
            **{"a": fmpq(2), "b": fmpq(-2), "near_gap_told": fmpq(19, 16)},
            **{"near_width_told": fmpq(17, 16), "near_eps_told": fmpq(5, 4)},
            "near_k_told": fmpq(2),
        },
    ),
    "certificate/rounding": (
        {terms.computed: lambda x, j: (1 - HALF ** int(j)) / 500},
        {"lam_run": HALF, "one_error": fmpq(1, 1000)},
    ),
    "rounding-state": ({}, {"eps_1": fmpq(1, 1000), "e_rho": ZERO}),
    "cell-constants": ({gradients.lift: always(1)}, {}),
    "loss-constants": ({gradients.mixture: lambda c, v, j: -v if j > 0 else ZERO}, {}),
    "weight-gap/constant": ({gradients.step_size: always(fmpq(1, 1000))}, {}),
    "weight-gap/box": ({}, {"eps_k": fmpq(999)}),
    "end-to-end": ({}, LONG),
    "end-to-end/window-any": ({}, LONG | {"epsilon": fmpq(10)}),
    "urnn-defect": ({}, DILATED),
    "urnn-defect/dilation": ({}, ISOMETRIC),
    "urnn-defect/needed": ({}, ORTHOGONAL | {"states": ONE}),
    "urnn-tight/excluded": (
        {local_maps.response_candidate: always(1)},
        {"W": ZERO, "W_rank": ZERO, "y_candidate": ONE, "E": ONE, "G": ONE},
    ),
    "urnn-tight/kernel": (
        dict.fromkeys((local_maps.response, local_maps.response_candidate), always(1)),
        ORTHOGONAL,
    ),
    "urnn-tight/constant-pattern": (
        {
            krylov.krylov: lambda A, B, z, j: B if j == 0 else ZERO,
            local_maps.response: lambda j, i: HALF ** int(j - i),
            local_maps.response_candidate: always(1),
        },
        dict.fromkeys(("is_constant", "is_scalar", "D_active", "E", "G", "seen"), ONE)
        | {"rho": HALF},
    ),
    "urnn-tight/multiplicity": ({}, DILATED | {"mu": fmpq(9, 25)}),
    "urnn-gradient/bounded": (running(lambda h, x: h + x), ORTHOGONAL),
}


def system(form: str) -> System:
    """The system of a form, told by its claim and name."""
    functions, numbers = dict(EVERYWHERE), dict(NUMBERS)
    for key in (form.split("/")[0], form):
        more, named = OTHERWISE.get(key, ({}, {}))
        functions |= more
        numbers |= named
    return System(functions, numbers)
