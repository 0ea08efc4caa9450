"""A lemma on one model's weights is used of all weights of a set, and of nothing else.

Each attempt uses what is proved of a model where less is granted than it assumes.
"""

from dataclasses import replace

from rnnbounds.theory.claims.memory.receptive_field import RECEPTIVE_FIELD
from rnnbounds.theory.claims.memory.state_bound import FINITE, UNIFORM
from rnnbounds.theory.claims.training.chained import OMEGA
from rnnbounds.theory.kernel import door
from rnnbounds.theory.language import Assumption, Clause, assume, eq, law, le, symbols
from rnnbounds.theory.language.terms.networks import feasible
from rnnbounds.theory.language.terms.variables import a, v, w, w_other, x
from rnnbounds.theory.language.terms.vectors import norm, phi, state
from rnnbounds.theory.models.weights.every_weight import extend_assumption
from rnnbounds.theory.proof import Form, Proof, Step, check, theorem
from rnnbounds.theory.proof.everywhere import WeightSet
from rnnbounds.theory.proof.methods import Smt

T, lam, S_0, h_gap, weight_distance = symbols("T lam S_0 h_gap weight_distance")
EVERY = tuple(extend_assumption(OMEGA, each) for each in FINITE.assumptions if each.law is not None)
CONTRACTIVE = next(each for each in FINITE.assumptions if each.law is None)
GRANTED = (*EVERY, CONTRACTIVE)
BOUNDED = le(norm(state(x, 0, T, v)), S_0 / (1 - lam))
MEMBER = eq(feasible(v), 1)


def why_not(
    form: Form,
    *granted: Assumption,
    everywhere: WeightSet = OMEGA,
    names: tuple[str, ...] = ("contraction", "drive", "contractive"),
    before: tuple[Step, ...] = (),
) -> str:
    """Why the form says nothing of all weights v of Ω; empty if it does."""
    lemma = form.lemma("lemma", everywhere=everywhere)
    weights = (v, w_other)[: len(lemma.variables)]
    use = Step("claim", BOUNDED, Smt("given 1", *names, lemma.at(*weights)), (v,), (MEMBER,))
    end = Step("end", le(S_0, S_0), Smt())
    ledger = check(Proof((*before, use, end)), le(S_0, S_0), granted)
    return ledger.steps[len(before)].detail if ledger.failures else ""


def test_it_holds_of_all_weights_of_which_the_same_is_granted() -> None:
    """‖h_T‖ ≤ S_0/(1 − λ) for all weights of Ω, and of no others."""
    assert why_not(UNIFORM, *GRANTED) == ""
    lemma = UNIFORM.lemma("lemma", everywhere=OMEGA).at(v)
    bare = Step("claim", BOUNDED, Smt("contraction", "drive", "contractive", lemma), (v,))
    steps = (bare, Step("end", le(S_0, S_0), Smt()))
    ledger = check(Proof(steps), le(S_0, S_0), GRANTED)
    assert "counter-model" in ledger.failures[0].detail


def test_what_it_assumes_is_granted_for_all_of_them() -> None:
    """Neither granted of the model's own weights, nor of some, nor left out."""
    assert "'contraction' is neither" in why_not(UNIFORM, *FINITE.assumptions)
    assert "'drive' is neither" in why_not(UNIFORM, *GRANTED, names=("contraction", "contractive"))
    named = next(each for each in EVERY if each.id == "contraction")
    assert named.law is not None
    (clause,) = named.law.clauses
    fewer = replace(clause, given=(*clause.given, le(norm(w), S_0)))
    some = replace(named, law=replace(named.law, clauses=(fewer,)))
    assert "'contraction' is neither" in why_not(UNIFORM, *GRANTED[1:], some)
    larger = replace(clause, conclusion=le(clause.conclusion.lhs, 2 * clause.conclusion.rhs))
    weaker = replace(named, law=replace(named.law, clauses=(larger,)))
    assert "'contraction' is neither" in why_not(UNIFORM, *GRANTED[1:], weaker)
    assert "'contractive' is neither" in why_not(UNIFORM, *EVERY, names=("contraction", "drive"))


def test_terms_that_may_depend_on_the_weights_are_refused() -> None:
    """What a feed-forward network, say, computes is another thing for other weights."""
    form = RECEPTIVE_FIELD.forms[0]
    assert "may depend on the weights" in why_not(form, *form.assumptions, names=())
    strange = assume("strange", "", (a,)).that(le(norm(state(x, 0, T, a, a)), S_0))
    assert "may depend on the weights" in why_not(
        replace(UNIFORM, assumptions=(*UNIFORM.assumptions, strange)), *GRANTED
    )


def test_conditions_on_single_weights_are_refused() -> None:
    """‖w − w′‖ ≤ 1 is tested of two weights, and says nothing of others."""
    near = Assumption("near", "", le(weight_distance, 1))
    form = theorem("f", le(norm(w - w_other), 2), (near,), "smooth").by("near")
    found = why_not(form, near, names=())
    assert "'near' is tested of single weights" in found


def test_a_lemma_that_is_silent_on_weights_needs_some() -> None:
    """Of an empty set all is granted: 1 ≤ 0 must not follow for no weights at all."""
    absurd = assume("absurd", "", (a,)).that(le(1 + norm(phi(a, a)), 0))
    form = theorem("f", le(1, S_0 - S_0), (absurd,), "rnn").by("absurd")
    uniform = extend_assumption(OMEGA, absurd)
    lemma = form.lemma("lemma", everywhere=OMEGA)
    end = Step("claim", form.statement, Smt("absurd", lemma.at()))
    (failure,) = check(Proof((end,)), form.statement, (uniform,)).failures
    assert "says nothing of the weights" in failure.detail


def test_the_forged_is_refused() -> None:
    """What the lemma says of all weights is computed from what was proved."""
    honest = UNIFORM.lemma("lemma", everywhere=OMEGA)
    for forged in (
        replace(honest, clauses=law("", (), BOUNDED).clauses),
        replace(honest, variables=(w, lam)),
        replace(honest, variables=(w_other,)),
    ):
        terms = (v, *(lam for _ in forged.variables[1:]))
        uses = ("given 1", "contraction", "drive", "contractive", forged.at(*terms))
        use = Step("claim", BOUNDED, Smt(*uses), (v,), (MEMBER,))
        ledger = check(Proof((use, Step("end", le(S_0, S_0), Smt()))), le(S_0, S_0), GRANTED)
        assert ledger.failures, forged


def test_other_weights_alone_are_any_weights() -> None:
    """What speaks of w′ alone holds of all weights of the set, by the name of one of them."""
    said = door.law(law("said", (a,), le(norm(state(a, 0, T, w_other)), S_0)))
    found = OMEGA.law(said)
    wanted = Clause(le(norm(state(a, 0, T, w)), S_0), (eq(feasible(w), 1),))
    assert (found.variables[0], found.clauses) == (door.term(w), (door.clause(wanted),))
