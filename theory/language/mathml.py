"""Presentation MathML of expressions: one walk, no entities beyond XML's own."""

import re
from collections.abc import Callable, Iterator
from xml.sax.saxutils import escape

from sympy import (
    Abs,
    E,
    Expr,
    Function,
    LambertW,
    Max,
    Min,
    Mul,
    Pow,
    Rational,
    Symbol,
    exp,
    gamma,
    pi,
)
from sympy import ceiling as ceiling_function
from sympy import floor as floor_function
from sympy import log as logarithm

TIMES = "<mo>\u2062</mo>"  # invisible
APPLY = "<mo>\u2061</mo>"
LETTERS = {
    "lambda": "λ", "varepsilon": "ε", "alpha": "α", "beta": "β", "rho": "ρ", "kappa": "κ",
    "varphi": "φ", "partial": "∂", "nabla": "∇", "min": "min", "Pi": "Π", "mu": "μ",
    "theta": "θ", "tau": "τ", "omega": "ω", "infty": "∞",
}  # fmt: skip
ACCENTS = {r"\hat": "^", r"\bar": "¯"}
FENCES = {"lVert": "‖", "rVert": "‖", "(": "(", ")": ")", "|": "|"}
TOKEN = re.compile(r"\\([A-Za-z]+)|([A-Za-z]+)|(\d+)|(\S)")

Show = Callable[[Symbol], str]
Terms = Callable[[Expr], list[Expr]]


def element(tag: str, *children: str) -> str:
    """One element."""
    return f"<{tag}>{''.join(children)}</{tag}>"


def row(*children: str) -> str:
    """A group; a single child is itself."""
    return children[0] if len(children) == 1 else element("mrow", *children)


def fence(mark: str) -> str:
    """A bracket or bar that does not stretch."""
    return f'<mo fence="true" stretchy="false">{mark}</mo>'


def enclosed(left: str, inner: str, right: str) -> str:
    """The inner part between brackets that stretch."""
    return row(element("mo", left), inner, element("mo", right))


def markup(expression: Expr, show: Show, terms: Terms) -> str:
    """MathML of an expression; a symbol is shown by `show`, a sum in the order of `terms`."""
    return _Walk(show, terms).expression(expression)


