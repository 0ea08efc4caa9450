"""Claims as LaTeX: statement, assumptions and source, in a document that needs amsmath alone."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from rnnbounds.theory.bibliography import cited
from rnnbounds.theory.language.mathml import LETTERS
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.latex.display import lines
from rnnbounds.theory.latex.symbols import letters, quantities
from rnnbounds.theory.proof import Claim, Form

# The entries: rnnbounds claims --bibtex > rnnbounds.bib
ENDING = (
    "% \\bibliographystyle{plain}\\bibliography{rnnbounds}: rnnbounds claims --bibtex prints it\n"
)
PREAMBLE = r"\documentclass{article}" + "\n" + r"\usepackage{amsmath}" + "\n"
# Mathematical characters of prose; Greek letters are those of notations.
SIGNS = {letter: rf"\{command}" for command, letter in LETTERS.items()} | {
    "‖": r"\Vert", "≤": r"\le", "≥": r"\ge", "≠": r"\ne", "−": "-", "·": r"\cdot", "×": r"\times",
    "∘": r"\circ", "√": r"\surd", "±": r"\pm", "→": r"\to", "⟨": r"\langle", "⟩": r"\rangle",
    "⋯": r"\cdots", "…": r"\ldots", "⪰": r"\succeq", "½": r"\tfrac12", "ℓ": r"\ell", "′": "'",
    "″": "''", "Λ": r"\Lambda", "Σ": r"\Sigma", "Ω": r"\Omega", "ζ": r"\zeta", "ν": r"\nu",
    "ς": r"\varsigma", "σ": r"\sigma", "⁺": "^{+}", "⌊": r"\lfloor", "⌋": r"\rfloor",
    "&": r"\&", "%": r"\%", "#": r"\#", "$": r"\$", "~": r"\sim",
}  # fmt: skip
ACCENTS = {"\u0304": r"\bar", "\u0302": r"\hat"}
SCRIPTS = {"<super>": "^", "<sub>": "_"}
CLOSING = {"(": ")", "[": "]", "{": "}"}
FUNCTIONS = ("exp", "inf", "ln", "log", "max", "min", "sup", "tanh")
NAME = re.compile(r"(?<![_^A-Za-z])(?:[A-Za-z]+(?:_[A-Za-z0-9]+)+|[A-Za-z]{2,})")
UPRIGHT = re.compile(r"\\(?:text|mathrm)\{[^}]*\}|(?<![\\A-Za-z])([a-z]{3,}|[A-Z][a-z]+[A-Z]*)")
OPERATOR = re.compile(r"[=<>+/|^_≤≥≠−·×∘±]")
TAIL = re.compile(r"(.*?)((?:-(?:[A-Z][a-z]+)?)?[,;:.]*)")  # as in λ-Lipschitz
SCRIPT = re.compile(r"([_^])([A-Za-z0-9]+(?:_[A-Za-z0-9]+)*)")
ARTICLES = ("a", "A", "I")


def document(claims: Iterable[Claim], form: str | None = None) -> str:
    """A whole document, a section a claim: a form's statement, displayed, and its assumptions."""
    sections = "\n".join(section(claim, form) for claim in claims)
    return f"{PREAMBLE}\\begin{{document}}\n{sections}{ENDING}\\end{{document}}\n"


def section(claim: Claim, form: str | None = None) -> str:
    """One claim: its source, each form (or one of them) with what it assumes, and its symbols.

    Raises:
        UnknownClaimError: the claim has no form of that name.
    """
    forms = claim.forms if form is None else (claim.form(form),)
    cite = "".join(rf"~\cite{{{entry.key}}}" for entry in cited(claim.source.text))
    lines = [f"\\section*{{{prose(claim.title)}}}", f"% claim {claim.id}"]
    lines += [f"\\noindent Source: {prose(claim.source.text)}{cite}.", ""]
    for one in forms:
        label = f"rnnbounds:{claim.id}" + (f":{one.name}" if one is not claim.forms[0] else "")
        lines += _form(one, len(claim.forms) > 1, label)
    return "\n".join([*lines, *_symbols(forms, "\n".join(lines))]) + "\n"


def _form(form: Form, named: bool, label: str) -> list[str]:
    head = [f"\\paragraph{{{prose(form.name)}}}"] if named else []
    note = [f"({prose(form.note)})"] if form.note else []
    marks = (f"({a.label}) " * a.inclusion for a in form.assumptions)
    texts = (prose(a.text) for a in form.assumptions)
    assumed = [f"  \\item {mark}{text}" for mark, text in zip(marks, texts, strict=True)]
    listed = ["Assume:", r"\begin{itemize}", *assumed, r"\end{itemize}", "Then"] if assumed else []
    shown = [_upright(line) for line in lines(form.statement)]
    if len(shown) > 1:
        shown = [
            r"\begin{aligned}",
            *(f"{line} \\\\" for line in shown[:-1]),
            shown[-1],
            r"\end{aligned}",
        ]
    display = [rf"\begin{{equation}}\label{{{label}}}", *(f"  {line}" for line in shown)]
    return [*head, *note, *listed, *display, r"\end{equation}", ""]


