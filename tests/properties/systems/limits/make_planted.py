"""Writes planted.json: cases whose verdict is known from closed forms in exact fractions.

Run ``python tests/properties/systems/limits/make_planted.py`` to write it anew. Nothing of the
judge is used here.
"""

from __future__ import annotations

import json
from fractions import Fraction
from math import inf, nextafter
from pathlib import Path

TARGET = Path(__file__).with_name("planted.json")
# tanh(1) and sigma(1) to 40 digits.
TANH_1 = "0.7615941559557648881194582826047935904127"
SIGMOID_1 = "0.7310585786300048792511592418218362743651"


def literal(value: Fraction) -> str:
    """The value as the typed statement writes it."""
    top, bottom = value.numerator, value.denominator
    return str(top) if bottom == 1 else f"{top}/{bottom}"


def case(
    name: str, statement: str, verdict: str, k: int, why: str, **spec: object
) -> dict[str, object]:
    """One planted case: a statement, the window, the verdict, and why."""
    return {
        "name": name,
        "statement": statement,
        "k": k,
        "verdict": verdict,
        "why": why,
        "spec": spec,
    }


def scalar(
    lam: float, x: list[float], *, b: float = 0.0, u: float = 1.0, K: int, **more: object
) -> dict[str, object]:
    """The fields of a scalar linear system h = λh + u x + b."""
    T = len(x)
    values = {
        "W": [[lam]], "U": [[u]], "b": [b], "C": [[1.0]], "x": [[v] for v in x],
        "h": [1.0], "h_other": [-1.0],
    }  # fmt: skip
    return {
        "kind": "rnn",
        "activation": "identity",
        "n": 1,
        "d": 1,
        "T": T,
        "K": K,
        "values": values,
    } | more


def path(lam: float, x: list[float], b: float, u: float) -> Fraction:
    """The last state of the scalar linear system, exactly."""
    h = Fraction(0)
    for v in x:
        h = Fraction(lam) * h + Fraction(u) * Fraction(v) + Fraction(b)
    return h


def around(
    name: str, quantity: str, truth: Fraction, k: int, spec: dict[str, object]
) -> list[dict[str, object]]:
    """Equality, and the truth's float64 neighbours if it is a float64, else a tiny step aside."""
    exact = truth if Fraction(float(truth)) == truth else None
    if exact is not None and truth != 0 and 2.0**-1000 < float(truth) < 2.0**900:
        above = Fraction(nextafter(float(truth), inf))
        below = Fraction(nextafter(float(truth), -inf))
    else:
        step = truth / 2**80 if truth else Fraction(1, 2**80)
        above, below = truth + step, truth - step
    return [
        case(f"{name}: equal", f"{quantity} <= {literal(truth)}", "HOLDS", k, "equality", **spec),
        case(
            f"{name}: above",
            f"{quantity} <= {literal(above)}",
            "HOLDS",
            k,
            "one step above",
            **spec,
        ),
        case(
            f"{name}: below",
            f"{quantity} <= {literal(below)}",
            "VIOLATED",
            k,
            "one step below",
            **spec,
        ),
        case(
            f"{name}: strict",
            f"{quantity} < {literal(truth)}",
            "VIOLATED",
            k,
            "equality is not below",
            **spec,
        ),
    ]


def scalar_cases() -> list[dict[str, object]]:
    """h = λh + u x + b: the state and every gap are polynomials in λ."""
    cases = []
    for lam in (0.5, 0.75, 0.25, 0.9375, 0.0, -0.5, 0.999755859375):
        for scale in (1.0, 2.0**-300, 2.0**200):
            T, b = 4, 0.0
            x = [scale] * T
            spec = scalar(lam, x, K=3)
            name = f"lam {lam} scale {scale:g}"
            truth = path(lam, x, b, 1.0)
            cases += around(f"{name} h_norm", "h_norm", abs(truth), 0, spec)
            for k in (0, 1, 3):
                gap = abs(truth - path(lam, x[T - k :], b, 1.0))
                cases += around(f"{name} k {k} h_gap", "h_gap", gap, k, spec)
    return cases


def bound_cases() -> list[dict[str, object]]:
    """Lemma 1 and the state bound are attained by the constant input; shorter bounds fail."""
    cases = []
    for lam in (0.5, 0.75, 0.875):
        for T in (3, 6):
            spec = scalar(lam, [1.0] * T, K=2)
            for k in (0, 1, 2):
                name = f"lam {lam} T {T} k {k}"
                true, false = (
                    "S_0*(lam**k - lam**T)/(1 - lam)",
                    "S_0*(lam**(k+1) - lam**T)/(1 - lam)",
                )
                cases.append(
                    case(
                        f"{name} lemma", f"h_gap <= {true}", "HOLDS", k, "attained exactly", **spec
                    )
                )
                cases.append(
                    case(
                        f"{name} equal", f"h_gap >= {true}", "HOLDS", k, "attained exactly", **spec
                    )
                )
                cases.append(
                    case(
                        f"{name} short",
                        f"h_gap <= {false}",
                        "VIOLATED",
                        k,
                        "one power too many",
                        **spec,
                    )
                )
                cases.append(
                    case(
                        f"{name} strict",
                        f"h_gap < {true}",
                        "VIOLATED",
                        k,
                        "attained exactly",
                        **spec,
                    )
                )
            bound = "h_norm <= S_0*(1 - lam**T)/(1 - lam)"
            name = f"lam {lam} T {T} state"
            cases.append(case(name, bound, "HOLDS", 0, "attained exactly", **spec))
    return cases


