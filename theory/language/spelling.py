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
MAX_DEPTH = 60
HINT = "`rnnbounds claims --vocabulary` lists what there is"


def translate_notation(line: str) -> str:
    """The line with the names of the vocabulary and the signs of a plain statement, which it may
    have already; raises StatementError for what spells nothing, or can be read in two ways."""
    if line.isascii() and not set("\\^{}|").intersection(line):
        return line
    return _NotationReader(line).translate(tokenize(line), 0)


def typed_notation(notation: str) -> str:
    """A notation in LaTeX, as one types it: `\\lVert h_T-h_T^{(k)}\\rVert` is `‖h_T-h_T^(k)‖`."""
    words = tokenize(notation)
    gaps = [
        " " if (a[-1].isalpha() and b[0].isalpha()) or a in ("min", "max") else ""
        for a, b in pairwise(words)
    ]
    return "".join(word + gap for word, gap in zip(words, [*gaps, ""], strict=True))


@lru_cache(maxsize=1)
def notation_table(size: int) -> dict[tuple[str, ...], str]:
    """Map the tokens of each notation and of each name to the quantity's name.

    `size`, the vocabulary's, is the key of the cache: the vocabulary only grows.
    """
    notations = {tuple(tokenize(q.notation)): q.name for q in VOCABULARY.values()}
    return notations | {tuple(tokenize(name)): name for name in VOCABULARY}


def tokenize(text: str) -> list[str]:
    """Letters, numbers, signs; alike for LaTeX, ASCII and mathematical characters.

    A script of several tokens has braces, another none; a superscript in brackets keeps these.
    """
    words = []
    for match in TOKEN.finditer(unicodedata.normalize("NFD", _expand_scripts(text))):
        if match["command"] and match["command"] not in COMMANDS:
            raise _error(text, f"has the command {match[0][:20]!r}; {HINT}")
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
            elif len(argument) > 1 and not _is_bracketed(argument, text):
                argument = ["{", *argument, "}"]
            grouped += [word, *argument]
        else:
            grouped.append(word)
    return grouped


def _argument(words: list[str], at: int, text: str, depth: int) -> tuple[list[str], int]:
    """Tokens of the group, or the one word, at index `at`, and the index after it."""
    if depth > MAX_DEPTH:
        raise _error(text, f"is too deep; at most {MAX_DEPTH} brackets are nested")
    if words[at : at + 1] and words[at] in CLOSING:
        end = _closing_index(words, at, text)
        return _group_scripts(words[at + 1 : end], text, depth + 1), end + 1
    return words[at : at + 1], at + 1


def _is_bracketed(words: list[str], text: str) -> bool:
    return words[0] == "(" and _closing_index(words, 0, text) == len(words) - 1


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
    raise _error(text, "has a bracket that nothing closes; close it")


def suggest_notations(written: str) -> str:
    """A question with the quantities whose notations are most like what was written."""
    names = {typed_notation(quantity.notation): quantity.name for quantity in VOCABULARY.values()}
    close = get_close_matches(written, names, n=3)
    suggestions = " or ".join(f"{notation} ({names[notation]})" for notation in close)
    return f"did you mean {suggestions}? " if suggestions else ""


def _error(line: str, fault: str) -> StatementError:
    excerpt = line if len(line) <= 60 else line[:57] + "..."
    return StatementError(f"{excerpt!r} {fault}")


class _NotationReader:
    """Translates the tokens of one line of mathematical notation to a plain statement."""

    def __init__(self, line: str) -> None:
        self.line = line
        self.names_by_tokens = notation_table(len(VOCABULARY))
        self.max_tokens = max(map(len, self.names_by_tokens))

    def translate(self, words: list[str], depth: int) -> str:
        """Translate tokens; adjacent factors are multiplied."""
        if depth > MAX_DEPTH:
            raise _error(self.line, f"is too deep; at most {MAX_DEPTH} brackets are nested")
        pieces: list[str] = []
        at, has_operand, in_denominator = 0, False, False
        while at < len(words):
            if words[at] in OPERATORS:
                pieces.append(words[at])
                has_operand, in_denominator = False, words[at] == "/"
                at += 1
                continue
            if words[at] == "^" and has_operand:
                power, at = self.exponent(words, at + 1, depth)
                pieces.append(f"**{power}")
                continue
            if has_operand and in_denominator:
                raise _error(self.line, "divides by a product without brackets; write a/(b*c)")
            if has_operand and words[at][0].isdigit():
                raise _error(self.line, f"has {words[at]} behind a factor; write * between them")
            pieces += ["*"] if has_operand else []
            piece, at = self.operand(words, at, depth)
            pieces.append(piece)
            has_operand = True
        return " ".join(pieces)

    def operand(self, words: list[str], at: int, depth: int) -> tuple[str, int]:
        """The quantity, number, group or function at a place, and the place behind it."""
        word, next_word = words[at], words[at + 1 : at + 2]
        for size in range(min(self.max_tokens, len(words) - at), 0, -1):
            if name := self.names_by_tokens.get(tuple(words[at : at + size])):
                return name, at + size
        if word[0].isdigit() or (word[0] == "." and len(word) > 1):
            return word, at + 1
        if word in CLOSING:
            return self.group(words, at, depth)
        if word == "e" and next_word == ["^"]:
            power, at = self.exponent(words, at + 2, depth)
            return f"exp{power}", at
        if word in (*FUNCTIONS, "frac") and next_word and next_word[0] in CLOSING:
            argument, at = self.group(words, at + 1, depth)
            if word != "frac":
                return word + argument, at
            if words[at : at + 1] == ["{"]:
                denominator, at = self.group(words, at, depth)
                return f"({argument}/{denominator})", at
        raise self.unknown_word_error(words, at)

    def group(self, words: list[str], at: int, depth: int) -> tuple[str, int]:
        """Translate the group in brackets or braces at `at`: (text in brackets, index after it)."""
        end = _closing_index(words, at, self.line)
        return f"({self.translate(words[at + 1 : end], depth + 1)})", end + 1

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

    def unknown_word_error(self, words: list[str], at: int) -> StatementError:
        """Error for the word at index `at`, with what to write instead."""
        word = words[at]
        if word in FUNCTIONS or word == "frac":
            return _error(self.line, f"has {word} without brackets; write {word}(…)")
        if word in ("‖", "|", "["):
            closing = {"[": "]"}.get(word, word)
            end = words.index(closing, at + 1) + 1 if closing in words[at + 1 :] else len(words)
            excerpt = "".join(words[at:end])[:60]
            return StatementError(
                f"{excerpt!r} is the notation of no quantity; {suggest_notations(excerpt)}{HINT}"
            )
        if word.isalpha():
            end = at + 1
            while words[end : end + 1] == ["_"]:
                end += 2
            name = "".join(words[at:end])
            return StatementError(str(UnknownNameError("quantity", name, VOCABULARY)))
        return _error(self.line, f"has {word!r} where a quantity or a number is needed; {HINT}")
