"""The textbook lemmas behind jets, under names that `axioms` has too."""

from sympy import Integer, Symbol

from rnnbounds.theory.language import Axiom, Clause, axiom, eq, law, le
from rnnbounds.theory.language.terms import jets
from rnnbounds.theory.language.terms.variables import A, a, c, i, v
from rnnbounds.theory.language.terms.vectors import weighted

_HORN = "Horn & Johnson, Matrix Analysis"
_RUDIN = "Rudin, Principles of Mathematical Analysis"
_L = Symbol("L", real=True)
_p, _q, _g = jets.first(v), jets.second(v), jets.gate(v)
_dp, _dq, _dg = (jets.unit_slope(u, a, c) for u in (_p, _q, _g))
_SLOPES = {
    jets.PRODUCT: jets.unit_value(_p, a) * _dq + jets.unit_value(_q, a) * _dp,
    jets.ACTIVATION: jets.tangent(v, a) * _dp,
    jets.SUM: _dp + jets.factor(v) * _dq + jets.own_slope(v, a, c),
    jets.MIXTURE: (jets.unit_value(_p, a) - jets.unit_value(_q, a)) * _dg
    + jets.unit_value(_g, a) * _dp
    + (1 - jets.unit_value(_g, a)) * _dq,
}

LARGEST_ROW = axiom(
    "norm",
    f"{_HORN}, Example 5.6.5 and Definition 5.4.12",
    "into max |·|_i/v_i an operator has the norm max ‖A_i‖/v_i, the rows in the dual norm",
    (_L, A),
).that(
    Clause(le(weighted(A), _L), (eq(jets.in_largest, Integer(1)),)),
    requires=law("", (i,), le(weighted(jets.row(A, i)), _L * jets.unit_weight(i))),
)
CHAIN_RULE_UNITS = {
    number: axiom(
        "chain rule",
        f"{_RUDIN}, Theorems 5.3, 5.5 and 9.15",
        "(p q)′ = p q′ + q p′, f(p)′ = f′(p) p′, (p + c q)′ = p′ + c q′ + c′ q and "
        "(g p + (1 − g) q)′ = (p − q) g′ + g p′ + (1 − g) q′",
        (v, a, c),
    ).that(Clause(eq(jets.unit_slope(v, a, c), slope), (eq(jets.kind(v), Integer(number)),)))
    for number, slope in _SLOPES.items()
}
JET_AXIOMS: tuple[Axiom, ...] = (LARGEST_ROW, *CHAIN_RULE_UNITS.values())
