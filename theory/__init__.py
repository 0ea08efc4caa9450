"""What is claimed: statements with explicit constants, their proofs and their false variants."""

from theory.claims.table import CLAIMS
from theory.errors import UnknownClaimError
from theory.proof import Claim

__all__ = ["CLAIMS", "claim"]


def claim(id: str) -> Claim:
    """The claim of this id; raises UnknownClaimError, which lists the close matches."""
    for entry in CLAIMS:
        if entry.id == id:
            return entry
    raise UnknownClaimError("claim", id, [entry.id for entry in CLAIMS])
