"""Reads a statement as papers and pages have it: `‖h_T − h_T^(k)‖ ≤ S_0 λ^k/(1 − λ)`, or in LaTeX.

Each quantity is spelled by its name and by its notation, which the vocabulary has in LaTeX; nothing
is typed here a second time. The longest run of tokens that spells a quantity becomes its name, and
the rest becomes the signs of a plain statement. What is neither is refused.
"""

import re
import unicodedata
from difflib import get_close_matches
from functools import lru_cache
from itertools import groupby, pairwise

from rnnbounds.theory.errors import StatementError, UnknownNameError
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
FUNCTIONS = ("sqrt", "log", "exp", "min", "max")
OPERATORS = ("+", "-", "*", "/", "**", "<", "<=", ">", ">=", ",")
CLOSING = {"(": ")", "{": "}"}
DEEPEST = 60
LIST = "`rnnbounds claims --vocabulary` lists what there is"


def spelled(line: str) -> str:
    """The line with the names of the vocabulary and the signs of a plain statement, which it may
    have already; raises StatementError for what spells nothing, or can be read in two ways."""
    if line.isascii() and not set("\\^{}|").intersection(line):
        return line
    return _Reader(line).plain(tokens(line), 0)


def spelling(notation: str) -> str:
    """A notation in LaTeX, as one types it: `\\lVert h_T-h_T^{(k)}\\rVert` is `‖h_T-h_T^(k)‖`."""
    words = tokens(notation)
    gaps = [
        " " if (a[-1].isalpha() and b[0].isalpha()) or a in ("min", "max") else ""
        for a, b in pairwise(words)
    ]
    return "".join(word + gap for word, gap in zip(words, [*gaps, ""], strict=True))


@lru_cache(maxsize=1)
def spellings(size: int) -> dict[tuple[str, ...], str]:
    """Map the tokens of each notation and of each name to the quantity's name.

    `size`, the vocabulary's, is the key of the cache: the vocabulary only grows.
    """
    notations = {tuple(tokens(q.notation)): q.name for q in VOCABULARY.values()}
    return notations | {tuple(tokens(name)): name for name in VOCABULARY}


def tokens(text: str) -> list[str]:
    """Letters, numbers, signs; alike for LaTeX, ASCII and mathematical characters.

    A script of several tokens has braces, another none; a superscript in brackets keeps these.
    """
    words = []
    for match in TOKEN.finditer(unicodedata.normalize("NFD", _unraised(text))):
        if match["command"] and match["command"] not in COMMANDS:
            raise _error(text, f"has the command {match[0][:20]!r}; {LIST}")
        word = COMMANDS[match["command"]] if match["command"] else SIGNS.get(match[0], match[0])
        words += list(PRIMES.get(word, word)) if word in PRIMES else [word] if word else []
    return _grouped(words, text)


def _unraised(text: str) -> str:
    """`λᵏ` and `S₀` with their scripts as `λ^{k}` and `S_{0}`."""

    def kind(character: str) -> str:
        return SCRIPTS.get(unicodedata.decomposition(character).partition(" ")[0], "")

    runs = ((script, "".join(run)) for script, run in groupby(text, kind))
    return "".join(f"{s}{{{unicodedata.normalize('NFKC', run)}}}" if s else run for s, run in runs)


def _grouped(words: list[str], text: str, depth: int = 0) -> list[str]:
    """The words with accents behind their letters, and no braces that nothing needs."""
    found: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word in ACCENTS:
            inside, at = _argument(words, at, text, depth)
            found += [*inside, ACCENTS[word]]
        elif word in ("_", "^") and at < len(words) and words[at] in CLOSING:
            brackets = word == "^" and words[at] == "("
            inside, at = _argument(words, at, text, depth)
            if brackets:
                inside = ["(", *inside, ")"]
            elif len(inside) > 1 and not _bracketed(inside, text):
                inside = ["{", *inside, "}"]
            found += [word, *inside]
        else:
            found.append(word)
    return found


def _argument(words: list[str], at: int, text: str, depth: int) -> tuple[list[str], int]:
    """Tokens of the group, or the one word, at index `at`, and the index after it."""
    if depth > DEEPEST:
        raise _error(text, f"is too deep; at most {DEEPEST} brackets are nested")
    if words[at : at + 1] and words[at] in CLOSING:
        end = _end(words, at, text)
        return _grouped(words[at + 1 : end], text, depth + 1), end + 1
    return words[at : at + 1], at + 1


def _bracketed(words: list[str], text: str) -> bool:
    return words[0] == "(" and _end(words, 0, text) == len(words) - 1


