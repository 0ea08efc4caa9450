"""Requirements of quantities on an attack's batches: measured ones, and certified constants."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Needs:
    """Requirements of a quantity on the batches on which its statements are tested.

    most: largest (systems, sequences) of a batch that only exact decisions read, or one module at a
    time. room: (systems, sequences) up to which more cost no more. apart: True if forms with it are
    attacked separately, so that they do not slow down their claim's others. wide: True to add
    systems that only a weighted norm certifies. slow: True if a step of ascent takes several times
    as long. trained: True to draw cells with a loss and train them. rounding: True to add extremal
    instances on which rounding accumulates. longest: largest length of its extremal runs.
    """

    most: tuple[int, int] | None = None
    room: tuple[int, int] | None = None
    apart: bool = False
    wide: bool = False
    slow: bool = False
    trained: bool = False
    rounding: bool = False
    longest: int | None = None


NO_NEEDS = Needs()
WEIGHTED = Needs(wide=True, slow=True)  # in a norm that is certified anew at each step of an ascent
MODULES = Needs(most=(4, 2))  # run module by module
SWEPT = Needs(room=(128, 1))  # one adjoint sweep reads many systems as fast as few
GATED, FEW, MANY = Needs(most=(12, 8)), Needs(most=(16, 1)), Needs(room=(48, 1))
SMALL = Needs(most=(24, 2))
NEEDS: dict[str, Needs] = {
    # Weighted norms are certified anew at every step of an ascent.
    "W_radius": Needs(most=(8, 8), wide=True, slow=True),
    "lam_P": Needs(most=(8, 8), wide=True, slow=True),
    "kappa": Needs(most=(8, 8), wide=True, slow=True),
    "lam_D": Needs(most=(24, 8), wide=True, slow=True),
    "lam_v": Needs(most=(24, 8), wide=True, slow=True),
    "L_w_P": Needs(most=(8, 2), wide=True, slow=True, apart=True),
    "L_w_v": Needs(most=(16, 2), wide=True, slow=True, apart=True),
    "beta_ends": Needs(most=(4, 1)),
    "S_0_box": Needs(most=(16, 2)),
    "C_box": Needs(most=(16, 2)),
    "L_w_box": Needs(most=(8, 1)),
    "L_w_omega": Needs(most=(24, 2)),
    **dict.fromkeys(("step_gap_P", "step_gap_D", "step_gap_v"), WEIGHTED),
    **dict.fromkeys(("forward_gap", "field_gap", "edge_gap", "padding_gap", "recurrent_gap"),
                    MODULES),
    **dict.fromkeys(("causal_gap", "causal_edge_gap"), Needs(most=(2, 2))),
    "dh_dx": Needs(most=(16, 2)),
    "h_rounding": Needs(most=(4, 2), rounding=True),
    "W_norm_exact": FEW,
    "grad_gap": Needs(room=(448, 1)),
    "grad_gap_mean": Needs(most=(16, 2), apart=True, slow=True, longest=64),
    **dict.fromkeys(("tbptt_gap", "tb_gap"), SWEPT),
    "dphi_w_gap": Needs(most=(16, 4)),
    "dphi_h_gap": Needs(most=(16, 2)),
    **dict.fromkeys(("gate_gap", "gate_gap_w", "gate_gap_box", "wide_gap", "c_size", "h_size",
                     "run_gap"), GATED),
    "w_gap": Needs(most=(16, 1), trained=True),
    **dict.fromkeys(("trained_gap", "proj_gap", "rescaled_gap", "proj_distance"), FEW),
    **dict.fromkeys(("unitary_gap", "unitary_gap_unbiased", "unitary_gap_undamped",
                     "unitary_gap_unstarted", "unitary_gap_scant", "unitary_gap_rescaled",
                     "similar_gap", "similar_gap_relu"), SMALL),
    **dict.fromkeys(("unitary_gap_beyond", "unitary_defect", "defect_rank", "multiplicity"), MANY),
    "dh_dh": Needs(most=(16, 2)),
    "lag_gradient": Needs(most=(16, 2), longest=32),
    **dict.fromkeys(("lag_gradient_full", "lag_gradient_cut"), Needs(most=(4, 2), longest=32)),
    **dict.fromkeys(("separation", "sigmoid_gap", "sample_rank"), FEW),
}  # fmt: skip
