"""Formulas of a page: what is kept of MathML."""

import pytest

from rnnbounds.reports.pages.frame import safe_mathml


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
    assert safe_mathml(source, "a<b") == "<code>a&lt;b</code>"


def test_mathml_that_is_kept():
    """Elements stay, unknown attributes go, names of characters become characters."""
    source = (
        "<math xmlns='http://www.w3.org/1998/Math/MathML'><mi onclick='x' mathvariant='bold'>&lt;"
        "</mi><mo>-</mo><mo>&InvisibleTimes;</mo><mi>&unknown;&amp;</mi></math>"
    )
    kept = '<math><mrow><mi mathvariant="bold">&lt;</mi><mo>−</mo><mo>\u2062</mo>'
    assert kept + "<mi>&amp;unknown;&amp;</mi></mrow></math>" in safe_mathml(source, "")
    assert "<mtext>\xa0on it" in safe_mathml("<mtext>&nbsp;on it</mtext>", "")
    assert safe_mathml("<mi>x</mi>", "") == '<span class="formula"><math><mi>x</mi></math></span>'
