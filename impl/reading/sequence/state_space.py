"""S4D and S5, as their authors save them.

S4D's kernel (PyTorch) has log_dt (H,), log_A_real and A_imag (H, N): channel h is a diagonal
system that input h alone feeds, with B = 1. S5's layer (JAX) has Lambda_re and Lambda_im (P,),
log_step (P, 1) and B (P, H, 2). Both are the cell `diagonal`, by the zero-order hold. S5's
`clip_eigs`, which no tensor tells of, changes nothing unless a real part is above −10⁻⁴: then the
layer is refused.
Sources: Gu et al., On the parameterization and initialization of diagonal state space models
(2022); Smith et al., S5 (2023).
"""

from collections.abc import Mapping

from torch import Tensor

from rnnbounds.impl.cells.layout import Layout
from rnnbounds.impl.cells.scans.diagonal import from_s4d
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.reading.sequence.family import Family, Recurrence, Settings, widened

_CLIPPED = -1e-4


def _s4d(tensors: Mapping[str, Tensor], channels: slice, settings: Settings) -> Recurrence:
    names = ("log_dt", "log_A_real", "A_imag")
    weights = from_s4d(widened({name: tensors[name][channels] for name in names}))
    return Recurrence(
        "diagonal", weights, f"the channels' own ({len(tensors['log_dt'][channels])})"
    )


def _s5(tensors: Mapping[str, Tensor], channels: slice, settings: Settings) -> Recurrence:
    re, B = tensors["Lambda_re"][channels], tensors["B"][channels]
    if not bool((re <= _CLIPPED).all()):
        what = "Lambda_re is above -0.0001 somewhere, where S5 may clip it (clip_eigs)"
        raise InputError(
            f"{what}; save min(Lambda_re, -0.0001) if it does, or leave such units out"
        )
    weights = {
        "Lambda_re": re, "Lambda_im": tensors["Lambda_im"][channels],
        "log_step": tensors["log_step"][channels, 0], "B_re": B[..., 0], "B_im": B[..., 1],
    }  # fmt: skip
    return Recurrence("diagonal", widened(weights), "the layer's inputs")


FAMILIES = (
    Family(
        "S4D",
        Layout(
            {"log_A_real": "h s", "A_imag": "h s", "log_dt": "h", "C": "h s 2", "D": "h"},
            ("C", "D"),
        ),
        ("log_A_real", "A_imag", "log_dt"),
        (),
        "h",
        lambda sizes, count: (2 * count * sizes["s"], count),
        _s4d,
    ),
    Family(
        "S5",
        Layout(
            {
                "Lambda_re": "p", "Lambda_im": "p", "log_step": "p 1", "B": "p h 2", "C": "h p 2",
                "D": "h",
            },
            ("C", "D"),
        ),
        ("Lambda_re", "Lambda_im", "log_step", "B"),
        (),
        "p",
        lambda sizes, count: (2 * count, sizes["h"]),
        _s5,
    ),
)  # fmt: skip
