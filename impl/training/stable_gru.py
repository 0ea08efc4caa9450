"""A stable set of GRUs in torch's convention, made after Miller & Hardt's of LSTMs.

For a bound z̄ < 1 on the update gate and θ < 1 a GRU is in the set if, unit by unit,

    ‖W_n‖₁ ≤ θ/2,  ‖W_r‖₁ ≤ 2θ/3,  ‖W_z‖₁ ≤ θ(1 − z̄)/2  (rows),  |c_n| ≤ 1,
    ‖U_z‖₂ B + b_z ≤ logit z̄ − θ(1 − z̄)/2,     b_z = b_ih + b_hh,   c_n = b_hh of the candidate,

the last of which keeps the update gate at most z̄ for all |h| ≤ 1 and ‖x‖₂ ≤ B. Then one step
contracts by λ ≤ 1 − (1 − θ)(1 − z̄) in the ∞-norm on |h| ≤ 1, which it never leaves.

Proof. The candidate ν = tanh(… + r∘w), w = W_n h + c_n, moves by at most κ‖Δh‖_∞ with
κ = ‖W_n‖ + ¼‖W_r‖(‖W_n‖ + ‖c_n‖) ≤ θ/2 + ¼(2θ/3)(θ/2 + 1) ≤ θ/2 + ¼(2θ/3)(3/2) = ¾θ, since r ≤ 1,
|σ′| ≤ ¼, |tanh′| ≤ 1 and θ ≤ 1. And h⁺ = z∘h + (1 − z)∘ν moves by at most ζ + (1 − ζ)κ for some
ζ ≤ z̄, which grows with ζ as κ < 1, and by |h − ν||Δz| ≤ 2·¼‖W_z‖: in all by at most
z̄ + (1 − z̄)¾θ + θ(1 − z̄)/4 = 1 − (1 − θ)(1 − z̄). Sources: Cho et al. (2014); Miller & Hardt,
section 4 and Proposition 1, for the LSTM.
"""

from rnnbounds.impl.training.stable_gates import N, StableGates


class StableGRU(StableGates):
    """The set for θ, z̄ and B. Raises RangeError unless 0 ≤ θ < 1, 0 < z̄ < 1 and 0 ≤ B < ∞, and for
    θ and z̄ so near to 1 that the factor rounds to 1."""

    gates, keeps, kept_by, limited = "rzn", "z", "update", "n"

    @staticmethod
    def sizes(theta: N, rest: N) -> dict[str, N]:
        """The ℓ1 radius of the rows of each gate's W."""
        return {"r": 2 * theta / 3, "z": theta * rest / 2, "n": theta / 2}
