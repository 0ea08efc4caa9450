"""Formulas of a page: what is kept of MathML, and where a long one breaks."""

from xml.etree import ElementTree

import pytest

from rnnbounds.reports.pages.formula import NARROW, pieces, width
from rnnbounds.reports.pages.mathml import mathml


@pytest.mark.parametrize(
    "source",
    [
        "",
        "<script>1</script>",
        "<mi>x</mi><svg/>",
        "<mi>x",
        "</math><script/><math>",
        "<!DOCTYPE math [<!ENTITY x 'y'>]><mi>&x;</mi>",
        "<?xml version='1.0'?><mi/>",
        "<svg:mi xmlns:svg='http://www.w3.org/2000/svg'/>",
        "<mrow>" * 5000 + "</mrow>" * 5000,
        "<mi>" + "x" * 200_000 + "</mi>",
        "<mi>\x00</mi>",
    ],
    ids=range(11),
)
def test_mathml_that_is_refused(source):
    """What is not plain presentation MathML is shown as its text, escaped."""
    assert mathml(source, "a<b") == "<code>a&lt;b</code>"


def test_mathml_that_is_kept():
    """Elements stay, unknown attributes go, names of characters become characters."""
    source = (
        "<math xmlns='http://www.w3.org/1998/Math/MathML'><mi onclick='x' mathvariant='bold'>&lt;"
        "</mi><mo>-</mo><mo>&InvisibleTimes;</mo><mi>&unknown;&amp;</mi></math>"
    )
    kept = '<math><mi mathvariant="bold">&lt;</mi><mo>−</mo><mo>\u2062</mo>'
    assert kept + "<mi>&amp;unknown;&amp;</mi></math>" in mathml(source, "")
    assert mathml("<mi>x</mi>", "") == '<span class="formula"><math><mi>x</mi></math></span>'


def test_a_long_formula_breaks():
    """Before relations and sums, in brackets and fractions, so that each piece fits a phone."""
    quotient = "<mfrac><mi>b</mi><mi>c</mi></mfrac>"
    term = f"<mrow><mo>(</mo><mi>a</mi><mo>+</mo>{quotient}<mo>)</mo></mrow>"
    wide = f"<mfrac><mrow>{f'{term}<mo>+</mo>' * 6}<mi>z</mi></mrow><mi>w</mi></mfrac>"
    root = ElementTree.fromstring(
        f"<math><mi>x</mi><mo>≤</mo>{wide}<mo>+</mo><msup><mrow>{term * 6}</mrow><mi>T</mi></msup>"
        f"<msqrt>{term}</msqrt></math>"
    )
    parts = pieces(root)
    assert all(width(part) <= NARROW for part in parts)
    text = "".join("".join(part.itertext()) for part in parts)
    assert text == "x≤(" + "(a+bc)+" * 6 + "z)/w+" + "(a+bc)" * 5 + "(a+bc)T(a+bc)"
    assert [part[0].text for part in parts[:2]] == ["x", "≤"]
    assert parts[1][0].get("form") == "infix"


def test_a_formula_of_too_many_elements_is_left_whole():
    """Cutting takes longer the longer a formula is; what is no formula of ours is not cut."""
    root = ElementTree.fromstring("<math>" + "<mo>+</mo>" * 20_000 + "</math>")
    assert pieces(root) == [root]
