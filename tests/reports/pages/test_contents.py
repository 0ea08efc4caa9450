"""What leads through the page: contents, links, symbols, and each thing said once."""

import re

import pytest
from msgspec.structs import replace

from rnnbounds.reports.pages.frame import safe_address, safe_prose
from rnnbounds.reports.pages.run import render_run
from rnnbounds.reports.records.changes import Changes
from rnnbounds.reports.records.record import Work

LESS = "<math><mi>λ</mi><mo>&lt;</mo><mn>1</mn></math>"


def links(page: str) -> list[str]:
    """All addresses on a page."""
    return re.findall(r'href="([^"]*)"', page)


def test_the_contents_lead_to_every_part(run):
    """Each link has its target, and no part is left out."""
    papers = ((Work(title="A paper"),), (), run.claims[2].works)
    claims = tuple(
        replace(claim, works=works) for claim, works in zip(run.claims, papers, strict=True)
    )
    page = render_run(replace(run, claims=claims), Changes(old="a", new="b", rows=())).decode()
    nav = page[page.index("<nav ") : page.index("</nav>")]
    assert links(nav) == [
        "#changes", "#claims", "#group-a-paper", "#group-other-claims",
        "#group-stable-recurrent-models", "#axioms", "#symbols", "#reading",
    ]  # fmt: skip
    ids = re.findall(r'(?<!-)id="([^"]*)"', page)
    assert len(set(ids)) == len(ids)
    assert {link[1:] for link in links(page) if link.startswith("#")} <= set(ids)


@pytest.mark.parametrize(
    "address",
    ["", "http://a.b", "javascript:alert(1)", "https://a.b/\n<i>", 'https://a"b', "data:,"],
)
def test_no_other_address_is_a_link(run, address):
    """Neither a script nor what needs an escape."""
    assert safe_address(address) == ""
    claim = replace(run.claims[0], works=(Work(title="A title", url=address),))
    addresses = links(render_run(replace(run, claims=(claim,))).decode())
    assert {address[0] for address in addresses} == {"#"}


def test_formulas_in_prose():
    """Typeset where they are; plain text where the markup is not what it should be."""
    assert safe_prose(f"a bound: {LESS} &amp; more", "plain") == (
        f'a bound: <span class="formula">{LESS}</span> &amp; more'
    )
    for bad in ("", "<b>x</b>", "<math><script/></math>", "<math>", "a<math/><b/>", "<!-- -->"):
        assert safe_prose(bad, "plain <b>") == "plain &lt;b&gt;", bad
    assert safe_prose('<math onclick="x"><mi>a</mi></math>', "") == (
        '<span class="formula"><math><mi>a</mi></math></span>'
    )
