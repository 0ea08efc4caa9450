import torch

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.models.rnn import RNN


def cell(batch: int = 3, n: int = 4, d: int = 2) -> RNN:
    """A tanh cell with weights of every sign."""
    draw = torch.Generator().manual_seed(0)
    W, U, b = (
        torch.randn(*shape, dtype=torch.float64, generator=draw)
        for shape in ((batch, n, n), (batch, n, d), (batch, n))
    )
    return RNN(W, U, b, activation("tanh"))


def test_step() -> None:
    """One step is ρ(Wh + Ux + b), column by column."""
    c = cell()
    h, x = torch.ones(3, 4, 5, dtype=torch.float64), torch.full((3, 2, 5), 0.5, dtype=torch.float64)
    expected = torch.tanh(c.W @ h + c.U @ x + c.b[:, :, None])
    torch.testing.assert_close(c.step(h, x), expected)
    assert (c.batch, c.n, c.d) == (3, 4, 2)


def test_member() -> None:
    """A member of the batch is the same system alone."""
    one = cell().member(1)
    assert one.batch == 1
    assert torch.equal(one.W[0], cell().W[1])
    assert torch.equal(one.b[0], cell().b[1])
    assert one.activation is cell().activation
