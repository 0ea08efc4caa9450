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
from rnnbounds.reports.pages.figures.chart import chart, curve_plot
from rnnbounds.reports.pages.mathml import mathml, prose
from rnnbounds.reports.pages.repeated import shared, told, unmet, usual
from rnnbounds.reports.pages.summary import applying, reach, seen
from rnnbounds.reports.pages.worst import arrays_url, file_name, gap_figure, states_figure
from rnnbounds.reports.records.basis import phrase

SILENT = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
PLACE = Path(__file__).parent / "templates"


def templates() -> Templates:
    """The room's templates: everything escaped, every missing name an error."""
    environment = Templates(
        loader=FileSystemLoader(PLACE),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "applying": applying,
        "arrays": arrays_url,
        "anchor": lambda name: "claim-" + quote(name, safe=""),
        "symbol": lambda name: "symbol-" + quote(name, safe=""),
        "slug": lambda title: "group-" + quote(title.lower().replace(" ", "-"), safe=""),
        "chart": chart,
        "count": text.count,
        "curve": curve_plot,
        "error": text.error,
        "file_name": file_name,
        "gap_figure": gap_figure,
        "mathml": mathml,
        "phrase": phrase,
        "plural": lambda number, noun: text.plural(number, noun),
        "prose": prose,
        "quoted": quoted,
        "quotient": text.quotient,
        "ratio": text.ratio,
        "reach": reach,
        "seen": seen,
        "shared": shared,
        "states_figure": states_figure,
        "told": told,
        "unmet": unmet,
        "usual": usual,
        "value": text.value,
        "web": web,
    }
    script = (PLACE / "page.js").read_text()
    environment.globals |= {"script": Markup(script), "policy": policy(script)}
    return environment


def web(address: str) -> str:
    """An address that a page may link to: https and plain characters; else empty."""
    return address if re.fullmatch(r"https://[\w./~:%#?=&-]+", address, re.ASCII) else ""


def quoted(words: str) -> Markup:
    """Text between tags, where quotation marks stand for themselves: a command has many."""
    plain = str(escape(text.readable(words)))  # a Markup would escape what it replaces by
    return Markup(plain.replace("&#34;", '"').replace("&#39;", "'"))


def policy(script: str) -> str:
    """Content security policy of a page: this script (by SHA-256), inline styles, nothing else."""
    digest = b64encode(sha256(script.encode()).digest()).decode()
    return f"{SILENT}; script-src 'sha256-{digest}'"


def visible(value: object) -> object:
    """Prepare a template's value: plain text becomes readable, markup and other types stay."""
    if type(value) is str:  # nearly all that a page holds
        return text.readable(value)
    plain = isinstance(value, str) and not isinstance(value, Markup)
    return text.readable(str(value)) if plain else value
