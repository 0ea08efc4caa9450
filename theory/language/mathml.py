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
NAME_COMMANDS = ("mathrm", "operatorname", "text")  # commands whose braces hold one name
ACCENTS = {r"\hat": "^", r"\bar": "¯"}
FENCES = {
    "lVert": "‖", "rVert": "‖", "Vert": "‖", "(": "(", ")": ")", "|": "|", "langle": "⟨",
    "rangle": "⟩",
}  # fmt: skip
STRETCHY_FENCES = {"lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉"}
TOKEN = re.compile(r"\\([A-Za-z]+)|([A-Za-z]+)|(\d+)|(\S)")


def xml_element(tag: str, *children: str) -> str:
    """XML element `<tag>` around the concatenated children."""
    return f"<{tag}>{''.join(children)}</{tag}>"


def math_row(*children: str) -> str:
    """Group children in an `<mrow>`; a single child is returned as it is."""
    return children[0] if len(children) == 1 else xml_element("mrow", *children)


def latex_to_mathml(latex: str) -> str:
    """Translate LaTeX (letters, fractions, roots, fences, accents, scripts) to MathML."""
    tokens = ("\\" + m[1] if m[1] else m[0] for m in TOKEN.finditer(latex))
    return math_row(*_parse_tokens(tokens))


def _parse_tokens(tokens: Iterator[str]) -> list[str]:
    parts: list[str] = []
    scripts: list[dict[str, str]] = []
    for token in tokens:
        if token in ("}", r"\right"):
            break
        if token in "_^":
            scripts[-1][token] = _parse_group(tokens)
            continue
        parts.append(_parse_atom(token, tokens))
        scripts.append({})
    return [_with_scripts(part, script) for part, script in zip(parts, scripts, strict=True)]


def _parse_group(tokens: Iterator[str]) -> str:
    return _parse_atom(next(tokens), tokens)


def _parse_atom(token: str, tokens: Iterator[str]) -> str:
    if token in ACCENTS:
        return xml_element("mover", _parse_group(tokens), xml_element("mo", ACCENTS[token]))
    match token:
        case "{":
            return math_row(*_parse_tokens(tokens))
        case r"\left":
            left, inner, right = next(tokens), math_row(*_parse_tokens(tokens)), next(tokens)
            return math_row(_stretchy_fence(left), inner, _stretchy_fence(right))
        case r"\frac":
            return xml_element("mfrac", _parse_group(tokens), _parse_group(tokens))
        case r"\sqrt":
            return xml_element("msqrt", _parse_group(tokens))
        case "'":
            return xml_element("mo", "′")
        case "-":
            return xml_element("mo", "−")
        case r"\tfrac":
            return xml_element("mn", "½") if (digits := next(tokens)) == "12" else xml_element(
                "mfrac", *(xml_element("mn", digit) for digit in digits)
            )  # fmt: skip
    name = token.removeprefix("\\")
    if token != name and name in NAME_COMMANDS:
        next(tokens)  # an underscore in the braces is no subscript
        text = "".join(takewhile("}".__ne__, tokens)).replace("\\", "")
        return xml_element("mi", escape(text))
    if token != name and name in OPERATORS:
        return xml_element("mo", OPERATORS[name])
    if name in FENCES:
        return f'<mo fence="true" stretchy="false">{FENCES[name]}</mo>'
    if name.isalpha():
        return xml_element("mi", LETTERS.get(name, name) if token != name else name)
    return xml_element("mn" if token.isdigit() else "mo", escape(token))


def _stretchy_fence(token: str) -> str:
    """A bracket or bar that is as high as what it encloses."""
    return xml_element("mo", STRETCHY_FENCES.get(token.removeprefix("\\"), token))


def _with_scripts(part: str, script: dict[str, str]) -> str:
    match script:
        case {"_": below, "^": above}:
            return xml_element("msubsup", part, below, above)
        case {"_": below}:
            return xml_element("msub", part, below)
        case {"^": above}:
            return xml_element("msup", part, above)
    return part
