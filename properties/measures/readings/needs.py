"""Requirements of quantities on an attack's batches: measured ones, and certified constants."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Needs:
    """Requirements of a quantity on the batches on which its statements are tested.

    max_size: largest (systems, sequences) of a batch that only exact decisions read, or one module
    at a time. efficient_size: (systems, sequences) up to which more cost no more. wide:
    True to add systems that only a weighted norm certifies. slow: True if a step of ascent takes
    several times as long. trained: True to draw cells with a loss and train them.
    """

    max_size: tuple[int, int] | None = None
    efficient_size: tuple[int, int] | None = None
    wide: bool = False
    slow: bool = False
    trained: bool = False


NO_NEEDS = Needs()
WEIGHTED = Needs(wide=True, slow=True)  # in a norm that is certified anew at each step of an ascent
MODULES = Needs(max_size=(4, 2))  # run module by module
SWEPT = Needs(efficient_size=(128, 1))  # one adjoint sweep reads many systems as fast as few
GATED, FEW, MANY = Needs(max_size=(12, 8)), Needs(max_size=(16, 1)), Needs(efficient_size=(48, 1))
SMALL = Needs(max_size=(24, 2))
NEEDS: dict[str, Needs] = {
    # Weighted norms are certified anew at every step of an ascent.
    "W_radius": Needs(max_size=(8, 8), wide=True, slow=True),
    "lam_P": Needs(max_size=(8, 8), wide=True, slow=True),
    "lam_D": Needs(max_size=(24, 8), wide=True, slow=True),
    "lam_v": Needs(max_size=(24, 8), wide=True, slow=True),
    "S_0_box": Needs(max_size=(16, 2)),
    "C_box": Needs(max_size=(16, 2)),
    "L_w_box": Needs(max_size=(8, 1)),
    "L_w_omega": Needs(max_size=(24, 2)),
    **dict.fromkeys(("step_gap_P", "step_gap_D", "step_gap_v"), WEIGHTED),
    **dict.fromkeys(("forward_gap", "field_gap"), MODULES),
    "causal_gap": Needs(max_size=(2, 2)),
    "dh_dx": Needs(max_size=(16, 2)),
    "grad_gap": Needs(efficient_size=(448, 1)),
    **dict.fromkeys(("tbptt_gap", "tb_gap"), SWEPT),
    "dphi_w_gap": Needs(max_size=(16, 4)),
    "dphi_h_gap": Needs(max_size=(16, 2)),
    **dict.fromkeys(("gate_gap", "gate_gap_box", "c_size", "h_size", "run_gap"), GATED),
    "w_gap": Needs(max_size=(16, 1), trained=True),
    **dict.fromkeys(("trained_gap", "proj_gap", "proj_distance"), FEW),
    **dict.fromkeys(("unitary_gap", "similar_gap"), SMALL),
    **dict.fromkeys(("unitary_defect", "defect_rank"), MANY),
    "dh_dh": Needs(max_size=(16, 2)),
    **dict.fromkeys(("separation", "sigmoid_gap"), FEW),
}  # fmt: skip
