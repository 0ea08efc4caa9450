"""Claims and their proofs: forms that end with their statement, steps by the methods of proof."""

from rnnbounds.theory.proof.claim import (
    Claim,
    Form,
    Source,
    Variant,
    prove,
    prove_variant,
)
from rnnbounds.theory.proof.proof import Ledger, Proof, Step, check
from rnnbounds.theory.proof.steps import FormStatement, premises, step, theorem
from rnnbounds.theory.proof.variants import scale, swap, thousandth_less

__all__ = [
    "Claim", "Form", "FormStatement", "Ledger", "Proof", "Source", "Step", "Variant", "check",
    "premises", "prove", "prove_variant", "scale", "step", "swap", "theorem", "thousandth_less"
]  # fmt: skip
