"""Presentation MathML of the LaTeX in which notations are written and expressions printed.

No entities beyond XML's own.
"""

import re
from collections.abc import Iterator
from itertools import takewhile
from xml.sax.saxutils import escape

LETTERS = {
    "lambda": "λ", "varepsilon": "ε", "alpha": "α", "beta": "β", "rho": "ρ", "kappa": "κ",
    "varphi": "φ", "partial": "∂", "nabla": "∇", "Pi": "Π", "mu": "μ", "theta": "θ", "tau": "τ",
    "omega": "ω", "infty": "∞", "pi": "π", "Gamma": "Γ", "gamma": "γ", "delta": "δ",
    "varrho": "ϱ", "prod": "∏", "Lambda": "Λ", "Sigma": "Σ", "Omega": "Ω", "zeta": "ζ", "nu": "ν",
    "sigma": "σ", "varsigma": "ς", "ell": "ℓ",
}  # fmt: skip
OPERATORS = {
    "le": "≤", "ge": "≥", "ne": "≠", "cdot": "·", "times": "×", "circ": "∘", "surd": "√",
    "pm": "±", "to": "→", "cdots": "⋯", "ldots": "…", "succeq": "⪰", "sim": "∼",
}  # fmt: skip
NAMED = ("mathrm", "operatorname", "text")  # commands whose braces hold one name
ACCENTS = {r"\hat": "^", r"\bar": "¯"}
FENCES = {
    "lVert": "‖", "rVert": "‖", "Vert": "‖", "(": "(", ")": ")", "|": "|", "langle": "⟨",
    "rangle": "⟩",
}  # fmt: skip
STRETCHING = {"lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉"}
TOKEN = re.compile(r"\\([A-Za-z]+)|([A-Za-z]+)|(\d+)|(\S)")


def element(tag: str, *children: str) -> str:
    """One element."""
    return f"<{tag}>{''.join(children)}</{tag}>"


def row(*children: str) -> str:
    """A group; a single child is itself."""
    return children[0] if len(children) == 1 else element("mrow", *children)


def markup(latex: str) -> str:
    """MathML: letters, fractions, roots, fences, primes, hats, sub- and superscripts."""
    return row(*_parse(iter(_tokens(latex))))


def _tokens(latex: str) -> list[str]:
    return ["\\" + m[1] if m[1] else m[0] for m in TOKEN.finditer(latex)]


def _parse(tokens: Iterator[str]) -> list[str]:
    parts: list[str] = []
    scripts: list[dict[str, str]] = []
    for token in tokens:
        if token in ("}", r"\right"):
            break
        if token in "_^":
            scripts[-1][token] = _group(tokens)
            continue
        parts.append(_atom(token, tokens))
        scripts.append({})
    return [_scripted(part, script) for part, script in zip(parts, scripts, strict=True)]


def _group(tokens: Iterator[str]) -> str:
    return _atom(next(tokens), tokens)


def _atom(token: str, tokens: Iterator[str]) -> str:
    if token in ACCENTS:
        return element("mover", _group(tokens), element("mo", ACCENTS[token]))
    match token:
        case "{":
            return row(*_parse(tokens))
        case r"\left":
            left, inner, right = next(tokens), row(*_parse(tokens)), next(tokens)
            return row(_stretching(left), inner, _stretching(right))
        case r"\frac":
            return element("mfrac", _group(tokens), _group(tokens))
        case r"\sqrt":
            return element("msqrt", _group(tokens))
        case "'":
            return element("mo", "′")
        case "-":
            return element("mo", "−")
        case r"\tfrac":
            return element("mn", "½") if (digits := next(tokens)) == "12" else element(
                "mfrac", *(element("mn", digit) for digit in digits)
            )  # fmt: skip
    name = token.removeprefix("\\")
    if token != name and name in NAMED:
        return element("mi", escape(_name(tokens)))
    if token != name and name in OPERATORS:
        return element("mo", OPERATORS[name])
    if name in FENCES:
        return f'<mo fence="true" stretchy="false">{FENCES[name]}</mo>'
    if name.isalpha():
        return element("mi", LETTERS.get(name, name) if token != name else name)
    return element("mn" if token.isdigit() else "mo", escape(token))


def _name(tokens: Iterator[str]) -> str:
    """The text in the next pair of braces; an underscore in it is no subscript."""
    next(tokens)
    return "".join(takewhile("}".__ne__, tokens)).replace("\\", "")


def _stretching(token: str) -> str:
    """A bracket or bar that is as high as what it encloses."""
    return element("mo", STRETCHING.get(token.removeprefix("\\"), token))


def _scripted(part: str, script: dict[str, str]) -> str:
    match script:
        case {"_": below, "^": above}:
            return element("msubsup", part, below, above)
        case {"_": below}:
            return element("msub", part, below)
        case {"^": above}:
            return element("msup", part, above)
    return part