def _symbols(forms: Iterable[Form], told: str) -> list[str]:
    """The symbols of the forms, and of what is printed of them, with meanings and norms."""
    rows = [(prose(letter), prose(meaning)) for letter, meaning in letters(told)]
    for quantity in quantities(forms):
        norm = "" if quantity.norm == "number" else f" ({prose(quantity.norm)})"
        rows.append((rf"\({_upright(quantity.notation)}\)", prose(quantity.meaning) + norm))
    items = [rf"  \item {symbol}: {meaning}" for symbol, meaning in rows]
    return [r"\noindent Symbols:", r"\begin{itemize}", *items, r"\end{itemize}", ""]


def prose(text: str) -> str:
    """A line of prose, its formulas in mathematics: `λ < 1` is `\\(\\lambda < 1\\)`."""
    words = text.split(" ")
    found: list[str] = []
    formula: list[str] = []
    for word, following in zip(words, [*words[1:], ""], strict=True):
        beside = bool(formula and _relates(formula[-1])) or (word.isalnum() and _relates(following))
        if not (_is_formula(word) or _open(formula) or beside):
            found += [*_closed(formula), _escaped(word)]
            formula = []
            continue
        formula.append(word)
        if TAIL.fullmatch(word)[2] and not _open(formula):  # type: ignore[index]
            found += _closed(formula)
            formula = []
    return " ".join([*found, *_closed(formula)])


def _is_formula(word: str) -> bool:
    """True if a word is mathematics: it has a mathematical character, is a single letter, or names
    one."""
    bare = word.strip(",;:.()")
    single = (len(bare) == 1 and bare.isalpha() and bare not in ARTICLES) or bare in LETTERS
    return bool(
        single or any(map(_is_sign, word)) or OPERATOR.search(bare) or re.search(r"\w\(", word)
    )


def _relates(word: str) -> bool:
    """True if a word is an operator between two others."""
    return bool(OPERATOR.fullmatch(word))


def _is_sign(character: str) -> bool:
    accented = not ACCENTS.keys().isdisjoint(unicodedata.normalize("NFD", character))
    return not character.isascii() and (
        character in SIGNS or accented or _script(character) is not None
    )


def _script(character: str) -> str | None:
    """The sign of a character that is a sub- or superscript."""
    return SCRIPTS.get(unicodedata.decomposition(character).partition(" ")[0])


def _open(words: Iterable[str]) -> bool:
    """True if the words contain more opening than closing brackets."""
    text = "".join(words)
    return sum(map(text.count, CLOSING)) > sum(map(text.count, CLOSING.values()))


def _closed(words: list[str]) -> list[str]:
    """A formula between its marks; a comma at its end is the sentence's."""
    core, tail = TAIL.fullmatch(" ".join(words)).groups()  # type: ignore[union-attr]
    return [rf"\({mathematics(core)}\){tail}"] if core else [tail] if tail else []


def mathematics(text: str) -> str:
    """A formula in mathematical characters, as LaTeX; quantities by their notations."""
    found: list[str] = []
    script = None
    alone = VOCABULARY.get(text)
    if alone is not None:
        return _upright(alone.notation)
    named = SCRIPT.sub(_script_of, NAME.sub(_name, text))
    for character in "".join(c if c in SIGNS else unicodedata.normalize("NFD", c) for c in named):
        kind = None if character in SIGNS else _script(character)
        if kind != script:
            found += (["}"] if script else []) + ([kind + "{"] if kind else [])
        script = kind
        plain = unicodedata.normalize("NFKC", character) if kind else character
        if plain in ACCENTS:
            found.append(f"{ACCENTS[plain]}{{{found.pop().strip()}}}")
        else:
            sign = SIGNS.get(plain, plain)
            found.append(f"{sign} " if re.fullmatch(r"\\\w+", sign) else sign)
    return _upright("".join([*found, "}" if script else ""]).strip())


def _name(match: re.Match[str]) -> str:
    """The notation of a quantity or a function for its name; other names with one script."""
    quantity = VOCABULARY.get(match[0])
    # Within a formula a name such as C_label may be a row's, and no norm.
    if quantity is not None and not quantity.notation.startswith(r"\lVert"):
        return f"{{{quantity.notation}}}"
    if match[0] in LETTERS:
        return rf"\{match[0]} "
    if match[0] in FUNCTIONS:
        return rf"\{match[0]} "
    head, *scripts = match[0].split("_")
    return head + (f"_{{{','.join(scripts)}}}" if scripts else "")


def _script_of(match: re.Match[str]) -> str:
    """Put the matched sub- or superscript in braces, several joined by commas."""
    return f"{match[1]}{{{match[2].replace('_', ',')}}}"


def _escaped(word: str) -> str:
    """Escape the characters of a word that are special in LaTeX."""
    return re.sub(r"([&%#$_{}])", r"\\\1", word)


def _upright(latex: str) -> str:
    """Notations with their words upright: `s_{gate}` is `s_{\\mathrm{gate}}`."""
    return UPRIGHT.sub(lambda found: rf"\mathrm{{{found[1]}}}" if found[1] else found[0], latex)
