"""How ledgers are written: what the constructors make of statements, uses and premises."""

from sympy import Integer, Rational

from rnnbounds.theory.axioms.base import AXIOMS
from rnnbounds.theory.language import (
    Assumption,
    Axiom,
    assume,
    at,
    axiom,
    axioms_in,
    eq,
    law,
    le,
    lt,
    symbols,
)
from rnnbounds.theory.language.terms.variables import j, m, v, y, z
from rnnbounds.theory.language.terms.vectors import norm
from rnnbounds.theory.proof import Step, check, scale, step, swap, theorem, thousandth_less
from rnnbounds.theory.proof.methods import HYPOTHESIS, Identity, Induction, Smt

lam, h_norm, S_0, T = symbols("lam h_norm S_0 T")
NEAR = (le(y, z), lt(z, 1))
CONTRACTIVE = Assumption("contractive", "λ < 1", lt(lam, Integer(1)))


def test_a_step_uses_what_is_given() -> None:
    """Before all else, and under its number."""
    short = step("s", le(y, 1), forall=(y, z), given=NEAR).by("contractive")
    assert short == Step("s", le(y, 1), Smt("given 1", "given 2", "contractive"), (y, z), NEAR)
    assert step("s", eq(y, z)).by("e", method=Identity) == Step("s", eq(y, z), Identity("e"))


def test_an_induction_uses_its_hypothesis() -> None:
    """And what is given from one to the next; the base, only where it says so."""
    power = step("p", le(0, lam**m), forall=(m, y), given=NEAR[:1])
    base, further = Smt(at("start", 0)), Smt(HYPOTHESIS, "given 1", "a", "b")
    method = Induction(m, base, further)
    short = power.by_induction(base=at("start", 0), step=("a", "b"), over=m)
    assert short == Step("p", le(0, lam**m), method, (m, y), NEAR[:1])
    bare = step("p", le(0, lam**j), forall=(j,)).by_induction(method=Identity)
    assert bare.method == Induction(j, Identity(), Identity(HYPOTHESIS))


def test_an_induction_carries_premises_that_vary() -> None:
    """What does not speak of the variables is given once, and not with the hypothesis."""
    for premise, carried in ((le(m, y), True), (le(y, z), False)):
        made = step("p", le(0, lam**m), forall=(m, y), given=(premise,))
        method = made.inductively(("a",), (HYPOTHESIS, "given 1"), over=m).method
        assert method == Induction(
            m, Smt("a"), Smt(HYPOTHESIS, "given 1"), (premise,) if carried else ()
        )


def test_a_form_ends_with_its_statement() -> None:
    """As the step named claim, by the uses."""
    below = step("below", lt(lam, 2)).by("contractive")
    form = theorem("f", lt(lam, 3), (CONTRACTIVE,), "linear", (below,), "note").by("below")
    assert form.proof.steps == (below, Step("claim", lt(lam, 3), Smt("below")))
    assert (form.note, form.assumptions) == ("note", (CONTRACTIVE,))
    assert check(form.proof, form.statement, form.assumptions).proved


def test_assumptions_and_axioms_bear_one_name() -> None:
    """Their laws have it, and the lists of axioms hold each once."""
    small = assume("small", "v is small", forall=(v,), condition=le(lam, 1)).that(le(norm(v), 1))
    assert small == Assumption(
        "small", "v is small", le(lam, 1), law("small", (v,), le(norm(v), 1))
    )
    clauses = law("", (v,), le(0, norm(v))).clauses
    lemma = axiom("norm", "any book", "‖v‖ ≥ 0", (v,)).that(le(0, norm(v)))
    assert lemma == Axiom("norm", (v,), clauses, "‖v‖ ≥ 0", "any book")
    assert axioms_in({"a": lemma, "b": 1, "c": small}) == (lemma,)
    assert len(set(AXIOMS)) == len(AXIOMS)


def test_shapes_of_false_variants() -> None:
    """Another factor on the right, or another term in it; the rest is the form's."""
    form = theorem("f", le(h_norm, S_0 * lam**T), (CONTRACTIVE,), "linear").by()
    more = Assumption("more", "", le(1, T))
    found = scale(form, lam, "next", "text", more)
    assert found.statement == le(h_norm, lam * (S_0 * lam**T))
    assert (found.form, found.assumptions) == ("f", (CONTRACTIVE, more))
    later = swap(form, T, T + 1, "next", "text").statement
    assert later == le(h_norm, S_0 * lam ** (T + 1))
    assert swap(form, S_0, 1, "none", "text").statement == le(h_norm, lam**T)
    assert thousandth_less(form).statement.rhs == Rational(999, 1000) * S_0 * lam**T
