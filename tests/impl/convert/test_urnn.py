"""The unitary network as a module: it stays unitary, and is torch's RNN where it is real."""

import pytest
import torch
from draws import normal

from rnnbounds.impl.convert.dilation import dilate, orthogonality_defect
from rnnbounds.impl.convert.urnn import URNN, polar, relu
from rnnbounds.impl.errors import NotFiniteError


def inputs(N=3, T=7, d=2):
    """Random inputs."""
    return normal(N, T, d)


@pytest.mark.parametrize("keep", ["parametrised", "projected"])
@pytest.mark.parametrize("complex", [False, True])
def test_training_stays_unitary(keep, complex):
    """V stays unitary through steps of an optimiser that lower a loss; it does move."""
    torch.manual_seed(0)
    net = URNN(2, 5, complex=complex, keep=keep)
    before = net.weight_hh_l0.detach().clone()
    optimiser, losses = torch.optim.SGD(net.parameters(), lr=0.05), []
    for _ in range(10):
        optimiser.zero_grad()
        loss = (net(inputs()).abs() - 0.5).square().mean()
        loss.backward()
        optimiser.step()
        if keep == "projected":
            net.project()
        losses.append(loss.item())
        assert orthogonality_defect(net.weight_hh_l0.detach()) < 1e-13
    assert losses[-1] < losses[0]
    assert not torch.allclose(net.weight_hh_l0, before)


@pytest.mark.parametrize("keep", ["parametrised", "projected"])
def test_is_torch_rnn(keep):
    """The real network's weights load into torch.nn.RNN and give the same states."""
    net = URNN(2, 5, keep=keep)
    plain = torch.nn.RNN(2, 5, nonlinearity="relu", batch_first=True, dtype=torch.float64)
    plain.load_state_dict(net.weights())
    start = torch.randn(3, 5, dtype=torch.float64)
    assert torch.allclose(net(inputs(), start), plain(inputs(), start[None])[0], atol=1e-14)


@pytest.mark.parametrize("keep", ["parametrised", "projected"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_takes_a_dilation(keep, dtype):
    """A dilation becomes the transition; its leading block drives the first units."""
    W = torch.randn(3, 3, dtype=dtype, generator=torch.Generator().manual_seed(1))
    V = dilate(W * (0.9 / torch.linalg.matrix_norm(W, 2))).V
    net = URNN(2, 6, complex=dtype.is_complex, keep=keep)
    net.set_transition(V)
    assert torch.allclose(net.weight_hh_l0, V, atol=1e-13)
    if keep == "projected":
        assert torch.equal(net.weight_hh_l0, V)


def test_complex_relu():
    """ReLU acts on real and imaginary parts by themselves, and is non-expansive."""
    z = torch.tensor([1 + 2j, -1 + 2j, 1 - 2j, -1 - 2j], dtype=torch.complex128)
    assert torch.equal(relu(z), torch.tensor([1 + 2j, 2j, 1, 0], dtype=torch.complex128))
    draw = torch.Generator().manual_seed(0)
    a, b = torch.randn(2, 1000, dtype=torch.complex128, generator=draw)
    assert bool(((relu(a) - relu(b)).abs() <= (a - b).abs() * (1 + 1e-15)).all())
    assert torch.equal(relu(z.real), z.real.relu())


def test_polar_is_nearest():
    """The polar factor is unitary, fixes unitary matrices, and no unitary matrix is nearer."""
    draw = torch.Generator().manual_seed(0)
    for dtype in (torch.float64, torch.complex128):
        A, B = torch.randn(2, 4, 4, dtype=dtype, generator=draw)
        Q, other = polar(A), torch.linalg.qr(B)[0]
        assert orthogonality_defect(Q) < 1e-14
        assert torch.allclose(polar(Q), Q)
        assert torch.linalg.matrix_norm(A - Q) <= torch.linalg.matrix_norm(A - other)
    with pytest.raises(NotFiniteError):
        polar(torch.tensor([[float("nan")]]))


def test_empty_sequences():
    """No steps, no states."""
    assert URNN(2, 3)(inputs(T=0)).shape == (3, 0, 3)


def test_not_unitary_transitions():
    """A transition that is not unitary is projected by a parametrised network."""
    net, A = URNN(2, 3), 2 * torch.eye(3, dtype=torch.float64)
    net.set_transition(A)
    assert torch.allclose(net.weight_hh_l0, A / 2)
