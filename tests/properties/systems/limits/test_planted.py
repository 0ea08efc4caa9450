"""Planted truth: verdicts that are known from closed forms, and how the judge does on them.

Cases are made in exact fractions; nothing of the judge is used to make them.
"""

from collections.abc import Iterator
from fractions import Fraction
from math import inf, nextafter
from typing import Any, NamedTuple

import msgspec
import pytest

from rnnbounds.properties.attacks.typed_statement import typed_assumptions
from rnnbounds.properties.judging.judge import judge
from rnnbounds.properties.judging.verdict import Verdict
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.spec import SystemSpec, Values, check_spec
from rnnbounds.properties.systems.table import make_spec
from rnnbounds.theory.language.parse import parse_statement

# tanh(1) and sigma(1) to 40 digits.
DIGITS = {
    "tanh": "0.7615941559557648881194582826047935904127",
    "sigmoid": "0.7310585786300048792511592418218362743651",
}
LEMMA = "S_0*(lam**{k} - lam**T)/(1 - lam)"


class Case(NamedTuple):
    """A statement at a window of a system, and its verdict."""

    name: str
    statement: str
    verdict: str
    k: int
    spec: SystemSpec


def literal(value: Fraction) -> str:
    """The value as the typed statement writes it."""
    top, bottom = value.numerator, value.denominator
    return str(top) if bottom == 1 else f"{top}/{bottom}"


def linear(lam: float, x: list[float], K: int, activation: str = "identity") -> SystemSpec:
    """h = ρ(λh + x), linear unless something else is said."""
    values = Values(
        W=[[lam]], U=[[1.0]], b=[0.0], C=[[1.0]], x=[[v] for v in x], h=[1.0], h_other=[-1.0]
    )
    return make_spec(activation=activation, T=len(x), K=K, values=values)


def path(lam: float, x: list[float]) -> Fraction:
    """The last state of the scalar linear system, exactly."""
    h = Fraction(0)
    for v in x:
        h = Fraction(lam) * h + Fraction(v)
    return h


def around(name: str, left: str, truth: Fraction, k: int, spec: SystemSpec) -> Iterator[Case]:
    """Equality, and the truth's float64 neighbours if it is a float64, else a tiny step aside."""
    if Fraction(float(truth)) == truth and 2.0**-1000 < float(truth) < 2.0**900:
        above, below = (Fraction(nextafter(float(truth), end)) for end in (inf, -inf))
    else:
        step = truth / 2**80 if truth else Fraction(1, 2**80)
        above, below = truth + step, truth - step
    for what, relation, right, verdict in (
        ("equal", "<=", truth, "HOLDS"), ("above", "<=", above, "HOLDS"),
        ("below", "<=", below, "VIOLATED"), ("strict", "<", truth, "VIOLATED"),
    ):  # fmt: skip
        yield Case(f"{name}: {what}", f"{left} {relation} {literal(right)}", verdict, k, spec)


def scalar_cases() -> Iterator[Case]:
    """The state and every gap of h = λh + x are polynomials in λ; the float just below 1 is one."""
    for lam in (0.5, 0.0, -0.5, 0.999755859375):
        for scale in (1.0, 2.0**-300, 2.0**200):
            x = [scale] * 4
            spec, name, truth = linear(lam, x, 3), f"lam {lam} scale {scale:g}", path(lam, x)
            yield from around(f"{name} h_norm", "h_norm", abs(truth), 0, spec)
            for k in (0, 1, 3):
                gap = abs(truth - path(lam, x[4 - k :]))
                yield from around(f"{name} k {k} h_gap", "h_gap", gap, k, spec)
    lam, x = nextafter(1.0, 0.0), [1.0] * 3
    yield from around("lam 1 - 2**-53", "h_norm", abs(path(lam, x)), 0, linear(lam, x, 2))


def bound_cases() -> Iterator[Case]:
    """Lemma 1 and the state bound are attained by the constant input; shorter bounds fail. With
    λ = 1 exactly and beyond no contractive claim applies, whatever the numbers."""
    for lam in (0.5, 0.75, 0.875):
        for T in (3, 6):
            spec = linear(lam, [1.0] * T, 2)
            for k in (0, 1, 2):
                for relation, power, verdict in (
                    ("<=", "k", "HOLDS"), (">=", "k", "HOLDS"), ("<=", "(k+1)", "VIOLATED"),
                    ("<", "k", "VIOLATED"),
                ):  # fmt: skip
                    statement = f"h_gap {relation} {LEMMA.format(k=power)}"
                    yield Case(f"lam {lam} T {T} k {k} {statement}", statement, verdict, k, spec)
            bound = "h_norm <= S_0*(1 - lam**T)/(1 - lam)"
            yield Case(f"lam {lam} T {T} state", bound, "HOLDS", 0, spec)
    for lam in (1.0, -1.0, 1.5, nextafter(1.0, 2.0)):
        for statement in ("h_norm <= 10", "h_norm <= 0", "h_gap <= 10", "h_gap <= 0"):
            spec = linear(lam, [1.0] * 3, 2)
            yield Case(f"lam {lam!r} {statement}", statement, "VACUOUS", 0, spec)


