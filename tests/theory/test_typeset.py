"""Prose with formulas as MathML: all of it reads as before, and no LaTeX is left."""

import re
from xml.etree import ElementTree

import pytest
from sympy import Symbol

from rnnbounds.theory import CLAIMS, claim
from rnnbounds.theory.language import le
from rnnbounds.theory.language.definitions import REGISTRY
from rnnbounds.theory.language.printing import statement_latex, statement_mathml
from rnnbounds.theory.language.terms.unitary import part
from rnnbounds.theory.language.terms.variables import a, j, x
from rnnbounds.theory.language.terms.vectors import (
    entry,
    inner,
    max_norm,
    norm,
    phi,
    state,
    transpose,
)
from rnnbounds.theory.typeset import law, prose, quantifier, typeset


def tree(source: str) -> ElementTree.Element:
    """The typeset text below one element."""
    return ElementTree.fromstring(f"<p>{source}</p>")


def words(source: str) -> str:
    """What a reader sees, without spaces."""
    return "".join("".join(tree(source).itertext()).split())


def test_a_formula_within_prose():
    """Words stay text, formulas are elements."""
    source = typeset("the window is no longer than the sequence: k ≤ T")
    assert source == (
        "the window is no longer than the sequence: "
        "<math><mrow><mi>k</mi><mo>≤</mo><mi>T</mi></mrow></math>"
    )
    assert typeset("salt & pepper") == "salt &amp; pepper"


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("‖φ(h, x) − φ(h′, x)‖ ≤ λ‖h − h′‖", "‖φ(h,x)−φ(h′,x)‖≤λ‖h−h′‖"),
        ("p(h) = ½‖C h − y‖²", "p(h)=½‖Ch−y‖2"),
        ("φ = g_L ∘ … ∘ g_1", "φ=gL∘…∘g1"),
        ("ε_k bounds ‖∇p − ∇p̂‖ on Ω", "εkbounds‖∇p−∇p^‖onΩ"),
    ],
)
def test_notations(text, seen):
    """Norms, halves, compositions, hats and Greek letters."""
    assert words(typeset(text)) == seen


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("n is at most 2^40", r"\(n\) is at most \(2^{40}\)"),
        ("φ is λ-Lipschitz in the state", r"\(\varphi\) is \(\lambda\)-Lipschitz in the state"),
        ("kappa bounds ‖Q⁻¹‖₂", r"\(\kappa\) bounds \(\Vert Q^{-1}\Vert _{2}\)"),
        ("c̄_i and f ≠ 0", r"\(\bar{c}_{i}\) and \(f \ne 0\)"),
        ("a row, an input; 100 % of it", r"a row, an input; 100 \% of it"),
        ("β_wh_box is", r"\(\beta _{wh,\mathrm{box}}\) is"),
        ("W_norm and C_j − C_label", r"\(\lVert W\rVert\) and \(C_{j} - C_{label}\)"),
    ],
)
def test_formulas_are_told_from_words(text, latex):
    """Scripts have braces; a quantity's name is its notation, a row's stays a row."""
    assert re.sub(" +", " ", prose(text)).replace(r"\mathrm{label}", "label") == latex


def test_no_latex_is_left():
    """Of all assumptions, meanings and steps: well-formed, and without a command."""
    sources = {typeset(a.text) for c in CLAIMS for form in c.forms for a in form.assumptions}
    steps = [step for c in CLAIMS for form in c.forms for step in form.proof.steps]
    sources |= {statement_mathml(step.conclusion) for step in steps}
    sources |= {quantifier(step) for step in steps}
    for source in sources:
        for element in tree(source).iter():
            told = f"{element.text or ''}{element.tail or ''}"
            assert "\\" not in told, source
            assert not {"operatorname", "mathrm", "tfrac", "Vert"} & {told.strip()}, source


def test_formal_terms_in_their_notation():
    """Norms, entries, products and steps as in a paper; other functions by name."""
    b = Symbol("b", commutative=False)
    latex = statement_latex(le(norm(state(x, 0, j)), max_norm(b)))
    assert latex == (
        r"\lVert \operatorname{state}\left(x, 0, j\right)\rVert \le \lVert b\rVert_\infty"
    )
    i = Symbol("i", integer=True)
    stated = le(inner(part(a + b, i), entry(x, 1)), norm(transpose(a) * phi(a, b)) ** 2)
    assert words(statement_mathml(stated)) == "⟨[a+b]i,x1⟩≤‖aTφ(a,b)‖2"


def test_a_quantifier():
    """For all …, if …; nothing of a closed statement."""
    first = claim("truncation").forms[0].proof.steps[0]
    assert words(quantifier(first)) == "foralls,j"
    assert quantifier(claim("truncation").forms[0].proof.steps[-1]) == ""
    given = next(
        step
        for c in CLAIMS
        for f in c.forms
        for step in f.proof.steps
        if step.given and step.forall
    )
    assert ", if <math>" in quantifier(given)


def test_a_definition():
    """Its clauses, one after the other."""
    assert (
        words(law(REGISTRY["recursion"])) == "state(x,s,0)=0;state(x,s,j+1)=φ(state(x,s,j),xj+s+1)"
    )
