"""Torch's own layers, with recurrent weights made small or large."""

import torch
from draws import normal

MODULES = {
    "rnn-tanh": (torch.nn.RNN, {}, 0.5),
    "rnn-relu": (torch.nn.RNN, {"nonlinearity": "relu"}, 0.5),
    "lstm": (torch.nn.LSTM, {}, 0.15),
    "gru": (torch.nn.GRU, {}, 0.1),
    "lstm-projected": (torch.nn.LSTM, {"proj_size": 3}, 0.4),
}


def net(name: str, layers: int, *, seed: int = 0, scale: float | None = None, **options):
    """torch's module of that many layers, d = 3 and n = 5, with recurrent weights times the scale;
    what feeds a layer above the first is halved."""
    torch.manual_seed(seed)
    make, more, usual = MODULES[name]
    module = make(3, 5, num_layers=layers, batch_first=True, **more, **options)
    with torch.no_grad():
        for role, part in module.named_parameters():
            if "weight_hh" in role:
                part.mul_(usual if scale is None else scale)
            elif "weight_ih" in role and not role.endswith("_l0"):
                part.mul_(0.5)
    return module


def inputs(*, bound: float = 1.0, seed: int = 0, T: int = 30, dtype=torch.float64) -> torch.Tensor:
    """Sequences (8, T, 3) with ‖x_t‖₂ = bound: at random, constant, and switching late."""
    x = normal(8, T, 3, seed=seed)
    x[2:5] = x[2:5, :1]
    x[5:, : T // 2] = x[5:, :1]
    x[5:, T // 2 :] = -x[5:, :1]
    return (bound * (1 - 2**-40) * x / x.norm(dim=2, keepdim=True)).to(dtype)
