"""What reading a quantity asks of an attack: a field of its measure.

Certified constants have no measure: what supplying one asks is entered here.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Needs:
    """What statements about a quantity ask of the batches that they are shown.

    most: systems and sequences of a batch at most, of what the referee alone reads, or module by
    module. room: systems and sequences where few cost no less than many. apart: forms that speak
    of it are attacked by themselves, so that they do not slow down their claim's others. wide:
    systems that only a weighted norm certifies are worth attacking. slow: a step of ascent takes
    several times as long. trained: cells are drawn with a loss and descend. rounding: instances on
    which rounding accumulates are extremal. longest: the extremal runs that it is read on, at most.
    """

    most: tuple[int, int] | None = None
    room: tuple[int, int] | None = None
    apart: bool = False
    wide: bool = False
    slow: bool = False
    trained: bool = False
    rounding: bool = False
    longest: int | None = None


NOTHING = Needs()
CONSTANTS: dict[str, Needs] = {
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
}
