"""Models that were trained freely, in seconds: what is certified of them from recorded pasts.

An LSTM and a GRU of 32 units on the yearly sunspot numbers, three layers of 25 tanh units on rows
of digits, an LSTM of 64 units on letters; all inputs within 1e-3, from every one of 20 recorded
end states within 1e-3 of the range of each entry. k is that of ε = 5 % of the largest ‖h‖.
"""

import string
from pydoc_data import topics

import pytest
import torch
from torch import Tensor

from rnnbounds.impl.memory.runs import Runner
from rnnbounds.impl.memory.tube.pasts import NEAR, PASTS, AfterPasts, end_states, later, radius
from rnnbounds.impl.reading.adapters import load_model

DELTA, TRIED, SLACK = 1e-3, 8, 1e-9
pytestmark = pytest.mark.slow


def sunspots() -> tuple[Tensor, Tensor]:
    """The series, and the next number."""
    datasets = pytest.importorskip("statsmodels.datasets")
    years = torch.tensor(datasets.sunspots.load_pandas().data["SUNACTIVITY"].to_numpy())
    x = ((years - years[:-60].mean()) / years[:-60].std(correction=0))[:, None].float()
    return x[:-1], x[1:]


def digits() -> tuple[Tensor, Tensor]:
    """Rows of 8 pixels of one image after another, and the next row."""
    datasets = pytest.importorskip("sklearn.datasets")
    x = torch.tensor(datasets.load_digits().images[:400] / 16).float().reshape(-1, 8)
    return x[:-1], x[1:]


def letters() -> tuple[Tensor, Tensor]:
    """Letters of a manual, as 8 random numbers each, and the next letter."""
    told = topics.topics["class"] + topics.topics["assignment"] + topics.topics["yield"]
    kept = "".join(c if c in string.ascii_lowercase else " " for c in told.lower())
    y = torch.tensor([ord(c) - 97 if c != " " else 26 for c in " ".join(kept.split())])
    table = torch.randn(27, 8, generator=torch.Generator().manual_seed(0)) / 2
    return table[y[:-1]], y[1:]


def trained(net: torch.nn.RNNBase, x: Tensor, y: Tensor, rate: float, steps: int) -> None:
    """Learn to say what comes next, by Adam on stretches of 60."""
    rng, letters_ = torch.Generator().manual_seed(0), y.dim() == 1
    head = torch.nn.Linear(net.hidden_size, 27 if letters_ else y.shape[1])
    adam = torch.optim.Adam([*net.parameters(), *head.parameters()], lr=rate)
    for _ in range(steps):
        rows = torch.randint(0, len(x) - 60, (16, 1), generator=rng) + torch.arange(60)
        said = head(net(x[rows])[0])
        of_letters = torch.nn.functional.cross_entropy(said.mT, y[rows]) if letters_ else None
        loss = (said - y[rows]).square().mean() if of_letters is None else of_letters
        adam.zero_grad()
        loss.backward()
        adam.step()


MODELS = {
    "lstm32": (lambda: torch.nn.LSTM(1, 32, batch_first=True), sunspots, 0.01, 60),
    "gru32": (lambda: torch.nn.GRU(1, 32, batch_first=True), sunspots, 0.01, 60),
    "rnn3x25": (lambda: torch.nn.RNN(8, 25, 3, batch_first=True), digits, 0.003, 30),
    "lstm64": (lambda: torch.nn.LSTM(8, 64, batch_first=True), letters, 0.003, 24),
}


def spread(runner: Runner, x: Tensor, pasts: Tensor) -> Tensor:
    """The largest ‖h_t − h_t^0‖₂ of a window x (1, T, d) from any past, at k and after: (1, T)."""
    s, gaps = torch.cat([runner.zero(1)[0], pasts])[None], []
    for t in range(x.shape[1] + 1):
        s = s if t == 0 else runner.step(s, x[:, t - 1].repeat(len(pasts) + 1, 1)[None])
        h = s[0, :, -runner.n :]
        gaps.append((h[1:] - h[0]).norm(dim=1).amax())
    return later(torch.stack(gaps)[None])


def first_within(gaps: Tensor, epsilon: float) -> int | None:
    """The least k at which gaps (M, T + 1), which do not increase with k, are within ε."""
    fine = (gaps <= epsilon).all(0).nonzero()
    return int(fine[0]) if len(fine) else None


def worst_tried(runner: Runner, x: Tensor, pasts: Tensor, size: Tensor, k: int) -> Tensor:
    """The largest gap at k and after of corners of starts and inputs: random, then by ascent."""
    rng, P = torch.Generator().manual_seed(0), len(pasts)

    def signs(*shape: int) -> Tensor:
        return torch.randint(0, 2, shape, generator=rng).double() * 2 - 1

    starts, moves = signs(TRIED, P, runner.states), signs(TRIED, *x.shape[1:])
    worst = torch.tensor(0.0)
    for start, move in zip(starts, moves, strict=True):
        seen = spread(runner, x + DELTA * move, pasts + size * start)
        worst = torch.maximum(worst, seen[0, k])
    start, move = starts[0], moves[0]
    for _ in range(2):
        start, move = start.clone().requires_grad_(), move.clone().requires_grad_()
        seen = spread(runner, x + DELTA * move, pasts + size * start)
        worst = torch.maximum(worst, seen[0, k].detach())
        start, move = (g.sign() for g in torch.autograd.grad(seen[0, k], (start, move)))
    return worst


@pytest.mark.parametrize("name", MODELS)
def test_a_window_has_a_k(name: str) -> None:
    """A certified k hardly longer than the one that is seen; and no start or input of the stated
    sets leads further than it says."""
    torch.manual_seed(0)
    make, load, rate, T = MODELS[name]
    net, (x, y) = make(), load()
    trained(net, x, y, rate, 150)
    runner, x = Runner.of(load_model(net)), x.double()
    rows = torch.linspace(0, len(x) - T, PASTS).long()[:, None] + torch.arange(T)
    pasts = end_states(runner, x[rows])
    epsilon = 0.05 * float(pasts[:, -runner.n :].norm(dim=1).amax())
    size, window = radius(pasts, NEAR), x[None, T // 2 : T // 2 + T]
    seen = first_within(spread(runner, window, pasts), epsilon)
    certified = AfterPasts(runner, window, DELTA, size, pasts=pasts).gaps(*range(T + 1)).T
    k = first_within(certified, epsilon)
    assert seen is not None
    assert k is not None
    assert seen <= k <= seen + 3
    assert worst_tried(runner, window, pasts, size, k) <= certified[0, k] + SLACK
