import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import msgspec
from msgspec.structs import replace

from rnnbounds.reports.pages.frame import BASE_POLICY
from rnnbounds.reports.pages.run import LIST_LIMIT, render_run
from rnnbounds.reports.records.codec import decode, encode
from rnnbounds.reports.records.record import Run

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
    keep = {"rnnbounds/run/4", "<=", "HOLDS", "VIOLATED", "proved"}
    if isinstance(value, dict):
        return {key: poisoned(item) for key, item in value.items()}
    if isinstance(value, list):
        return [poisoned(item) for item in value]
    return HOSTILE if isinstance(value, str) and value not in keep else value


def test_deterministic(run):
    """The same record gives the same page, also after a journey through JSON."""
    assert render_run(run) == render_run(run) == render_run(decode(encode(run)))


def test_self_contained(run):
    """The page loads nothing, and forbids itself to; its one script is that of its policy."""
    data = render_run(run)
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
    assert policy == [f"{BASE_POLICY}; script-src 'sha256-{digest}'"]


def test_hostile_strings_stay_text(run):
    """A record in which every string is hostile makes a page without a tag of theirs."""
    plain = msgspec.to_builtins(run)
    evil = msgspec.convert(poisoned(plain), Run)
    evil = replace(evil, claims=(replace(evil.claims[0], vacuous_by_assumption={HOSTILE: 1}),))
    data = render_run(evil)
    page = Page(data)
    tags = [tag for tag, _ in page.tags]
    assert (tags.count("script"), tags.count("img")) == (1, 0)
    assert not any(name.startswith("on") for _, attrs in page.tags for name in attrs)
    assert HOSTILE in page.text
    assert "{{7*7}}" in page.text


def test_lists_of_checks_end(run, check):
    """Thousands of checks make no page that nobody can load; it says how many it leaves out."""
    claim = run.claims[0]
    many = tuple(replace(check(ratio=0.5), spec={"seed": seed}) for seed in range(10_000))
    data = render_run(replace(run, claims=(replace(claim, tightest=many),)))
    assert f"{10_000 - LIST_LIMIT:,} more checks of this list stand in run.json" in data.decode()
    assert data.count(b'<pre class="replay">') == LIST_LIMIT + len(claim.variants)
    assert len(data) < 2_000_000


def test_a_command_stands_as_it_is_typed(run, check):
    """With quotation marks as such, which between tags need no escape; what is markup does."""
    claim = replace(run.claims[0], tightest=(replace(check(), replay="""say '{"a":"<b>"}'"""),))
    data = render_run(replace(run, claims=(claim,)))
    assert b"""<pre class="replay">say '{"a":"&lt;b&gt;"}'</pre>""" in data
