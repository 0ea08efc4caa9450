"""Records of what claims speak of: the symbols of their statements, and the works they cite.

Formulas are presentation MathML; a text that is `typeset` has <math> elements in it.
"""

import msgspec


class Symbol(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A quantity: its name in records, notation, meaning, norm or unit, and formal definition.

    `role` is parameter, certified or measured; only what is measured has a definition.
    """

    name: str
    notation: str
    mathml: str
    meaning: str
    typeset: str
    norm: str
    norm_typeset: str
    role: str
    definition: str = ""
    definition_mathml: str = ""


class Work(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A cited work, and the address of its text; the address is empty where there is none."""

    title: str
    url: str = ""
