"""The tokens of a statement as papers and pages have it: `‖h_T − h_T^(k)‖ ≤ S_0 λ^k`, or LaTeX.

Each quantity is spelled by its name and by its notation, which the vocabulary has in LaTeX; nothing
is typed here a second time.
"""

import re
import unicodedata
from difflib import get_close_matches
from itertools import groupby, pairwise

from rnnbounds.theory.errors import StatementError
from rnnbounds.theory.language.mathml import LETTERS
from rnnbounds.theory.language.vocabulary import VOCABULARY

NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
TOKEN = re.compile(
    rf"\\(?P<command>[A-Za-z]+|[|{{}}])|[A-Za-z]+|{NUMBER}|\*\*|[<>]=|\|\||\S", re.ASCII
)
COMMANDS = LETTERS | {
    "lVert": "‖", "rVert": "‖", "|": "‖", "le": "<=", "leq": "<=", "ge": ">=", "geq": ">=",
    "epsilon": "ε", "cdot": "*", "times": "*", "ln": "log", "left": "", "right": "",
    "hat": "\\hat", "bar": "\\bar", "frac": "frac", "sqrt": "sqrt", "log": "log", "exp": "exp",
    "min": "min", "max": "max",
}  # fmt: skip
SIGNS = {
    "≤": "<=", "⩽": "<=", "≥": ">=", "⩾": ">=", "−": "-", "·": "*", "⋅": "*", "×": "*", "||": "‖",
    "∥": "‖", "√": "sqrt", "ln": "log", "µ": "μ", "ϵ": "ε", "ϕ": "φ",
}  # fmt: skip
PRIMES = {"′": "'", "″": "''", "’": "'"}
ACCENTS = {"\\hat": "\u0302", "\\bar": "\u0304"}
SCRIPTS = {"<super>": "^", "<sub>": "_"}
CLOSING = {"(": ")", "{": "}"}
MAX_DEPTH = 60
HINT = "`rnnbounds claims --vocabulary` lists what there is"


def typed_notation(notation: str) -> str:
    """A notation in LaTeX, as one types it: `\\lVert h_T-h_T^{(k)}\\rVert` is `‖h_T-h_T^(k)‖`."""
    words = tokenize(notation)
    gaps = [
        " " if (a[-1].isalpha() and b[0].isalpha()) or a in ("min", "max") else ""
        for a, b in pairwise(words)
    ]
    return "".join(word + gap for word, gap in zip(words, [*gaps, ""], strict=True))


def tokenize(text: str) -> list[str]:
    """Letters, numbers, signs; alike for LaTeX, ASCII and mathematical characters.

    A script of several tokens has braces, another none; a superscript in brackets keeps these.
    """
    words = []
    for match in TOKEN.finditer(unicodedata.normalize("NFD", _expand_scripts(text))):
        if match["command"] and match["command"] not in COMMANDS:
            raise fault(text, f"has the command {match[0][:20]!r}; {HINT}")
        word = COMMANDS[match["command"]] if match["command"] else SIGNS.get(match[0], match[0])
        words += list(PRIMES.get(word, word)) if word in PRIMES else [word] if word else []
    return _group_scripts(words, text)


def _expand_scripts(text: str) -> str:
    """`λᵏ` and `S₀` with their scripts as `λ^{k}` and `S_{0}`."""

    def kind(character: str) -> str:
        return SCRIPTS.get(unicodedata.decomposition(character).partition(" ")[0], "")

    runs = ((script, "".join(run)) for script, run in groupby(text, kind))
    return "".join(f"{s}{{{unicodedata.normalize('NFKC', run)}}}" if s else run for s, run in runs)


def _group_scripts(words: list[str], text: str, depth: int = 0) -> list[str]:
    """The words with accents behind their letters, and no braces that nothing needs."""
    grouped: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word in ACCENTS:
            argument, at = _argument(words, at, text, depth)
            grouped += [*argument, ACCENTS[word]]
        elif word in ("_", "^") and at < len(words) and words[at] in CLOSING:
            keeps_brackets = word == "^" and words[at] == "("
            argument, at = _argument(words, at, text, depth)
            if keeps_brackets:
                argument = ["(", *argument, ")"]
            elif len(argument) > 1 and (
                argument[0] != "(" or _closing_index(argument, 0, text) < len(argument) - 1
            ):
                argument = ["{", *argument, "}"]
            grouped += [word, *argument]
        else:
            grouped.append(word)
    return grouped


def _argument(words: list[str], at: int, text: str, depth: int) -> tuple[list[str], int]:
    """Tokens of the group, or the one word, at index `at`, and the index after it."""
    if depth > MAX_DEPTH:
        raise fault(text, f"is too deep; at most {MAX_DEPTH} brackets are nested")
    if words[at : at + 1] and words[at] in CLOSING:
        end = _closing_index(words, at, text)
        return _group_scripts(words[at + 1 : end], text, depth + 1), end + 1
    return words[at : at + 1], at + 1


def _closing_index(words: list[str], at: int, text: str) -> int:
    """The place of the bracket that closes the one at a place."""
    expected: list[str] = []
    for index in range(at, len(words)):
        if words[index] in CLOSING:
            expected.append(CLOSING[words[index]])
        elif words[index] in CLOSING.values() and words[index] != expected.pop():
            break
        if not expected:
            return index
    raise fault(text, "has a bracket that nothing closes; close it")


def suggest_notations(written: str) -> str:
    """A question with the quantities whose notations are most like what was written."""
    names = {typed_notation(quantity.notation): quantity.name for quantity in VOCABULARY.values()}
    close = get_close_matches(written, names, n=3)
    suggestions = " or ".join(f"{notation} ({names[notation]})" for notation in close)
    return f"did you mean {suggestions}? " if suggestions else ""


def fault(line: str, what: str) -> StatementError:
    """The error that says what is wrong with a line, of which it has the beginning."""
    excerpt = line if len(line) <= 60 else line[:57] + "..."
    return StatementError(f"{excerpt!r} {what}")
