"""Claims as LaTeX: ASCII, balanced, of commands that amsmath has; compiled where LaTeX is."""

import re
import shutil
import subprocess

import pytest

from theory import CLAIMS
from theory.latex import document, mathematics, prose, section

KNOWN = set(
    "documentclass usepackage begin end section paragraph noindent item "
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
    assert text.startswith("\\section*{A contractive model forgets}\n% claim truncation; cite ")
    assert r"\item \(\lambda < 1\)" in text.replace("  ", " ")
    assert r"\lVert h_T-h_T^{(k)}\rVert \le \frac{S_0 \lambda^{k}}{1 - \lambda}" in text
    assert text.count(r"\begin{equation*}") == len(claim.forms)


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