class _Walk:
    def __init__(self, show: Show, terms: Terms) -> None:
        self.show, self.terms = show, terms

    def expression(self, expr: Expr) -> str:
        if expr.is_Add:
            return self._sum(expr)
        if (expr.is_Rational and expr.p < 0) or (expr.is_Mul and expr.could_extract_minus_sign()):
            return row(element("mo", "−"), self._factor(-expr))
        if expr.is_Mul or (expr.is_Pow and expr.exp.is_number and expr.exp.is_negative):
            return self._product(expr)
        if isinstance(expr, Rational):
            return _number(expr)
        if isinstance(expr, Symbol):
            return self.show(expr)
        if expr in (E, pi):
            return element("mi", "e" if expr == E else "π")
        if isinstance(expr, exp):
            return element("msup", element("mi", "e"), self.expression(expr.args[0]))
        if isinstance(expr, Pow):
            return self._power(expr)
        return self._function(expr)

    def _sum(self, expr: Expr) -> str:
        parts: list[str] = []
        for term in self.terms(expr):
            negative = term.could_extract_minus_sign()
            if parts or negative:
                parts.append(element("mo", "−" if negative else "+"))
            parts.append(self._factor(-term if negative else term))
        return row(*parts)

    def _factor(self, expr: Expr) -> str:
        inner = self.expression(expr)
        return enclosed("(", inner, ")") if expr.is_Add else inner

    def _product(self, expr: Expr) -> str:
        number, rest = expr.as_coeff_Mul()
        over: list[Expr] = []
        under: list[Expr] = []
        for factor in Mul.make_args(rest):
            inverse = factor.is_Pow and factor.exp.is_number and factor.exp.is_negative
            (under if inverse else over).append(1 / factor if inverse else factor)
        over.sort(key=lambda factor: bool(factor.is_Add))
        leading = ""
        if number.q == 1 or number.p == 1:
            over = [Rational(number.p), *over] if number.p != 1 else over
            under = [Rational(number.q), *under] if number.q != 1 else under
        else:
            leading = _number(number) + TIMES
        if not under:
            return row(leading + self._factors(over))
        fraction = element("mfrac", self._factors(over), self._factors(under))
        return row(leading, fraction) if leading else fraction

    def _factors(self, factors: list[Expr]) -> str:
        if not factors:
            return element("mn", "1")
        if len(factors) == 1:
            return self.expression(factors[0])
        return element("mrow", TIMES.join(self._factor(factor) for factor in factors))

    def _power(self, expr: Expr) -> str:
        base, exponent = expr.args
        if exponent == Rational(1, 2):
            return element("msqrt", self.expression(base))
        plain = isinstance(base, Symbol) or (base.is_Integer and base >= 0)
        inner = self.expression(base)
        return element(
            "msup", inner if plain else enclosed("(", inner, ")"), row(self.expression(exponent))
        )

    def _function(self, expr: Expr) -> str:
        inner = [self.expression(argument) for argument in expr.args]
        if isinstance(expr, Abs):
            return row(fence("|"), inner[0], fence("|"))
        if isinstance(expr, ceiling_function):
            return row(element("mo", "⌈"), inner[0], element("mo", "⌉"))
        if isinstance(expr, floor_function):
            return row(element("mo", "⌊"), inner[0], element("mo", "⌋"))
        if isinstance(expr, LambertW):
            branch = inner[1] if len(inner) > 1 else element("mn", "0")
            name = element("msub", element("mi", "W"), branch)
            return row(name, APPLY, enclosed("(", inner[0], ")"))
        names = {logarithm: "ln", gamma: "Γ", Max: "max", Min: "min"}
        if isinstance(expr, Function | Max | Min):
            name = element("mi", escape(names.get(type(expr), expr.func.__name__)))
            return row(name, APPLY, enclosed("(", element("mo", ",").join(inner), ")"))
        return element("mtext", escape(str(expr)))


def _number(number: Rational) -> str:
    if number.q == 1:
        return element("mn", str(number.p))
    return element("mfrac", element("mn", str(number.p)), element("mn", str(number.q)))


def notation_markup(latex: str) -> str:
    """MathML of a quantity's notation: letters, fences, primes, hats, sub- and superscripts."""
    return row(*_parse(iter(_tokens(latex))))


def _tokens(latex: str) -> list[str]:
    return ["\\" + m[1] if m[1] else m[0] for m in TOKEN.finditer(latex)]


def _parse(tokens: Iterator[str]) -> list[str]:
    parts: list[str] = []
    scripts: list[dict[str, str]] = []
    for token in tokens:
        if token == "}":
            break
        if token in "_^":
            scripts[-1][token] = _group(tokens)
            continue
        parts.append(_atom(token, tokens))
        scripts.append({})
    return [_scripted(part, script) for part, script in zip(parts, scripts, strict=True)]


def _group(tokens: Iterator[str]) -> str:
    token = next(tokens)
    return row(*_parse(tokens)) if token == "{" else _atom(token, tokens)


def _atom(token: str, tokens: Iterator[str]) -> str:
    if token in ACCENTS:
        return element("mover", _group(tokens), element("mo", ACCENTS[token]))
    name = token.removeprefix("\\")
    if name in FENCES:
        return fence(FENCES[name])
    if name in LETTERS and token.startswith("\\"):
        return element("mi", LETTERS[name])
    if token == "'":
        return element("mo", "′")
    if name.isalpha():
        return element("mi", name)
    return element("mn" if token.isdigit() else "mo", "−" if token == "-" else escape(token))


def _scripted(part: str, script: dict[str, str]) -> str:
    match script:
        case {"_": below, "^": above}:
            return element("msubsup", part, below, above)
        case {"_": below}:
            return element("msub", part, below)
        case {"^": above}:
            return element("msup", part, above)
    return part