def vector_cases() -> Iterator[Case]:
    """W = 0: the state is U x, of a length known from Pythagorean triples and roots."""
    for a, b, length in ((3, 4, "5"), (5, 12, "13"), (8, 15, "17"), (1, 1, "sqrt(2)"),
                         (1, 2, "sqrt(5)")):  # fmt: skip
        for scale in (1.0, 2.0**-100, 2.0**100):
            values = Values(
                W=[[0.0, 0.0], [0.0, 0.0]], U=[[a * scale], [b * scale]], b=[0.0, 0.0],
                C=[[1.0, 0.0], [0.0, 1.0]], x=[[1.0], [1.0]], h=[1.0, 0.0], h_other=[0.0, 0.0],
            )  # fmt: skip
            spec = make_spec(activation="identity", n=2, T=2, K=1, values=values)
            name, size = f"triple {a} {b} scale {scale:g}", literal(Fraction(scale))
            for factor, verdict in (("1", "HOLDS"), ("(1 + 1/2**70)", "HOLDS"),
                                    ("(1 - 1/2**70)", "VIOLATED")):  # fmt: skip
                bound = f"h_norm <= {size}*{factor}*{length}"
                yield Case(f"{name} {factor}", bound, verdict, 0, spec)
            yield Case(f"{name} gap", "h_gap <= 0", "HOLDS", 1, spec)


def extreme_cases() -> Iterator[Case]:
    """tanh(1) and σ(1) against 6 to 40 of their digits, cut and raised; and subnormal and huge
    numbers, whose squares under- and overflow."""
    for activation, digits in DIGITS.items():
        spec = linear(0.0, [1.0], 1, activation)
        for shown in (6, 12, 18, 24, 30, 36, 40):
            cut = Fraction(digits[: shown + 2])
            for bound, verdict in ((cut, "VIOLATED"), (cut + Fraction(1, 10**shown), "HOLDS")):
                name = f"{activation} {verdict} at {shown}"
                yield Case(name, f"h_norm <= {literal(bound)}", verdict, 0, spec)
    for scale in (5e-324, 2.0**-1060, 2.0**-600, 2.0**600, 2.0**1000):
        spec = linear(0.5, [scale, 0.0], 2)
        for parts, verdict in ((2, "HOLDS"), (4, "VIOLATED")):
            bound = literal(Fraction(scale) / parts)
            yield Case(f"scale {scale:g} / {parts}", f"h_norm <= {bound}", verdict, 0, spec)


CASES = [*scalar_cases(), *bound_cases(), *vector_cases(), *extreme_cases()]


def test_there_are_enough_cases() -> None:
    """At least 300 cases, with all verdicts but UNDECIDED among them, and no two alike."""
    assert len(CASES) >= 300
    assert len({case.name for case in CASES}) == len(CASES)
    assert {case.verdict for case in CASES} == {"HOLDS", "VIOLATED", "VACUOUS"}


@pytest.mark.slow
def test_verdicts() -> None:
    """The judge reaches the planted verdicts."""
    for case in CASES:
        check_spec(case.spec)
        statement = parse_statement(case.statement)
        seen = judge(statement, typed_assumptions(statement), build_batch(case.spec))
        k = case.k if seen.verdicts.shape[2] > 1 else 0
        assert Verdict(int(seen.verdicts[0, 0, k])).name == case.verdict, case.name


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")], ids=str)
@pytest.mark.parametrize("where", ["W", "U", "b", "C", "x", "h", "h_other"])
def test_not_a_number_is_never_a_pass(where: str, bad: float) -> None:
    """NaN or infinity in any array of a system is neither HOLDS nor VIOLATED."""
    spec = linear(0.5, [1.0] * 4, 3)
    old: Any = getattr(spec.values, where)
    new = [[bad] * len(old[0])] * len(old) if isinstance(old[0], list) else [bad] * len(old)
    values = msgspec.structs.replace(spec.values, **{where: new})
    spoiled = build_batch(msgspec.structs.replace(spec, values=values))
    for measured in ("h_norm", "h_gap", "y_gap", "step_gap", "dh_dx"):
        statement = parse_statement(f"{measured} <= 10")
        seen = judge(statement, typed_assumptions(statement), spoiled).verdicts
        assert not {Verdict.HOLDS, Verdict.VIOLATED} & set(seen.ravel().tolist()), measured
