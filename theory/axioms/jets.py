"""The textbook lemmas behind jets, under names that `axioms` has too."""

from rnnbounds.theory.axioms.reading import HORN, RUDIN, axiom
from rnnbounds.theory.language import Axiom
from rnnbounds.theory.language.terms import jets

_p, _q, _g = (f"unit_value({u}(v), a)" for u in ("first", "second", "gate"))
_dp, _dq, _dg = (f"unit_slope({u}(v), a, c)" for u in ("first", "second", "gate"))
_SLOPES = {
    jets.PRODUCT: f"{_p}*{_dq} + {_q}*{_dp}",
    jets.ACTIVATION: f"tangent(v, a)*{_dp}",
    jets.SUM: f"{_dp} + factor(v)*{_dq} + own_slope(v, a, c)",
    jets.MIXTURE: f"({_p} - {_q})*{_dg} + {_g}*{_dp} + (1 - {_g})*{_dq}",
}

LARGEST_ROW = axiom(
    "norm",
    f"{HORN}, Example 5.6.5 and Definition 5.4.12",
    "into max |·|_i/v_i an operator has the norm max ‖A_i‖/v_i, the rows in the dual norm",
    "L A: weighted(A) <= L where in_largest == 1",
    "i: weighted(row(A, i)) <= L*unit_weight(i)",
)
CHAIN_RULE_UNITS = {
    number: axiom(
        "chain rule",
        f"{RUDIN}, Theorems 5.3, 5.5 and 9.15",
        "(p q)′ = p q′ + q p′, f(p)′ = f′(p) p′, (p + c q)′ = p′ + c q′ + c′ q and "
        "(g p + (1 − g) q)′ = (p − q) g′ + g p′ + (1 − g) q′",
        f"v a c: unit_slope(v, a, c) == {slope} where kind(v) == {number}",
    )
    for number, slope in _SLOPES.items()
}
JET_AXIOMS: tuple[Axiom, ...] = (LARGEST_ROW, *CHAIN_RULE_UNITS.values())
