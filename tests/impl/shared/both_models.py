"""Modules of torch in both directions that contract, and what they make of windows."""

import torch

MODULES = {"rnn-tanh": torch.nn.RNN, "lstm": torch.nn.LSTM, "gru": torch.nn.GRU}


def both(cell="gru", layers=1, n=3, d=2, scale=0.4, seed=0, dtype=torch.float32, **options):
    """A module in both directions, batch first."""
    torch.manual_seed(seed)
    sizes = {"num_layers": layers, "bidirectional": True, "batch_first": True}
    module = MODULES[cell](d, n, **sizes, **options)
    with torch.no_grad():
        for part in module.parameters():
            part *= scale
    return module.to(dtype)


def inputs(N=2, T=12, d=2, seed=1, dtype=torch.float32):
    """Inputs (N, T, d) with ‖x_t‖₂ just below 1."""
    x = torch.randn(N, T, d, generator=torch.Generator().manual_seed(seed))
    return (x / x.norm(dim=2, keepdim=True) * (1 - 2.0**-12)).to(dtype)


def by_windows(module, x, past, future):
    """All outputs (N, T, n), each from the window t − past, …, t + future alone, by torch."""
    outputs = []
    for t in range(x.shape[1]):
        start = max(0, t - past)
        outputs.append(module(x[:, start : t + future + 1])[0][:, t - start])
    return torch.stack(outputs, dim=1)
