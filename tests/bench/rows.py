"""The rows: networks λ·orthogonal, where bounds are tight, against naive loops; truncated models
against torch's modules and, on CUDA, against cuDNN without TensorFloat-32."""

from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

import naive
import torch
from clock import Clock, Row, Seen, Work, compare
from hypothesis import strategies as st
from torch import Tensor
from torch.backends import cudnn

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.convert.feedforward import FeedForward
from rnnbounds.impl.gradients.adjoint import gradient_gaps
from rnnbounds.impl.gradients.loss import loss
from rnnbounds.impl.gradients.windows.rollout import truncations
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.properties.attacks.search import run_hypothesis
from rnnbounds.properties.judging.judge import Verdict, judge
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.vanilla.plain import Rnn
from rnnbounds.theory import claim

K, LAM, WINDOW = 32, 0.9, 21
EXAMPLES, SYSTEMS, SEQUENCES = 3, 48, 12  # of a batch as the quick profile has it
GRID = tuple(
    (n, *shape)
    for n in (16, 64, 128, 256, 512)
    for shape in ((1, 512), (64, 512), (1, 4096), (8, 4096), (64, 4096))
)
SIZE = "n = 16, d = 4, T = 100, K = 32, tanh, against loops over t and k"


def draw_systems(B: int, S: int, device: str, n: int = 16, d: int = 4, T: int = 100) -> Any:
    """B tanh networks with S sequences each: the cell, x (B, T, d, S), C and y."""
    draw = torch.Generator().manual_seed(0)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, dtype=torch.float64, generator=draw)

    W = LAM * torch.linalg.qr(normal(B, n, n))[0].contiguous()
    weights = W, normal(B, n, d) / 2, normal(B, n) / 10
    x, C, y = normal(B, T, d, S) / 2, normal(B, 2, n), normal(B, 2)
    cell = RNN(*(part.to(device) for part in weights), activation("tanh"))
    return cell, x.to(device), C.to(device), y.to(device)


def one_pair(cell: RNN, x: Tensor, i: int = 0, s: int = 0) -> tuple[Tensor, ...]:
    """W, U, b and x of one pair on the CPU, as one writes them down."""
    return tuple(p.cpu().clone() for p in (cell.W[i], cell.U[i], cell.b[i], x[i, :, :, s]))


def truncation_gaps(cell: RNN, x: Tensor, K: int) -> Tensor:
    """‖h_T − h_T^k‖, k = 0 … K, of all pairs, (B, K+1, S)."""
    full, short = truncations(cell, x, K)
    gaps: Tensor = torch.linalg.vector_norm(full[:, :, None] - short, dim=1)
    return gaps


def truncation(clock: Clock) -> Seen:
    """Truncation gaps of many systems, and of one by loops."""
    cell, x, _, _ = draw_systems(64 * clock.factor, 8, clock.device)
    ours, pair = partial(truncation_gaps, cell, x, K), one_pair(cell, x)
    return compare(clock, ours, lambda: naive.truncation_gaps(*pair, K), (8 * len(x), 1))


def gradient(clock: Clock) -> Seen:
    """Gradient gaps of many systems, and of one by loops and autograd."""
    cell, x, C, y = draw_systems(64 * clock.factor, 8, clock.device)
    squared, pair, target = loss("squared", C, y), one_pair(cell, x), (C[0].cpu(), y[0].cpu())
    return compare(
        clock, lambda: gradient_gaps(cell, x, K, squared),
        lambda: naive.gradient_gaps(*pair, *target, K), (8 * len(x), 1),
    )  # fmt: skip


def run_campaign(
    examples: int, visit: Callable[[SystemSpec], object], seed: int, **size: int
) -> None:
    """Show so many drawn specs to a visitor."""

    def shown(drawn: int) -> None:
        visit(Rnn(activation="tanh", n=16, d=4, T=100, K=K, lam=LAM, seed=drawn, **size))

    run_hypothesis(st.integers(0, 2**32 - 1), shown, examples=examples, seed=seed)


def judge_batch(spec: SystemSpec, device: str = "cpu") -> None:
    """Assert `truncation` on all pairs of a spec."""
    form = claim("truncation").forms[0]
    evidence = judge(form.statement, form.assumptions, build_batch(spec, device))
    assert (evidence.verdicts == Verdict.HOLDS).all()


def judge_by_loops(spec: SystemSpec) -> None:
    """Assert `truncation` on the single pair of a spec with the naive loops."""
    batch = build_batch(spec)
    assert naive.bound_holds(*one_pair(batch.cell, batch.x), batch.K)


