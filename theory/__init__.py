"""Statements with explicit constants, their proofs and false variants: the claims.

>>> print(theory.claim("Lemma 2"))
"""

from rnnbounds.theory.claims.table import CLAIMS
from rnnbounds.theory.errors import UnknownClaimError
from rnnbounds.theory.proof import Claim

__all__ = ["CLAIMS", "claim"]


def claim(name: str) -> Claim:
    """The claim of this id, of this title, or of this number in its source; case does not matter.

    `claim("gradient-gap")` and `claim("Lemma 2")` are one. Its `forms` are its statements, each
    with its `assumptions` and `proof`; it has a `source` and `false_variants` too.

    Raises:
        UnknownClaimError: no claim or several have the name; lists the close matches.
    """
    wanted = name.casefold()
    for entry in CLAIMS:
        if entry.id == wanted:
            return entry
    found = [e for e in CLAIMS if wanted in (e.title.casefold(), e.source.number.casefold())]
    if len(found) == 1:
        return found[0]
    raise UnknownClaimError("claim", name, [entry.id for entry in found or CLAIMS])
