import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import msgspec
import pytest
from msgspec.structs import replace

from rnnbounds.reports import Run, decode, encode, load
from rnnbounds.reports.pages.frame import SILENT
from rnnbounds.reports.pages.ledger import Repeated, told
from rnnbounds.reports.pages.page import SHOWN, render, shown, write_report
from rnnbounds.reports.pages.summary import reach, summarise
from rnnbounds.reports.records.changes import Changes, change

PAPER = "https://arxiv.org/abs/"
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{7*7}}"


class Page(HTMLParser):
    """All tags with their attributes, the ids, and the text of a page."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(data.decode())

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data

    @property
    def ids(self) -> list[str]:
        return [attrs["id"] for _, attrs in self.tags if attrs.get("id")]


def poisoned(value):
    """The record as plain values with a hostile string in place of every free string."""
    keep = {"rnnbounds/run/2", "<=", "HOLDS", "VIOLATED", "proved", "machine", "axiom"}
    if isinstance(value, dict):
        return {key: poisoned(item) for key, item in value.items()}
    if isinstance(value, list):
        return [poisoned(item) for item in value]
    return HOSTILE if isinstance(value, str) and value not in keep else value


def test_every_claim_has_its_row_and_section(run):
    """Each claim is linked from the table and told in a section of its own."""
    page = Page(render(run))
    links = [attrs.get("href") for tag, attrs in page.tags if tag == "a"]
    for claim in run.claims:
        assert f"claim-{claim.id}" in page.ids
        assert f"#claim-{claim.id}" in links
        assert claim.title in page.text
        assert claim.source in page.text
        assert claim.extremal in page.text
    for attack in run.attacks:
        assert attack in page.text


def test_a_claim_tells_everything(run):
    """Statement, assumptions, ledger, redundancy, tallies, variants and replay are on the page."""
    claim = replace(run.claims[1], vacuous_by_assumption={"0 ≤ λ < 1": 1204})
    page = Page(render(replace(run, claims=(claim,))))
    assert sum(tag == "math" for tag, _ in page.tags) > 5
    wanted = [claim.worst.replay, "the input is bounded: ", claim.ledgers[0].steps[0].id]
    wanted += [variant.text for variant in claim.variants]
    wanted += ["not needed: k <= T", "only the regime nilpotent refutes it", "1,204"]
    wanted += ["✓ proved", f"{claim.tally.holds:,}", "1 − 2.1·10⁻⁹", "2.13.0", "TF32 (matmul)"]
    for text in wanted:
        assert text in page.text


def test_what_must_differ_shows_where_it_came_nearest(run, check):
    """The nearest checks of a form are told with their replay commands; without any, nothing is."""
    claim = run.claims[1]
    near = replace(check(), spec={"states": 3}, lhs=2.0**-40, replay="rnnbounds replay nearest")
    forms = (replace(claim.forms[0], nearest=(near,)), *claim.forms[1:])
    page = Page(render(replace(run, claims=(replace(claim, forms=forms),))))
    assert page.text.count("nearest by number of states, and how to replay them (1)") == 1
    assert near.replay in page.text
    assert "nearest by number" not in Page(render(run)).text


def test_deterministic(run):
    """The same record gives the same page, also after a journey through JSON."""
    assert render(run) == render(run) == render(decode(encode(run)))


def test_self_contained(run):
    """The page loads nothing, and forbids itself to; its one script is that of its policy."""
    data = render(run)
    page = Page(data)
    assert not {"link", "iframe", "object", "embed", "img"} & {t for t, _ in page.tags}
    for _, attrs in page.tags:
        assert not {"src", "srcset", "data", "action", "xlink:href"} & attrs.keys()
        assert not any(name.startswith("on") for name in attrs)
        assert (attrs.get("href") or "#").startswith(("#", PAPER))
    without = data.replace(f'href="{PAPER}1805.10369"'.encode(), b"")  # followed by a reader alone
    assert not re.search(rb"https?:|@import|url\(", without)
    (script,) = re.findall(b"<script>(.*?)</script>", data, re.DOTALL)
    digest = b64encode(sha256(script).digest()).decode()
    policy = [a["content"] for _, a in page.tags if a.get("http-equiv")]
    assert policy == [f"{SILENT}; script-src 'sha256-{digest}'"]


def test_hostile_strings_stay_text(run):
    """A record in which every string is hostile makes a page without a tag of theirs."""
    plain = msgspec.to_builtins(run)
    evil = msgspec.convert(poisoned(plain), Run)
    evil = replace(evil, claims=(replace(evil.claims[0], vacuous_by_assumption={HOSTILE: 1}),))
    data = render(evil)
    page = Page(data)
    tags = [tag for tag, _ in page.tags]
    assert (tags.count("script"), tags.count("img")) == (1, 0)
    assert not any(name.startswith("on") for _, attrs in page.tags for name in attrs)
    assert HOSTILE in page.text
    assert "{{7*7}}" in page.text


def test_prose_does_not_show_as_a_proof(run):
    """A claim that rests on a step in prose is shown as not proved, everywhere."""
    claim = run.claims[1]
    ledgers = tuple(
        replace(
            ledger, proved=False, argued=True, human=("limit",),
            steps=(replace(ledger.steps[0], verdict="human", kind="human"), *ledger.steps[1:]),
        )
        for ledger in claim.ledgers
    )  # fmt: skip
    others = (run.claims[0], *run.claims[2:])
    page = Page(render(replace(run, claims=(*others, replace(claim, ledgers=ledgers)))))
    text = " ".join(page.text.split())
    prose = f"{len(ledgers)} step{'s' if len(ledgers) > 1 else ''}"
    for words in (
        "△ argued in prose",
        "holds: argued in prose",
        "6 forms: 4 proved, 2 argued in prose, in 18 steps",
        f"taken without proof. {prose} argued in prose.",
    ):
        assert words in text, words
    assert "FAILS" not in text


def test_a_failing_run_is_unmistakable(run, check):
    """A failing run says so in title, headline, row and section, with its problems on top."""
    claim = run.claims[1]
    variant = replace(claim.variants[0], convicted=False, counterexample=None, attack=None)
    ledger = replace(claim.ledgers[0], proved=False, axioms=(), human=("limit",))
    bad = replace(
        claim,
        tally=replace(claim.tally, holds=0, violated=2, undecided=1),
        failing=(replace(check(ratio=1.07, verdict="VIOLATED"), explanation="n = 1, W = λ"),),
        variants=(variant, replace(claim.variants[1], ledger_fails=False)),
        ledgers=(ledger,),
    )
    failing = replace(run, claims=(run.claims[0], bad), missing_parts=("instability/random",))
    page = Page(render(failing))
    for text in (
        "FAILS · rnnbounds: This run fails. 1 of 2 claims failed.",
        "'instability/random' never reported",
        "2 checks VIOLATED",
        "Failing checks",
        "n = 1, W = λ",
        "✗ not proved",
        "survives",
        "proves it",
        "argued in prose",
    ):
        assert text in page.text
    assert "none violated" not in page.text
    classes = [attrs.get("class") for _, attrs in page.tags]
    assert "masthead fails" in classes
    assert "fails" in classes
    assert "✓ 6 of 6 forms proved from " in " ".join(Page(render(run)).text.split())


def test_a_bare_record(run):
    """A record with nothing in it still makes a page, and it fails."""
    claim = replace(
        run.claims[0], attacks={}, worst=None, tightest=(), forms=(), ledgers=(), variants=(),
        mathml="",
    )  # fmt: skip
    bare = replace(run, claims=(claim,), axioms=())
    page = Page(render(bare))
    assert claim.latex in page.text
    assert "No ledger was run." in page.text
    assert summarise(bare).rows[0].best_attack == ""
    assert "no claim was tested" in Page(render(replace(run, claims=()))).text


def test_unlisted_attacks_come_last(run):
    """An attack that the run did not announce is shown all the same."""
    claim = run.claims[0]
    extra = replace(claim, attacks={"a-new-one": claim.attacks["random"], **claim.attacks})
    assert summarise(replace(run, claims=(extra,))).attacks == (*run.attacks, "a-new-one")


def test_write_report(run, tmp_path):
    """Record and page lie side by side."""
    write_report(run, tmp_path / "out")
    assert load(tmp_path / "out" / "run.json") == run
    assert (tmp_path / "out" / "index.html").read_bytes() == render(run)


@pytest.mark.parametrize(
    ("ratio", "percent"),
    [(None, 0), ("nan", 0), (0.0, 0), (-1.0, 0), (0.9, 11), (1.0, 100), (2.0, 100)],
)
def test_reach_counts_nines(ratio, percent):
    """The bar behind a ratio is full at nine nines and empty without a number."""
    assert reach(ratio) == percent


def test_lists_of_checks_end(run, check):
    """Thousands of checks make no page that nobody can load; it says how many it leaves out."""
    claim = run.claims[0]
    many = tuple(replace(check(ratio=0.5), spec={"seed": seed}) for seed in range(10_000))
    data = render(replace(run, claims=(replace(claim, tightest=many),)))
    assert f"{10_000 - SHOWN:,} more checks of this list stand in run.json" in data.decode()
    assert data.count(b'<pre class="replay">') == SHOWN + len(claim.variants)
    assert len(data) < 2_000_000


def test_all_lists_together_end(run, check):
    """Where many lists are long, each is the shorter; a few are shown of each, however many."""
    claim = run.claims[0]
    many = tuple(replace(check(), spec={"seed": seed}) for seed in range(80))
    lists = [replace(claim, tightest=many, variants=()) for _ in range(125)]
    assert shown(replace(run, claims=tuple(lists[:20]))) == SHOWN
    assert shown(replace(run, claims=tuple(lists))) == 4
    assert shown(replace(run, claims=tuple(lists) * 20)) == 1


def test_a_command_stands_as_it_is_typed(run, check):
    """With quotation marks as such, which between tags need no escape; what is markup does."""
    claim = replace(run.claims[0], tightest=(replace(check(), replay="""say '{"a":"<b>"}'"""),))
    data = render(replace(run, claims=(claim,)))
    assert b"""<pre class="replay">say '{"a":"&lt;b&gt;"}'</pre>""" in data


def test_a_step_is_told_once(run):
    """What two forms of a claim prove alike stands with the first; the second names it in its
    place."""
    first, second = run.claims[1].ledgers
    own = replace(second.steps[1], statement="h_start <= 7*S_0")
    ledgers = (first, replace(second, steps=(second.steps[0], own, second.steps[2])))
    (_, before), (_, after) = told(ledgers)
    assert before == list(first.steps)
    assert after == [
        Repeated("finite", second.steps[:1]), own, Repeated("finite", second.steps[2:]),
    ]  # fmt: skip
    assert told((first, second))[1][1] == [Repeated("finite", first.steps)]
    page = Page(render(replace(run, claims=(replace(run.claims[1], ledgers=ledgers),)))).text
    assert page.count("1 step as in form finite: ") == 2
    assert page.count(own.statement) == 1


def test_what_changed_is_told(run):
    """What changed since a baseline: what regressed stands before the claims, else after them."""
    regressed = change("regressed", "truncation", "proof", "proved", "not <proved>")
    for rows in ((regressed,), (change("new", "growth", "claim"),), ()):
        page = render(run, Changes(old="seed 0 of main", new="seed 0", rows=rows)).decode()
        assert page.count("seed 0 of main") == 2
        told = page.index('id="changes"')
        assert (told < page.index('id="claims"')) == (rows == (regressed,))
    assert "not &lt;proved&gt;" in render(run, Changes(old="", new="", rows=(regressed,))).decode()
    assert "No baseline was given" in render(run).decode()


def test_claims_are_grouped_as_the_theory_is(run):
    """By what a record says of their place; an older one says nothing, and has one group."""
    assert list(summarise(run).groups) == ["Claims"]
    groups = ("training", "contraction", "mine")
    claims = tuple(replace(c, group=g) for c, g in zip(run.claims, groups, strict=True))
    assert list(summarise(replace(run, claims=claims)).groups) == [
        "Contraction", "Training", "Other claims",
    ]  # fmt: skip
