"""Terms as they are typed."""

from __future__ import annotations

from rnnbounds.theory.kernel import heads, terms
from rnnbounds.theory.kernel.algebra import power, split, whole_power


@terms.prints
def shown(term: terms.Term) -> str:
    """The term as it is typed: `T - k`, `S_0*lam**k/(1 - lam)`, `sqrt(z)`."""
    head = term.head
    if head is heads.SUM:
        # What is added first, and numbers last.
        parts = sorted(term.args, key=lambda part: (split(part)[0] < 0, part.head is heads.NUMBER))
        first, *rest = map(shown, parts)
        return first + "".join(f" - {p[1:]}" if p[0] == "-" else f" + {p}" for p in rest)
    if head is heads.PRODUCT:
        return _shown_product(term)
    if head is heads.POWER:
        base, exponent = term.args
        if exponent is terms.HALF:
            return f"sqrt({shown(base)})"
        if exponent.head is heads.NUMBER and exponent.whole and exponent.value < 0:
            return _shown_product(term)
        return f"{_factor(base, heads.POWER)}**{_factor(exponent, heads.POWER)}"
    if not term.args:
        return str(term.value) if head is heads.NUMBER else f"{head.name}{chr(39) * head.mark}"
    return f"{head.name}({', '.join(map(shown, term.args))})"


def _shown_product(term: terms.Term) -> str:
    factor, rest = split(term)
    parts = rest.args if rest.head is heads.PRODUCT else (rest,)
    above, below = [], []
    for part in parts:
        base, exponent = whole_power(part)
        if exponent < 0:
            below.append(_factor(power(base, terms.number(-exponent))))
        elif part is not terms.ONE:
            above.append(_factor(part))
    if abs(factor.numerator) != 1 or not above:
        above.insert(0, str(abs(factor.numerator)))
    if factor.denominator != 1:
        below.insert(0, str(factor.denominator))
    sign, top, bottom = "-" if factor < 0 else "", "*".join(above), "*".join(below)
    if not bottom:
        return f"{sign}{top}"
    return f"{sign}{top}/{bottom}" if len(below) == 1 else f"{sign}{top}/({bottom})"


def _factor(term: terms.Term, within: heads.Head = heads.PRODUCT) -> str:
    """The term in parentheses where it needs some."""
    compound = {heads.PRODUCT: (heads.SUM,), heads.POWER: (heads.SUM, heads.PRODUCT, heads.POWER)}[
        within
    ]
    negative = term.head is heads.NUMBER and (term.value < 0 or term.value.denominator > 1)
    quotient = term.head is heads.POWER and whole_power(term)[1] < 0
    return f"({shown(term)})" if term.head in compound or negative or quotient else shown(term)
