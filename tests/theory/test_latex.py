"""Claims as LaTeX: ASCII, balanced, of commands that amsmath has; compiled where LaTeX is."""

import re
import shutil
import subprocess

import pytest
import sympy

from rnnbounds import theory
from rnnbounds.theory import CLAIMS
from rnnbounds.theory.errors import UnknownClaimError
from rnnbounds.theory.language.parse import parse_statement
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.latex.display import COLUMN, abbreviated, lines, pieces, width
from rnnbounds.theory.latex.document import _upright, document, mathematics, prose, section

KNOWN = set(
    "documentclass usepackage bibliographystyle bibliography cite label "
    "begin end section paragraph noindent item "
    "lVert rVert Vert lfloor rfloor lceil rceil left right frac tfrac sqrt surd hat bar mathrm "
    "text le ge ne to cdot cdots ldots times circ pm langle rangle succeq ell sim nabla partial "
    "infty quad log ln exp max min sup inf tanh prod sum Gamma Lambda Omega Pi Sigma alpha "
    "beta gamma delta epsilon varepsilon "
    "zeta theta kappa lambda mu nu pi rho varrho sigma varsigma "
    "tau varphi omega operatorname".split()
)


def test_a_claim_is_a_section():
    """Title, source and key; assumptions and the statement of each form."""
    (claim,) = (entry for entry in CLAIMS if entry.id == "truncation")
    text = section(claim)
    assert text.startswith("\\section*{A contractive model forgets}\n% claim truncation\n")
    assert r"Lemma 1~\cite{miller2019stable}." in text
    assert r"\label{rnnbounds:truncation}" in text
    assert r"\label{rnnbounds:truncation:uniform}" in text
    assert r"\item \(\lambda < 1\)" in text.replace("  ", " ")
    assert r"\lVert h_T-h_T^{(k)}\rVert \le \frac{S_0 \lambda^{k}}{1 - \lambda}" in text
    assert text.count(r"\begin{equation}") == len(claim.forms)
    assert section(claim, "uniform").count(r"\begin{equation}") == 1
    with pytest.raises(UnknownClaimError, match="known: finite"):
        section(claim, "nope")


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_every_symbol_is_listed(claim):
    """All quantities of the statements, and the letters beside them, each once."""
    told, listed = section(claim).split("Symbols:")
    for form in claim.forms:
        for symbol in form.statement.symbols:
            assert rf"\item \({_upright(VOCABULARY[symbol.name].notation)}\): " in listed
    for printed, symbol in ((r"\varphi", r"\(\varphi\): "), (r"\nabla p", r"\(p\): ")):
        assert (printed in told) <= (symbol in listed)
    assert ("h_T^{(k)}" in told) <= ("\\item \\(h_{T}^{(k)}\\): the state of the trunc" in listed)
    assert len(set(listed.split("\n"))) >= listed.count(r"\item")


def test_a_long_statement_is_broken():
    """At the relation and between terms; the lines together are the statement."""
    statement = next(entry for entry in CLAIMS if entry.id == "gradient-gap").forms[0].statement
    shown = lines(statement)
    assert len(shown) > 2
    assert all(width(line) < COLUMN for line in shown)
    assert lines(parse_statement("h_gap <= S_0")) == [r"\lVert h_T-h_T^{(k)}\rVert \le S_0"]
    for side in (statement.rhs, parse_statement("h_gap <= (S_0 + lam*k*L_x)*(1 + T)/7").rhs):
        for room in (3, 10, 20):
            assert sympy.simplify(sum(pieces(side, room)) - side) == 0


def test_a_long_maximum_is_named():
    """Its arguments become q_1 and q_2, which are stated below and put back give the statement."""
    claim = next(entry for entry in CLAIMS if entry.id == "contraction-lstm")
    shown = lines(claim.form("iterated").statement)
    assert r"\max\left(q_1, q_2\right)" in shown[1]
    assert [line.split(" = ")[0] for line in shown[2:]] == [r"&\quad q_1", r"&\quad q_2"]
    named = {}
    rhs = claim.form("iterated").statement.rhs
    assert abbreviated(rhs, 20, named) != rhs
    assert abbreviated(rhs, 20, named).xreplace({q: part for part, q in named.items()}) == rhs


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("λ < 1", r"\(\lambda < 1\)"),
        ("n is at most 2^40", r"\(n\) is at most \(2^{40}\)"),
        ("φ is λ-Lipschitz in the state", r"\(\varphi\) is \(\lambda\)-Lipschitz in the state"),
        ("kappa bounds ‖Q⁻¹‖₂", r"\(\kappa\) bounds \(\Vert Q^{-1}\Vert _{2}\)"),
        ("c̄_i and f ≠ 0", r"\(\bar{c}_{i}\) and \(f \ne 0\)"),
        ("a row, an input; 100 % of it", r"a row, an input; 100 \% of it"),
        ("β_wh_box is", r"\(\beta _{wh,\mathrm{box}}\) is"),
    ],
)
def test_prose(text, latex):
    """Formulas are told from words, and scripts have braces."""
    assert re.sub(" +", " ", prose(text)) == latex


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_every_claim_is_latex(claim):
    """ASCII alone, balanced, of known commands; no script is left without braces."""
    text = section(claim)
    assert text.isascii()
    assert set(re.findall(r"\\([A-Za-z]+)", text)) <= KNOWN
    plain = text.replace(r"\{", "").replace(r"\}", "")
    assert plain.count("{") == plain.count("}")
    assert text.count(r"\(") == text.count(r"\)")
    assert not re.search(r"[_^][0-9]{2}", text)


def test_a_formula_of_names():
    """A quantity's name is its notation; a row's stays a row."""
    assert mathematics("W_norm") == r"\lVert W\rVert"
    assert r"\lVert" not in mathematics("C_j − C_label")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_all_claims_compile(tmp_path):
    """With amsmath and nothing else."""
    (tmp_path / "claims.tex").write_text(document(CLAIMS))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "claims.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]
    displays = re.findall(r"Overfull .hbox .([0-9.]+)pt too wide. detected", done.stdout)
    assert [points for points in displays if float(points) > 5] == []


def test_an_inclusion_is_marked() -> None:
    """An assumption that no step derives; a hypothesis of the theorem has no mark."""
    box, plain = (section(theory.claim("truncation"), form) for form in ("box", "finite"))
    assert box.count("(assumed inclusion) ") == 1
    assert "(assumed inclusion)" not in plain
