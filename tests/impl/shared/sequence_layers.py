"""Tiny layers of sequence models as state dicts, by the names that each library gives them."""

import torch
from torch import Tensor

State = dict[str, Tensor]


def drawn(shapes: dict[str, tuple[int, ...]], prefix: str = "", seed: int = 0) -> State:
    """Normal tensors of these shapes in float32."""
    by = torch.Generator().manual_seed(seed)
    return {prefix + name: torch.randn(shape, generator=by) for name, shape in shapes.items()}


def mamba(prefix: str = "layers.0.mixer.", seed: int = 0) -> State:
    """Mamba: I = 4 channels of N = 3 states, R = 2, m = 2."""
    return drawn(
        {
            "A_log": (4, 3), "D": (4,), "dt_proj.weight": (4, 2), "dt_proj.bias": (4,),
            "x_proj.weight": (8, 4), "in_proj.weight": (8, 2), "conv1d.weight": (4, 1, 3),
            "conv1d.bias": (4,), "out_proj.weight": (2, 4),
        },
        prefix, seed,
    )  # fmt: skip


def mamba_2(prefix: str = "mixer.") -> State:
    """Mamba-2: 2 heads of 2 channels, N = 3, one group."""
    return drawn(
        {
            "A_log": (2,), "dt_bias": (2,), "D": (2,), "in_proj.weight": (16, 2),
            "conv1d.weight": (10, 1, 3), "conv1d.bias": (10,), "norm.weight": (4,),
            "out_proj.weight": (2, 4),
        },
        prefix,
    )  # fmt: skip


def rg_lru(authors: bool = False) -> State:
    """RG-LRU: two blocks of 2 units."""
    names = ("recurrent_param", "recurrent_gate_weight", "recurrent_gate_bias",
             "input_gate_weight", "input_gate_bias")  # fmt: skip
    if authors:
        names = ("a_param", "a_gate.w", "a_gate.b", "input_gate.w", "input_gate.b")
    shapes = ((4,), (2, 2, 2), (2, 2), (2, 2, 2), (2, 2))
    return drawn(dict(zip(names, shapes, strict=True)), "rg_lru.")


def rwkv(authors: bool = False) -> State:
    """RWKV-4 of 4 channels."""
    ends = ("k", "v", "r") if authors else ("key", "value", "receptance")
    shapes = {"time_decay": (4,), "time_first": (4,)}
    shapes |= {f"time_mix_{end}": (1, 1, 4) for end in ends}
    maps = ("key", "value", "receptance", "output")
    return drawn(shapes | {f"{name}.weight": (4, 4) for name in maps}, "att.")


def mlstm(gate: str = "fgate_preact") -> State:
    """mLSTM of 2 heads and 4 inputs: single, fused, or the authors' first cell."""
    if gate == "fgate":
        gates = {f"{one}gate.{of}": (2, 4)[: 2 if of == "weight" else 1]
                 for one in "fi" for of in ("weight", "bias")}  # fmt: skip
        return drawn({**gates, "outnorm.weight": (4,)}, "mlstm_cell.")
    if gate == "ifgate_preact":
        shapes = {"ifgate_preact.weight": (4, 4), "ifgate_preact.bias": (4,),
                  "qkv_opreact.weight": (12, 4)}  # fmt: skip
    else:
        shapes = {f"{one}gate_preact.{of}": (2, 4)[: 2 if of == "weight" else 1]
                  for one in "fi" for of in ("weight", "bias")}  # fmt: skip
        shapes |= {f"{one}.weight": (2, 4) for one in "qk"}
        shapes |= {"v.weight": (4, 4), "ogate_preact.weight": (4, 4)}
    return drawn(
        {**shapes, "multihead_norm.weight": (4,), "out_proj.weight": (4, 4)}, "mlstm_layer."
    )


def s4d() -> State:
    """S4D's kernel of 3 channels with 2 states each."""
    held = {"C": (3, 2, 2), "log_dt": (3,), "log_A_real": (3, 2), "A_imag": (3, 2)}
    return drawn(held, "kernel.")


def s5() -> State:
    """S5 of 3 states and 2 inputs."""
    held = {"Lambda_re": (3,), "Lambda_im": (3,), "log_step": (3, 1), "B": (3, 2, 2),
            "C": (2, 3, 2), "D": (2,)}  # fmt: skip
    state = drawn(held, "seq.")
    return state | {"seq.Lambda_re": -state["seq.Lambda_re"].abs() - 0.1}
