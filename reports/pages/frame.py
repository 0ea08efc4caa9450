"""The frame of all pages: templates, one style sheet, one small script, one policy; and MathML that
is let into a page.

A record may come from anywhere: its MathML is parsed, filtered and written anew. Only elements of
presentation MathML and harmless attributes survive; whatever is not well formed is refused, and
the page shows the plain text instead. A formula stands in a box of its own, which scrolls where it
is wider than the page.
"""

import re
from base64 import b64encode
from functools import cache, lru_cache
from hashlib import sha256
from html.entities import html5
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

from jinja2 import Environment as Templates
from jinja2 import FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from rnnbounds.reports.pages.figures import curve_plot
from rnnbounds.reports.records.changes import sort_changes
from rnnbounds.reports.text import (
    count,
    error_text,
    escape_unprintable,
    exact_text,
    plural,
    quotient_text,
    ratio_text,
)

BASE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
TEMPLATES = Path(__file__).parent / "templates"


@cache  # compiling the templates of a page takes longer than filling them in
def load_templates() -> Templates:
    """The room's templates: everything escaped, every missing name an error."""
    environment = Templates(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=readable_value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "anchor": lambda name: "claim-" + quote(name, safe=""),
        "symbol": lambda name: "symbol-" + quote(name, safe=""),
        "slug": lambda title: "group-" + quote(title.lower().replace(" ", "-"), safe=""),
        "count": count,
        "curve": curve_plot,
        "error": error_text,
        "mathml": safe_mathml,
        "plural": plural,
        "prose": safe_prose,
        "quoted": unescape_quotes,
        "quotient": quotient_text,
        "ratio": ratio_text,
        "value": exact_text,
        "web": safe_address,
        "worst_first": sort_changes,
    }
    script = (TEMPLATES / "page.js").read_text()
    environment.globals |= {"script": Markup(script), "policy": security_policy(script)}
    return environment


def safe_address(address: str) -> str:
    """An address that a page may link to: https and plain characters; else empty."""
    return address if re.fullmatch(r"https://[\w./~:%#?=&-]+", address, re.ASCII) else ""


def unescape_quotes(words: str) -> Markup:
    """Text between tags, where quotation marks stand for themselves: a command has many."""
    plain = str(escape(escape_unprintable(words)))  # a Markup would escape what it replaces by
    return Markup(plain.replace("&#34;", '"').replace("&#39;", "'"))


def security_policy(script: str) -> str:
    """Content security policy of a page: this script (by SHA-256), inline styles, nothing else."""
    digest = b64encode(sha256(script.encode()).digest()).decode()
    return f"{BASE_POLICY}; script-src 'sha256-{digest}'"


def readable_value(value: object) -> object:
    """Prepare a template's value: plain text becomes readable, markup and other types stay."""
    if type(value) is str:  # nearly all that a page holds
        return escape_unprintable(value)
    plain = isinstance(value, str) and not isinstance(value, Markup)
    return escape_unprintable(str(value)) if plain else value


LIMIT = 200_000

ELEMENTS = frozenset(
    "math mrow mi mn mo mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover"
    " mtable mtr mtd mstyle mpadded mphantom".split()
)
ATTRIBUTES = frozenset(
    "mathvariant displaystyle scriptlevel stretchy form lspace rspace largeop"
    " movablelimits symmetric minsize maxsize width height depth accent accentunder"
    " linethickness columnalign".split()
)
_KEPT = "\u2061\u2062\u2063\u2064\xa0"  # MathML's application, product, comma and plus; a space
_XML_ENTITIES = frozenset({"lt", "gt", "amp", "quot", "apos"})


@lru_cache(maxsize=4096)
def safe_mathml(source: str, text: str) -> Markup:
    """`source` as a safe <math> element in its box; else `text`, as code.

    `source` may have a <math> element around it or not.
    """
    try:
        root = _parse_xml(source)
        if root is not None and _filter_elements(root):
            return _formula_box(root)
    except RecursionError:
        pass
    return Markup("<code>{}</code>").format(escape_unprintable(text))


@lru_cache(maxsize=4096)
def safe_prose(source: str, text: str) -> Markup:
    """`source`, text with <math> elements in it, as text with safe formulas; else `text`."""
    root = _parse_xml(source, "p")
    try:
        if root is None or any(part.tag != "math" for part in root):
            return escape(escape_unprintable(text))
        parts = [escape(escape_unprintable(root.text or ""))]
        for part in root:
            tail, part.tail = part.tail or "", None
            if not _filter_elements(part):
                return escape(escape_unprintable(text))
            parts += [_formula_box(part), escape(escape_unprintable(tail))]
        return Markup("").join(parts)
    except RecursionError:
        return escape(escape_unprintable(text))


def _formula_box(math: ElementTree.Element) -> Markup:
    return Markup(f'<span class="formula">{ElementTree.tostring(math, encoding="unicode")}</span>')


def _parse_xml(source: str, tag: str = "math") -> ElementTree.Element | None:
    """The tree of `source` under a new root of that tag; None if it is too long, ill-formed or more
    than elements."""
    if not source.strip() or len(source) > LIMIT or "<!" in source or "<?" in source:
        return None
    try:
        return ElementTree.fromstring(f"<{tag}>{_expand_entities(source)}</{tag}>")
    except (ElementTree.ParseError, ValueError):
        return None


def _expand_entities(source: str) -> str:
    """Named characters of HTML (&InvisibleTimes;) as themselves: XML knows only five of them."""

    def character(match: re.Match[str]) -> str:
        name = match[1]
        return match[0] if name in _XML_ENTITIES else str(escape(html5.get(f"{name};", match[0])))

    return re.sub(r"&(\w+);", character, source)


def _readable_text(words: str | None) -> str | None:
    if words is None or words.isprintable():
        return words
    return "".join(c if c in _KEPT else escape_unprintable(c) for c in words)


def _filter_elements(root: ElementTree.Element) -> bool:
    """Strip unknown attributes and inner <math>, mend minus signs; False at unknown elements."""
    for element in root.iter():
        element.tag = element.tag.removeprefix("{http://www.w3.org/1998/Math/MathML}")
        if element.tag not in ELEMENTS:
            return False
        for name in set(element.attrib) - ATTRIBUTES:
            del element.attrib[name]
        if element.tag == "mo" and element.text == "-":
            element.text = "−"
        element.text, element.tail = _readable_text(element.text), _readable_text(element.tail)
        if element is not root and element.tag == "math":
            element.tag = "mrow"
    return True