def unstable_cases() -> list[dict[str, object]]:
    """λ = 1 exactly and beyond: no contractive claim applies, whatever the numbers."""
    return [
        case(
            f"lam {lam!r} {quantity} <= {bound}",
            f"{quantity} <= {bound}",
            "VACUOUS",
            0,
            "lam >= 1",
            **scalar(lam, [1.0] * 3, K=2),
        )
        for lam in (1.0, -1.0, 1.5, nextafter(1.0, 2.0))
        for quantity, bound in (("h_norm", 10), ("h_norm", 0), ("h_gap", 10), ("h_gap", 0))
    ]


def barely_stable_cases() -> list[dict[str, object]]:
    """The float just below 1 is contractive."""
    lam = nextafter(1.0, 0.0)
    return around(
        "lam 1 - 2**-53",
        "h_norm",
        abs(path(lam, [1.0] * 3, 0.0, 1.0)),
        0,
        scalar(lam, [1.0] * 3, K=2),
    )


def vector_cases() -> list[dict[str, object]]:
    """W = 0: the state is U x + b, of a length known from Pythagorean triples and roots."""
    cases = []
    for a, b, length in (
        (3, 4, "5"),
        (5, 12, "13"),
        (8, 15, "17"),
        (1, 1, "sqrt(2)"),
        (1, 2, "sqrt(5)"),
    ):
        for scale in (1.0, 2.0**-100, 2.0**100):
            size = literal(Fraction(scale))
            values = {
                "W": [[0.0, 0.0], [0.0, 0.0]], "U": [[a * scale], [b * scale]], "b": [0.0, 0.0],
                "C": [[1.0, 0.0], [0.0, 1.0]], "x": [[1.0], [1.0]],
                "h": [1.0, 0.0], "h_other": [0.0, 0.0],
            }  # fmt: skip
            spec = {
                "kind": "rnn",
                "activation": "identity",
                "n": 2,
                "d": 1,
                "T": 2,
                "K": 1,
                "values": values,
            }
            name = f"triple {a} {b} scale {scale:g}"
            up, down = f"{size}*(1 + 1/2**70)", f"{size}*(1 - 1/2**70)"
            cases += [
                case(f"{name} equal", f"h_norm <= {size}*{length}", "HOLDS", 0, "equality", **spec),
                case(f"{name} above", f"h_norm <= {up}*{length}", "HOLDS", 0, "just above", **spec),
                case(
                    f"{name} below",
                    f"h_norm <= {down}*{length}",
                    "VIOLATED",
                    0,
                    "just below",
                    **spec,
                ),
                case(f"{name} gap", "h_gap <= 0", "HOLDS", 1, "no memory, no gap", **spec),
            ]
    return cases


def transcendental_cases() -> list[dict[str, object]]:
    """tanh(1) and σ(1) against their digits: 4 to 40 of them, cut (below the truth) and raised."""
    cases = []
    for activation, digits in (("tanh", TANH_1), ("sigmoid", SIGMOID_1)):
        spec = scalar(0.0, [1.0], K=1) | {"activation": activation}
        for shown in (6, 12, 18, 24, 30, 36, 40):
            cut = Fraction(digits[: shown + 2])
            raised = cut + Fraction(1, 10**shown)
            for name, bound, verdict, why in (
                ("cut", cut, "VIOLATED", "the digits go on"),
                ("raised", raised, "HOLDS", "the next digit up"),
            ):
                statement = f"h_norm <= {literal(bound)}"
                cases.append(
                    case(f"{activation} {name} at {shown}", statement, verdict, 0, why, **spec)
                )
    return cases


def extreme_cases() -> list[dict[str, object]]:
    """Subnormal and huge numbers: squares of norms under- and overflow, the verdict must not."""
    cases = []
    for scale in (5e-324, 2.0**-1060, 2.0**-600, 2.0**600, 2.0**1000):
        spec = scalar(0.5, [scale, 0.0], K=2)
        for name, parts, verdict in (("halves", 2, "HOLDS"), ("quarter", 4, "VIOLATED")):
            statement = f"h_norm <= {literal(Fraction(scale) / parts)}"
            why = "h_2 is half of x_1, exactly"
            cases.append(case(f"scale {scale:g} {name}", statement, verdict, 0, why, **spec))
    return cases


def main() -> None:
    """Write all cases."""
    cases = [
        *scalar_cases(), *bound_cases(), *unstable_cases(), *barely_stable_cases(), *vector_cases(),
        *transcendental_cases(), *extreme_cases(),
    ]  # fmt: skip
    TARGET.write_text("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
    print(f"{len(cases)} cases")


if __name__ == "__main__":
    main()
