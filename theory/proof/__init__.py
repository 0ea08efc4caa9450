"""Claims and their proofs: forms that end with their statement, steps by the methods of proof."""

from rnnbounds.theory.proof.claim import (
    Claim,
    Elsewhere,
    Form,
    Source,
    Variant,
    prove,
    prove_variant,
)
from rnnbounds.theory.proof.proof import Proof, Step, check
from rnnbounds.theory.proof.steps import Claimed, premises, step, theorem
from rnnbounds.theory.proof.variants import instead, scaled, thousandth_less

__all__ = [
    "Claim", "Claimed", "Elsewhere", "Form", "Proof", "Source", "Step", "Variant", "check",
    "instead", "premises", "prove", "prove_variant", "scaled", "step", "theorem",
    "thousandth_less",
]  # fmt: skip
