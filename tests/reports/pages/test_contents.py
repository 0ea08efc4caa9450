"""What leads through the page: contents, links, symbols, and each thing said once."""

import re

import pytest
from msgspec.structs import replace

from rnnbounds.reports import decode, encode
from rnnbounds.reports.pages.checks import shared, unmet
from rnnbounds.reports.pages.frame import web
from rnnbounds.reports.pages.mathml import prose
from rnnbounds.reports.pages.page import render
from rnnbounds.reports.pages.summary import applying
from rnnbounds.reports.records.changes import Changes
from rnnbounds.reports.records.glossary import Work
from rnnbounds.reports.records.matrix import Column, Entry, Matrix
from rnnbounds.reports.records.tally import Tally

LESS = "<math><mi>λ</mi><mo>&lt;</mo><mn>1</mn></math>"


def links(page: str) -> list[str]:
    """All addresses on a page."""
    return re.findall(r'href="([^"]*)"', page)


def test_the_contents_lead_to_every_part(run):
    """Each link has its target, and no part is left out."""
    claims = tuple(
        replace(claim, group=group)
        for claim, group in zip(run.claims, ("memory", "unitary", "mine"), strict=True)
    )
    page = render(replace(run, claims=claims), Changes(old="a", new="b", rows=())).decode()
    nav = page[page.index("<nav ") : page.index("</nav>")]
    assert links(nav) == [
        "#changes", "#claims", "#group-memory", "#group-unitary-networks", "#group-other-claims",
        "#axioms", "#symbols", "#reading",
    ]  # fmt: skip
    ids = re.findall(r'(?<!-)id="([^"]*)"', page)
    assert len(set(ids)) == len(ids)
    assert {link[1:] for link in links(page) if link.startswith("#")} <= set(ids)


def test_a_claim_links_its_paper_and_names_its_file(run):
    """The paper by its address, the file as text."""
    page = render(run).decode()
    link = '<a href="https://arxiv.org/abs/1805.10369">Stable Recurrent Models</a>'
    assert page.count(link) == len(run.claims)
    assert "stated in <code>theory/claims/truncation.py</code>" in page


@pytest.mark.parametrize(
    "address",
    ["", "http://a.b", "javascript:alert(1)", "https://a.b/\n<i>", 'https://a"b', "data:,"],
)
def test_no_other_address_is_a_link(run, address):
    """Neither a script nor what needs an escape."""
    assert web(address) == ""
    claim = replace(run.claims[0], works=(Work(title="A title", url=address),))
    assert "A title" not in render(replace(run, claims=(claim,))).decode()


def test_symbols_are_defined(run):
    """Name, meaning, norm and definition, typeset; each claim links those that it speaks of."""
    page = render(decode(encode(run))).decode()
    part = page[page.index('id="symbols"') :]
    for told in (
        'id="symbol-lam"', "contraction factor", "a certified upper bound", "<mi>k</mi>",
        "Euclidean", "<mi>state</mi>",
    ):  # fmt: skip
        assert told in part, told
    assert page.count('href="#symbol-h_gap" title="full against truncated state, k inputs"') == 3
    older = render(replace(run, symbols=())).decode()
    assert "#symbol" not in older


def test_formulas_in_prose():
    """Typeset where they are; plain text where the markup is not what it should be."""
    assert prose(f"a bound: {LESS} &amp; more", "plain") == (
        f'a bound: <span class="formula">{LESS}</span> &amp; more'
    )
    for bad in ("", "<b>x</b>", "<math><script/></math>", "<math>", "a<math/><b/>", "<!-- -->"):
        assert prose(bad, "plain <b>") == "plain &lt;b&gt;", bad
    assert prose('<math onclick="x"><mi>a</mi></math>', "") == (
        '<span class="formula"><math><mi>a</mi></math></span>'
    )


def test_assumptions_are_typeset(run):
    """With their formulas as MathML; older records show their text."""
    claim = run.claims[1]
    page = render(replace(run, claims=(claim,))).decode()
    assert 'the input is bounded: <span class="formula"><math><mi>‖x‖</mi>' in page
    assert "‖x‖ ≤ B_x" not in page
    old = tuple(replace(form, typeset=(), ids=()) for form in claim.forms)
    assert "‖x‖ ≤ B_x" in render(replace(run, claims=(replace(claim, forms=old),))).decode()


def test_a_step_says_for_what_it_is_stated(run):
    """Its quantifier typeset too."""
    claim = run.claims[1]
    ledger = claim.ledgers[0]
    step = replace(ledger.steps[0], quantifier="for all t", scope="for all <math><mi>t</mi></math>")
    ledgers = (replace(ledger, steps=(step, *ledger.steps[1:])), claim.ledgers[1])
    page = render(replace(run, claims=(replace(claim, ledgers=ledgers),))).decode()
    assert '<small>for all <span class="formula"><math><mi>t</mi></math></span></small>' in page


def test_checks_that_differ_in_their_form_alone_stand_once(run, check):
    """With the forms that share them; what differs in a number stands by itself."""
    one = check()
    same = replace(one, form="uniform", replay="another command")
    other = replace(one, lhs=0.1, ratio=None)
    found = shared((one, same, other))
    assert [(item.check, item.forms, item.times) for item in found] == [
        (one, ("finite", "uniform"), 2), (other, ("finite",), 1),
    ]  # fmt: skip
    claim = replace(run.claims[1], tightest=(one, same, other), worst=one)
    page = render(replace(run, claims=(claim,))).decode()
    assert "the same in 2 forms: finite, uniform" in page
    assert "how to replay them (2)" in page
    assert "another command" not in page


def test_vacuous_checks_are_explained(run):
    """Which assumption was not met, in its own words; what counted nothing is left out."""
    claim = replace(
        run.claims[1], vacuous_by_assumption={"bounded": 1200, "finite B_h": 4, "start": 0}
    )
    claim = replace(claim, tally=replace(claim.tally, vacuous=1204))
    assert [name for name, _, _ in unmet(claim)] == ["bounded", "finite B_h"]
    page = render(replace(run, claims=(claim,))).decode()
    for told in (
        "1,204 vacuous checks", "neither evidence for it nor failures", "1,200 by bounded",
        "not met: the input is bounded: <span", "the constant B_h has no finite bound there",
    ):  # fmt: skip
        assert told in page, told
    assert "vacuous check" not in render(replace(run, claims=(run.claims[0],))).decode()


def test_columns_that_apply_to_no_claim_are_named_in_a_line(run):
    """They have no column; where nothing applies at all, all of them have."""
    names = ("linear", "lstm", "gru")
    entries = tuple(
        Entry(claim=claim.id, column=name, standing="NOT APPLICABLE", reason="φ is linear")
        if name == "gru"
        else Entry(claim=claim.id, column=name, standing="HOLDS", forms=("finite",),
                   tallies={name: Tally(holds=3)})
        for claim in run.claims
        for name in names
    )  # fmt: skip
    matrix = Matrix(
        columns=tuple(Column(name=n, title=n.upper(), cells=(n,)) for n in names), entries=entries
    )
    assert [column.name for column in applying(matrix)] == ["linear", "lstm"]
    page = render(replace(run, matrix=matrix)).decode()
    assert "No claim of this run applies to: GRU." in page
    assert 'data-of="GRU"' not in page
    none = replace(matrix, entries=tuple(e for e in entries if e.column == "gru"))
    assert len(applying(none)) == 3
