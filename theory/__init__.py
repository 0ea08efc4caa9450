"""Statements with explicit constants, their proofs and false variants: the claims.

>>> print(theory.claim("Lemma 2"))
"""

import sys

from rnnbounds.theory.claims import table
from rnnbounds.theory.errors import UnknownClaimError
from rnnbounds.theory.proof import Claim

__all__ = ["CLAIMS", "claim"]

CLAIMS: tuple[Claim, ...]


def __getattr__(name: str) -> tuple[Claim, ...]:
    if name != "CLAIMS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = claims = table.CLAIMS
    return claims


def claim(name: str) -> Claim:
    """The claim of this id, of this title, or of this number in its source; case does not matter.

    `claim("gradient-gap")` and `claim("Lemma 2")` are one. Its `forms` are its statements, each
    with its `assumptions` and `proof`; it has a `source` and `false_variants` too.

    >>> rnnbounds.theory.claim("truncation").form("finite").assumptions

    Raises:
        UnknownClaimError: no claim or several have the name; lists the close matches.
    """
    wanted = name.casefold()
    if "CLAIMS" not in globals() and (own := table.claim_of_module(wanted)):
        return own
    claims: tuple[Claim, ...] = sys.modules[__name__].CLAIMS
    for entry in claims:
        if entry.id == wanted:
            return entry
    found = [e for e in claims if wanted in (e.title.casefold(), e.source.number.casefold())]
    if len(found) == 1:
        return found[0]
    raise UnknownClaimError("claim", name, [entry.id for entry in found or claims])
