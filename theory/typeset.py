"""Prose with formulas: as LaTeX, and as presentation MathML for a page, text and <math> elements.

The text between the elements is escaped for XML.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from xml.sax.saxutils import escape

from sympy import Expr

from rnnbounds.theory.language.law import Clause, Law
from rnnbounds.theory.language.mathml import LETTERS, latex_to_mathml, xml_element
from rnnbounds.theory.language.printing import latex, statement_mathml
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.proof.proof import Step

FORMULA = re.compile(r"\\\((.*?)\\\)")
ESCAPED = re.compile(r"\\([&%#$_{}])")
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


def typeset(text: str) -> str:
    """A line of prose, `λ < 1` in it as `<math>…</math>`."""
    parts = FORMULA.split(prose(text))
    parts[::2] = (escape(ESCAPED.sub(r"\1", part)) for part in parts[::2])
    parts[1::2] = (xml_element("math", latex_to_mathml(part)) for part in parts[1::2])
    return "".join(parts)


def expression_mathml(expression: Expr) -> str:
    """Print an expression as one `<math>` element."""
    return xml_element("math", latex_to_mathml(latex(expression)))


def quantifier(step: Step) -> str:
    """For which values a step is stated: for all …, if …; empty for what is closed."""
    variables = ", ".join(map(expression_mathml, step.forall))
    premises = " and ".join(map(statement_mathml, step.given))
    every = f"for all {variables}" if variables else ""
    return ", ".join(filter(None, (every, f"if {premises}" if premises else "")))


def law(stated: Law) -> str:
    """Print a law in MathML: its clauses, each with its premises."""
    return "; ".join(map(_clause, stated.clauses))


def _clause(clause: Clause) -> str:
    given = " and ".join(map(statement_mathml, clause.given))
    return statement_mathml(clause.conclusion) + (f" where {given}" if given else "")


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
