"""The limits of unitary networks: 2n states for ReLU, none that are enough for sigmoid."""

from rnnbounds import theory
from rnnbounds.theory.proof import prove

INDEPENDENCE = {"Ax's theorem", "algebraic elements", "free abelian groups", "poles"}


def test_the_claims_rest_on_theorems_of_textbooks() -> None:
    """Ranks alone for ReLU; for sigmoids units are independent by Ax's theorem, and U returns."""
    tight, sigmoid = theory.claim("urnn-tight"), theory.claim("urnn-sigmoid")
    for ledger in prove(tight):
        assert ledger.proved
        assert set(ledger.axioms) == {"rank-nullity", "norm"}
    for ledger in prove(sigmoid):
        assert ledger.proved
        assert INDEPENDENCE | {"Bolzano-Weierstrass theorem"} <= set(ledger.axioms)