def campaign(clock: Clock) -> Seen:
    """Drawn by Hypothesis, built and judged: a batch an example, and one system by loops."""
    seeds, size = count(), {"batch": SYSTEMS * clock.factor, "sequences": SEQUENCES}
    visit = partial(judge_batch, device=clock.device)
    with torch.no_grad():
        return compare(
            clock, lambda: run_campaign(EXAMPLES, visit, next(seeds), **size),
            lambda: run_campaign(2, judge_by_loops, next(seeds)),
            (EXAMPLES * size["batch"] * SEQUENCES, 2),
        )  # fmt: skip


def truncated_pair(
    cell: str, n: int, N: int, T: int, clock: Clock, d: int = 3
) -> tuple[Work, Work]:
    """All outputs of N sequences of length T in float32: of a truncated model, of the module."""
    torch.manual_seed(n)
    kind, _, rho = cell.partition("-")
    options: dict[str, Any] = {"nonlinearity": rho} if rho else {}
    module = getattr(torch.nn, kind.upper())(d, n, batch_first=True, **options)
    weights = {name.removesuffix("_l0"): part for name, part in module.state_dict().items()}
    short = FeedForward(weights, cell=cell, k=WINDOW)
    module, short = module.to(clock.device), short.to(clock.device)
    x = torch.randn(N, T, d).to(clock.device)
    return partial(short.infer, x), torch.no_grad()(lambda: module(x)[0])


def inference(cell: str, clock: Clock) -> Seen:
    """One sequence of 4096 steps."""
    return compare(clock, *truncated_pair(cell, 64, 1, 4096, clock), scale=1e3)


def inference_grid(cell: str, clock: Clock) -> Seen:
    """The worst of all sizes and batches."""
    sizes = [(n, N) for n in (16, 64, 256) for N in (1, 8, 64)]
    seen = {
        size: compare(clock, *truncated_pair(cell, *size, 512, clock), scale=1e3) for size in sizes
    }
    worst = min(sizes, key=lambda size: seen[size].ratio)
    return seen[worst]._replace(note=f"(the worst: n = {worst[0]}, {worst[1]} sequences)")


def asked_ratio(n: int, N: int, T: int) -> float:
    """How often as fast as cuDNN a truncated model should be: more where one long sequence leaves
    cuDNN's loop alone with its launches, and where many short ones fit at once."""
    if (N, T) == (1, 4096):
        return 30.0 if n <= 64 else 15.0
    return {16: 3.0, 64: 3.0, 128: 1.5}.get(n, 1.0) if (N, T) == (64, 512) else 1.0


def measure_sizes(cell: str, clock: Clock) -> Seen:
    """All sizes, one call from Python on an idle device; the row is the one that reaches the least
    share of what is asked of it."""
    results, single = [], Clock(clock.device, clock.repeats, least=0.0)
    for n, N, T in GRID:
        before, cudnn.allow_tf32 = cudnn.allow_tf32, False
        seen = compare(single, *truncated_pair(cell, n, N, T, clock, d=8))
        cudnn.allow_tf32 = before
        asked = asked_ratio(n, N, T)
        results.append((seen.ratio / asked, *seen[:2], f"n = {n}, {N} × {T}, asked {asked:g}"))
    share, own, theirs, worst = min(results)
    note = f"({sum(one[0] >= 1 for one in results)} of {len(results)} sizes met; least: {worst})"
    return Seen(own, theirs, share, (share, max(results)[0]), note)


CELLS = ("rnn-tanh", "lstm", "gru")
ROWS = (
    Row("truncation", f"truncation gaps, {SIZE}", "µs a pair", truncation, 150, loops=True),
    Row("gradient", f"gradient gaps, {SIZE}", "µs a pair", gradient, 175, loops=True),
    Row("campaign", f"truncation drawn and judged, {SIZE}", "µs a pair", campaign, 135, loops=True),
    *(Row(f"inference-{cell}", f"a truncated {cell} against torch's, n = 64, 1 × 4096", "ms",
          partial(inference, cell), 7 if cell == "rnn-tanh" else None)
      for cell in CELLS),
    *(Row(f"grid-{cell}", f"a truncated {cell} against torch's, T = 512", "ms",
          partial(inference_grid, cell), 0.95)
      for cell in CELLS),
)  # fmt: skip
CUDA_ROWS = tuple(
    Row(f"serve-{cell}", f"a truncated {cell}, of what is asked against cuDNN", "µs",
        partial(measure_sizes, cell), asked=1)
    for cell in ("rnn-tanh", "rnn-relu", "lstm", "gru")
)  # fmt: skip
