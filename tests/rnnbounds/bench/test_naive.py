"""What the bench compares is the same work: ours and the naive twins agree within error bounds."""

import pytest
import torch

from rnnbounds.bench import naive
from rnnbounds.bench.models import (
    MODULES,
    WINDOW,
    module_and_truncation,
    prove_in_balls,
    random_matrices,
)
from rnnbounds.bench.systems import draw_systems
from rnnbounds.bench.vanilla import descent_sets, judge_batch, run_campaign, truncation_gaps
from rnnbounds.impl.gradients.adjoint import gradient_gaps
from rnnbounds.impl.gradients.adjoint_error import gradient_gap_error
from rnnbounds.impl.numbers.spectra.exact_norm import ball_norm
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm, is_norm_below
from rnnbounds.impl.training.descent import descend, descent_error
from rnnbounds.properties.judging.verdict import Verdict
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.vanilla.specs import Rnn

K = 4


def test_truncation_gaps() -> None:
    """What is read under attack, with its own error bound, is what the bench reads and what loops
    find."""
    batch = build_batch(
        Rnn(activation="tanh", n=4, d=2, T=9, K=K, lam=0.9, bias=0.5, batch=2, sequences=2)
    )
    seen = MEASURES["h_gap"].enclose(batch)
    for i in range(2):
        for s in range(2):
            parts = (*(getattr(batch.cell, name)[i] for name in "WUb"), batch.x[i, :, :, s])
            found = torch.tensor(naive.truncation_gaps(*parts, K), dtype=torch.float64).numpy()
            room = seen.hi[i, s] - seen.lo[i, s]  # twice the error: that of the loops is no larger
            assert (found >= seen.lo[i, s] - room).all()
            assert (found <= seen.hi[i, s] + room).all()
    many = draw_systems(2, 3, n=4, T=9)
    read = truncation_gaps(many, K)
    assert read.shape == (2, K + 1, 3)
    expected = torch.tensor(naive.truncation_gaps(*many.single_pair(1, 2), K), dtype=torch.float64)
    torch.testing.assert_close(read[1, :, 2], expected, rtol=0, atol=1e-13)


def test_gradient_gaps() -> None:
    """The same of gradients, which autograd finds."""
    many = draw_systems(2, 2, n=4, T=7)
    ours = gradient_gaps(many.cell, many.x, K, many.loss)
    error = gradient_gap_error(many.cell, many.x, K, many.loss)
    for i in range(2):
        loops = naive.gradient_gaps(*many.single_pair(i, 1), *many.single_target(i), K)
        off = (ours[i, 1] - torch.tensor(loops, dtype=torch.float64)).abs()
        assert (off <= 2 * error[i, 1] + 1e-15).all()


def test_descent() -> None:
    """Both descents are within their certified distances from the exact one."""
    many = draw_systems(2, 1, n=3, T=5)
    omega, rates = descent_sets(many)
    ours = descend(many.cell, many.x, many.loss, omega, "WUb", rates)
    beta = torch.full((2,), 1e3, dtype=torch.float64)
    away = descent_error(ours, many.x, many.loss, omega, "WUb", rates, beta)[:, -1]
    for i in range(2):
        radii = (float(omega.W[i]), float(omega.U[i]), float(omega.b[i]))
        found = naive.descend(
            *many.single_pair(i), *many.single_target(i), radii, rates[i].tolist()
        )
        last = ours[-1]
        gaps = [(getattr(last, name)[i] - part).flatten() for name, part in zip("WUb", found)]  # noqa: B905
        assert float(torch.linalg.norm(torch.cat(gaps))) <= 2 * float(away[i]) < 1e-7


@pytest.mark.parametrize("n", [2, 8])
def test_norms(n: int) -> None:
    """The gate passes what balls prove, and neither what is below the norm."""
    W, s = random_matrices(n)
    W, s = W[:3], s[:3]
    assert is_norm_below(W, s).all()
    assert not is_norm_below(W, s * (1 - 2.0**-20)).any()
    for one, at, bound in zip(W, s.tolist(), certified_norm(W).tolist(), strict=True):
        assert prove_in_balls(one, at)
        assert not prove_in_balls(one, at * (1 - 2.0**-20))
        assert bool(ball_norm(one) <= bound)


@pytest.mark.parametrize("name", MODULES)
def test_truncated_inference(name: str) -> None:
    """With fewer inputs than the window it is torch's module."""
    module, short = module_and_truncation(name, 4, "cpu")
    x = torch.randn(2, WINDOW, 3, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(short.infer(x), module(x)[0].detach(), rtol=0, atol=1e-6)


def test_campaigns() -> None:
    """Loops and engine judge drawn systems alike, and as many as are asked."""
    specs = []
    run_campaign(2, specs.append, 0, batch=2, sequences=2)
    assert len(specs) == 2
    seen = judge_batch(specs[0].select_pair(1, 1))
    assert (seen.verdicts == Verdict.HOLDS).all()
    batch = build_batch(specs[0].select_pair(1, 1))
    parts = (*(getattr(batch.cell, name)[0] for name in "WUb"), batch.x[0, :, :, 0])
    assert naive.bound_holds(*parts, batch.K)
