"""Pages in a real browser: the system's chromium, headless, with nothing to reach but the file."""

import shutil

import pytest
from msgspec.structs import replace
from playwright.sync_api import sync_playwright

from rnnbounds.properties.runs.record import cited_works, claim_file, symbol_names, symbol_records
from rnnbounds.reports.pages.run import render_run
from rnnbounds.reports.records.changes import Changes, make_change
from rnnbounds.reports.records.checks import Curve, Point
from rnnbounds.reports.records.record import LedgerRecord, LedgerStep
from rnnbounds.theory import CLAIMS
from rnnbounds.theory.language.printing import statement_mathml, statement_text
from rnnbounds.theory.typeset import quantifier, typeset

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHANGES = Changes(
    old="seed 0 of main", new="seed 1",
    rows=(make_change("regressed", "truncation", "proof", "proved", "not proved"),),
)  # fmt: skip
CURVE = Curve(against="k", points=tuple(Point(at=k, lhs=0.7**k, rhs=2 * 0.8**k) for k in range(33)))


@pytest.fixture(scope="session")
def chromium():
    """The browser; without one the tests are skipped."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("there is no chromium here; apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found)
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium):
    """Opens a file: opened(path, width, theme, **context) -> the page, what it said or asked."""
    contexts = []

    def open_page(path, width=1280, theme="light", **options):
        context = chromium.new_context(
            viewport={"width": width, "height": 800}, color_scheme=theme, **options
        )
        contexts.append(context)
        page, told = context.new_page(), []
        page.set_default_timeout(300_000)  # against a browser that hangs: nothing here waits
        page.on("console", lambda message: told.append(message.text))
        page.on("pageerror", lambda error: told.append(str(error)))
        page.on("request", lambda request: told.append(request.url))
        page.goto(path.as_uri())
        told.remove(path.as_uri())
        return page, told

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture
def told(run, tmp_path):
    """The page of three claims with all that a page can have."""
    path = tmp_path / "index.html"
    path.write_bytes(render_run(curved(run), CHANGES))
    return path


@pytest.fixture
def whole(run, tmp_path):
    """The page of all claims, with every formula of every form and false variant."""
    pattern, path = curved(run).claims[1], tmp_path / "whole.html"
    claims = tuple(claim_of(claim, pattern) for claim in CLAIMS)
    path.write_bytes(render_run(replace(run, claims=claims, symbols=symbol_records(CLAIMS))))
    return path


def claim_of(claim, pattern):
    """A record of a claim, its statements its own and all else that of a pattern."""
    forms = tuple(
        replace(
            pattern.forms[0], name=form.name, about=form.about, text=statement_text(form.statement),
            mathml=statement_mathml(form.statement),
            assumptions=tuple(a.text for a in form.assumptions),
            ids=tuple(a.id for a in form.assumptions),
            typeset=tuple(typeset(a.text) for a in form.assumptions),
        )
        for form in claim.forms
    )  # fmt: skip
    ledgers = tuple(
        LedgerRecord(
            form=form.name, axioms=(), proved=True,
            steps=tuple(
                LedgerStep(
                    id=step.id, statement=step.text, method="smt", uses=step.use_names,
                    verdict="proved", mathml=statement_mathml(step.conclusion),
                    quantifier=step.quantifier, scope=quantifier(step),
                )
                for step in form.proof.steps
            ),
        )
        for form in claim.forms
    )  # fmt: skip
    variants = tuple(
        replace(
            pattern.variants[0], id=variant.id, text=variant.text, form=forms[0].name,
            statement=statement_text(variant.statement), mathml=statement_mathml(variant.statement),
        )
        for variant in claim.false_variants
    )  # fmt: skip
    return replace(
        pattern, id=claim.id, title=claim.title, source=claim.source.text, forms=forms,
        mathml=forms[0].mathml, variants=variants, ledgers=ledgers, extremal=claim.extremal,
        works=cited_works(claim), place=claim_file(claim), symbols=symbol_names(claim),
    )  # fmt: skip


def curved(run):
    """The run with a curve for each form."""
    claims = tuple(
        replace(claim, forms=tuple(replace(form, curve=CURVE) for form in claim.forms))
        for claim in run.claims
    )
    return replace(run, claims=claims)
