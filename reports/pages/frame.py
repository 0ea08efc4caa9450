"""The frame of all pages: templates, one style sheet, one small script, one policy."""

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment as Templates
from jinja2 import FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from rnnbounds.reports.pages import text
from rnnbounds.reports.pages.figures import curve_plot
from rnnbounds.reports.pages.mathml import safe_mathml, safe_prose

BASE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
TEMPLATES = Path(__file__).parent / "templates"


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
        "count": text.count,
        "curve": curve_plot,
        "error": text.error_text,
        "mathml": safe_mathml,
        "plural": lambda number, noun: text.plural(number, noun),
        "prose": safe_prose,
        "quoted": unescape_quotes,
        "quotient": text.quotient_text,
        "ratio": text.ratio_text,
        "value": text.exact_text,
        "web": safe_address,
    }
    script = (TEMPLATES / "page.js").read_text()
    environment.globals |= {"script": Markup(script), "policy": security_policy(script)}
    return environment


def safe_address(address: str) -> str:
    """An address that a page may link to: https and plain characters; else empty."""
    return address if re.fullmatch(r"https://[\w./~:%#?=&-]+", address, re.ASCII) else ""


def unescape_quotes(words: str) -> Markup:
    """Text between tags, where quotation marks stand for themselves: a command has many."""
    plain = str(escape(text.escape_unprintable(words)))  # a Markup would escape what it replaces by
    return Markup(plain.replace("&#34;", '"').replace("&#39;", "'"))


def security_policy(script: str) -> str:
    """Content security policy of a page: this script (by SHA-256), inline styles, nothing else."""
    digest = b64encode(sha256(script.encode()).digest()).decode()
    return f"{BASE_POLICY}; script-src 'sha256-{digest}'"


def readable_value(value: object) -> object:
    """Prepare a template's value: plain text becomes readable, markup and other types stay."""
    if type(value) is str:  # nearly all that a page holds
        return text.escape_unprintable(value)
    plain = isinstance(value, str) and not isinstance(value, Markup)
    return text.escape_unprintable(str(value)) if plain else value
