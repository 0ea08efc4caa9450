"""Causal models with a memory that is known: windowed attention, a selective scan, a smoother."""

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention, softplus


class LocalAttention(torch.nn.Module):
    """One head of attention over the last `width` inputs, of d channels."""

    def __init__(self, d: int, width: int) -> None:
        super().__init__()
        self.parts = torch.nn.ModuleList([torch.nn.Linear(d, d) for _ in range(3)])
        self.width = width

    def forward(self, x: Tensor) -> Tensor:
        """(N, T, d) -> (N, T, d)."""
        ago = torch.arange(x.shape[1])[:, None] - torch.arange(x.shape[1])
        q, k, v = (part(x) for part in self.parts)
        return scaled_dot_product_attention(q, k, v, attn_mask=(ago >= 0) & (ago < self.width))


class SelectiveScan(torch.nn.Module):
    """Mamba's recurrence h⁺ = exp(−Δ(x) a)∘h + Δ(x) B x, y = C h, without its convolution."""

    def __init__(self, d: int, n: int) -> None:
        super().__init__()
        self.delta, self.into = torch.nn.Linear(d, n), torch.nn.Linear(d, n)
        self.out = torch.nn.Linear(n, d)
        self.log_a = torch.nn.Parameter(torch.zeros(n))

    def forward(self, x: Tensor) -> Tensor:
        """(N, T, d) -> (N, T, d)."""
        step, h, found = softplus(self.delta(x)), 0.0, []
        decay, drive = torch.exp(-step * self.log_a.exp()), step * self.into(x)
        for t in range(x.shape[1]):
            h = decay[:, t] * h + drive[:, t]
            found.append(self.out(h))
        return torch.stack(found, 1)


class Smoother(torch.nn.Module):
    """y_t = Σ_j ratio^j x_(t−j), in float64: truncated to k inputs of 1 it lacks ratio^k … ."""

    def __init__(self, ratio: float) -> None:
        super().__init__()
        self.register_parameter("ratio", torch.nn.Parameter(torch.tensor(ratio).double()))

    def forward(self, x: Tensor) -> Tensor:
        """(N, T, d) -> (N, T, d)."""
        h, found = torch.zeros_like(x[:, 0]), []
        for inputs in x.unbind(1):
            h = self.ratio * h + inputs
            found.append(h)
        return torch.stack(found, 1)


class TokenModel(torch.nn.Module):
    """Logits over the vocabulary from the last `width` tokens."""

    def __init__(self, vocabulary: int, d: int, width: int) -> None:
        super().__init__()
        self.embed = torch.nn.Embedding(vocabulary, d)
        self.body = LocalAttention(d, width)
        self.head = torch.nn.Linear(d, vocabulary)

    def forward(self, tokens: Tensor) -> Tensor:
        """(N, T) -> (N, T, vocabulary)."""
        return self.head(self.body(self.embed(tokens)))


def seeded(make, *sizes, **how) -> torch.nn.Module:
    """The module with the first weights of seed 0, in evaluation mode."""
    torch.manual_seed(0)
    return make(*sizes, **how).eval()