def _end(words: list[str], at: int, text: str) -> int:
    """The place of the bracket that closes the one at a place."""
    expected: list[str] = []
    for place in range(at, len(words)):
        if words[place] in CLOSING:
            expected.append(CLOSING[words[place]])
        elif words[place] in CLOSING.values() and words[place] != expected.pop():
            break
        if not expected:
            return place
    raise _error(text, "has a bracket that nothing closes; close it")


def near(shown: str) -> str:
    """A question with the quantities whose notations are most like what was written."""
    names = {spelling(quantity.notation): quantity.name for quantity in VOCABULARY.values()}
    close = get_close_matches(shown, names, n=3)
    listed = " or ".join(f"{notation} ({names[notation]})" for notation in close)
    return f"did you mean {listed}? " if listed else ""


def _error(line: str, fault: str) -> StatementError:
    shown = line if len(line) <= 60 else line[:57] + "..."
    return StatementError(f"{shown!r} {fault}")


class _Reader:
    """Writes the tokens of one line as a plain statement."""

    def __init__(self, line: str) -> None:
        self.line = line
        self.table = spellings(len(VOCABULARY))
        self.longest = max(map(len, self.table))

    def plain(self, words: list[str], depth: int) -> str:
        """The words; what stands side by side is multiplied."""
        if depth > DEEPEST:
            raise _error(self.line, f"is too deep; at most {DEEPEST} brackets are nested")
        found: list[str] = []
        at, operand, below = 0, False, False
        while at < len(words):
            if words[at] in OPERATORS:
                found.append(words[at])
                operand, below = False, words[at] == "/"
                at += 1
                continue
            if words[at] == "^" and operand:
                power, at = self.exponent(words, at + 1, depth)
                found.append(f"**{power}")
                continue
            if operand and below:
                raise _error(self.line, "divides by a product without brackets; write a/(b*c)")
            if operand and words[at][0].isdigit():
                raise _error(self.line, f"has {words[at]} behind a factor; write * between them")
            found += ["*"] if operand else []
            piece, at = self.operand(words, at, depth)
            found.append(piece)
            operand = True
        return " ".join(found)

    def operand(self, words: list[str], at: int, depth: int) -> tuple[str, int]:
        """The quantity, number, group or function at a place, and the place behind it."""
        word, behind = words[at], words[at + 1 : at + 2]
        for size in range(min(self.longest, len(words) - at), 0, -1):
            if name := self.table.get(tuple(words[at : at + size])):
                return name, at + size
        if word[0].isdigit() or (word[0] == "." and len(word) > 1):
            return word, at + 1
        if word in CLOSING:
            return self.group(words, at, depth)
        if word == "e" and behind == ["^"]:
            power, at = self.exponent(words, at + 2, depth)
            return f"exp{power}", at
        if word in (*FUNCTIONS, "frac") and behind and behind[0] in CLOSING:
            argument, at = self.group(words, at + 1, depth)
            if word != "frac":
                return word + argument, at
            if words[at : at + 1] == ["{"]:
                denominator, at = self.group(words, at, depth)
                return f"({argument}/{denominator})", at
        raise self.unknown(words, at)

    def group(self, words: list[str], at: int, depth: int) -> tuple[str, int]:
        """Translate the group in brackets or braces at `at`: (text in brackets, index after it)."""
        end = _end(words, at, self.line)
        return f"({self.plain(words[at + 1 : end], depth + 1)})", end + 1

    def exponent(self, words: list[str], at: int, depth: int) -> tuple[str, int]:
        """A group, or one operand with or without a sign, in brackets."""
        sign = "-" if words[at : at + 1] == ["-"] else ""
        at += len(sign)
        if at >= len(words) or words[at] in OPERATORS:
            raise _error(self.line, "raises to no power; write it behind ^")
        if words[at] in CLOSING and not sign:
            return self.group(words, at, depth)
        piece, at = self.operand(words, at, depth)
        return f"({sign}{piece})", at

    def unknown(self, words: list[str], at: int) -> StatementError:
        """Error for the word at index `at`, with what to write instead."""
        word = words[at]
        if word in FUNCTIONS or word == "frac":
            return _error(self.line, f"has {word} without brackets; write {word}(…)")
        if word in ("‖", "|", "["):
            close = {"[": "]"}.get(word, word)
            end = words.index(close, at + 1) + 1 if close in words[at + 1 :] else len(words)
            shown = "".join(words[at:end])[:60]
            return StatementError(f"{shown!r} is the notation of no quantity; {near(shown)}{LIST}")
        if word.isalpha():
            end = at + 1
            while words[end : end + 1] == ["_"]:
                end += 2
            name = "".join(words[at:end])
            return StatementError(str(UnknownNameError("quantity", name, VOCABULARY)))
        return _error(self.line, f"has {word!r} where a quantity or a number is needed; {LIST}")
