"""Units of a tanh network are independent, but for those equal up to the sign (Emami et al.)."""

from sympy import Expr, Symbol

from rnnbounds.theory.axioms import analytic
from rnnbounds.theory.axioms.ranks import RANK_KERNEL, RANK_PRODUCT
from rnnbounds.theory.language import ONE, ZERO, Clause, Statement, assume, at, eq, le, ne, symbols
from rnnbounds.theory.language.terms.analytic import lines, slope, support, tangents, unit
from rnnbounds.theory.language.terms.unitary import rank
from rnnbounds.theory.language.terms.variables import a, b, c, i, operator, v, z
from rnnbounds.theory.language.terms.vectors import inner, norm
from rnnbounds.theory.models.unitary import lines as model
from rnnbounds.theory.models.unitary.lines import PAIRS, UNROLLED, history, inputs, present
from rnnbounds.theory.proof import step, theorem

sign_classes, sample_rank = symbols("sign_classes sample_rank")

t_0 = Symbol("t_0", integer=True)  # the time of the units that are sampled
# values v = v·t_k as a function of the inputs; representatives selects units
values, representatives = operator("H_units"), operator("S_classes")
unit_functions = tangents(history(t_0))
selected_unit = present(t_0) * representatives * v


def _selection(one: Symbol) -> tuple[Statement, ...]:
    return (eq(unit(one), ONE), ne(inner(selected_unit, one), ZERO))


NETWORK = assume(
    "tanh network",
    "H has the values of the units t_k = tanh(A t_{k−1} + G x_k + d) of a network with real "
    "weights; S selects one unit of each class of units that are equal up to the sign and not "
    "constant",
    forall=(v, a, b, z),
).that(
    eq(norm(values * v), norm(unit_functions * present(t_0) * v)),
    le(norm(v), norm(present(t_0) * v)),
    eq(rank(representatives), sign_classes),
    Clause(ne(norm(unit_functions * a), ZERO), _selection(a)),
    Clause(
        ne(inner(a, b), ZERO),
        (
            *_selection(a),
            *_selection(b),
            eq(z**2, ONE),
            eq(norm(unit_functions * (b - z * a)), ZERO),
        ),
    ),
)


def _at_sample(*terms: Expr) -> tuple[Expr, ...]:
    """The terms of the weights that are chosen, at the time of the sample."""
    return tuple(term.subs(i, t_0).subs(c, selected_unit) for term in terms)


RELATED = (eq(norm(values * representatives * v), ZERO),)
P, Y, u, other, sign, *pole = _at_sample(
    model.P, model.Y, model.u, model.v, model.sign, *model.at_pole
)
INDEPENDENT = theorem(
    "independence",
    le(sign_classes, sample_rank),
    (UNROLLED, NETWORK),
    "planted",
    (
        *PAIRS,
        step(
            "a pole is shared",
            eq(support(selected_unit), ZERO),
            forall=(v,),
            given=(*RELATED, ne(slope(lines(P, Y), u), ZERO)),
        ).by(
            at("tanh network", representatives * v, 0, 0, 0),
            at("tanh network", v, u, other, sign),
            analytic.LARGEST.at(P, Y, selected_unit, u),
            analytic.TANH_POLES.at(P, Y, u, *pole),
            analytic.NO_LONELY_POLE.at(P, Y, selected_unit, u, *pole),
            at("lines", t_0, selected_unit),
            at("slopes up to the sign", t_0, selected_unit),
            at("the same unit", t_0, selected_unit),
        ),
        step("no relation", eq(norm(representatives * v), ZERO), (v,), RELATED).by(
            at("a pole is shared", v),
            at("tanh network", representatives * v, 0, 0, 0),
            at("tanh network", v, u, 0, 0),
            analytic.EMPTY.at(P, selected_unit),
            analytic.LARGEST.at(P, Y, selected_unit, u),
            analytic.HOMOMORPHISM.at(P, Y, u, u, 1),
            at("unrolled", t_0),
            analytic.BASIS.at(P, inputs(t_0)),
        ),
    ),
    note="equal as functions of the inputs",
).by(
    "no relation",
    at("tanh network", 0, 0, 0, 0),
    RANK_KERNEL.at(values * representatives, representatives),
    RANK_PRODUCT.at(values, representatives),
)
