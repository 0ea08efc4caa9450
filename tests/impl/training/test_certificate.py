"""What a certificate says about training: by hand, against autograd, and what it refuses."""

import json
import math

import pytest
import torch

from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.training.certificate import CELL, LENGTH, TRAINING, Task


def weights(n=3, d=2, scale=0.4, biases=2, seed=0):
    """A state dict in float64 whose recurrent matrix has the norm `scale`."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    W = draw(n, n)
    state = {"weight_hh_l0": scale * W / torch.linalg.matrix_norm(W, 2)}
    state["weight_ih_l0"] = draw(n, d) / 2
    for role in ("bias_ih_l0", "bias_hh_l0")[:biases]:
        state[role] = draw(n) / 4
    return state


def test_scalar_linear_by_hand():
    """h = h/2 + x with the loss h: B_h = 2, R² = 5, and all constants follow."""
    state = {"weight_hh_l0": torch.tensor([[0.5]]), "weight_ih_l0": torch.tensor([[1.0]])}
    found = certify(state, 1.0, cell="linear", training=Task(loss="linear")).constants
    root = math.sqrt(5)
    expected = {
        "L_w": root, "beta_hh": 0.0, "beta_wh": 1.0, "beta_ww": 0.0, "L_p": 1.0, "beta_p": 0.0,
        "G_0": 2 * root, "G_1": 4.0, "gamma": 2 * root + 4, "beta": 8 * root,
    }  # fmt: skip
    assert set(expected) == {*CELL, *TRAINING}
    for name, value in expected.items():
        assert value * (1 - 1e-15) <= found[name] <= value * (1 + 1e-13)


@pytest.mark.parametrize(
    ("loss", "L_p", "beta_p"),
    [("linear", 3.0, 0.0), ("squared", 3 * (3 * 2 + 5), 9.0), ("cross-entropy", 3 * 2**0.5, 4.5)],
)
def test_loss_of_any_readout(loss, L_p, beta_p):
    """For ‖C‖₂ ≤ 3, ‖y‖₂ ≤ 5 and ‖h‖₂ ≤ 2 the constants are the largest of all such losses."""
    state = {"weight_hh_l0": torch.tensor([[0.5]]), "weight_ih_l0": torch.tensor([[1.0]])}
    task = Task(loss=loss, readout=3.0, target=5.0)
    certificate = certify(state, 1.0, cell="linear", training=task)
    assert certificate.constants["L_p"] == pytest.approx(L_p, rel=1e-13)
    assert certificate.constants["beta_p"] == pytest.approx(beta_p, rel=1e-13)
    assert certificate.training.constants.L_f == pytest.approx(3.0, rel=1e-13)


def test_window_is_the_least():
    """The k of each ε meets the bound, the k before it does not, and each α is the largest."""
    certificate = certify(weights(), 1.0, (1e-2, 1e-5), cell="rnn-tanh", training=Task(50, 1e-3))
    known = certificate.training.constants
    K_0, K_1 = (float(K.upper()) for K in known.scales(1e-3, 50))
    for epsilon, k, alpha in certificate.training.windows:
        assert known.lam**k * (K_0 + k * K_1) <= epsilon * (1 + 1e-12)
        assert known.lam ** (k - 1) * (K_0 + (k - 1) * K_1) > epsilon * (1 - 1e-12)
        assert k > certificate.window(epsilon)
        assert known.window(alpha, 50, epsilon, LENGTH - 1) is not None
        assert known.window(alpha * (1 + 1e-12), 50, epsilon, LENGTH - 1) is None


def test_vacuous_beyond_the_largest_rate():
    """Above the largest α the bound says nothing, and just there it says something."""
    task = Task(100, 1e6, length=60)
    first = certify(weights(), 1.0, (1e-3,), cell="rnn-tanh", training=task).training
    ((_, k, alpha),) = first.windows
    assert k is None
    assert 0 < alpha < 1e6
    task = Task(100, alpha, length=60)
    again = certify(weights(), 1.0, (1e-3,), cell="rnn-tanh", training=task).training
    ((_, k, rate),) = again.windows
    assert k == 59
    assert rate == alpha


def test_short_sequences_leave_nothing():
    """If even the untrained model needs more inputs than there are, no α says anything."""
    task = Task(1, 1e-9, length=5)
    found = certify(weights(scale=0.9), 1.0, (1e-6,), cell="rnn-tanh", training=task).training
    assert found.windows == ((1e-6, None, None),)
    assert found.reason is None


@pytest.mark.parametrize(
    ("cell", "scale", "reason"),
    [
        ("rnn-relu", 0.4, "the slope of relu jumps"),
        ("rnn-leaky-relu", 0.4, "the slope of leaky-relu jumps"),
        ("rnn-tanh", 1.5, "in the Euclidean norm alone, in which λ = 1.50001 is not below 1"),
        ("rnn-sigmoid", 4.5, "in the Euclidean norm alone"),
    ],
)
def test_reason(cell, scale, reason):
    """If nothing is known there is a reason, and every number is null."""
    certificate = certify(weights(scale=scale), 1.0, cell=cell, training=Task(2, 0.1))
    document = certificate.to_json()
    assert reason in document["training"]["reason"]
    assert [w["k"] for w in document["training"]["windows"]] == [None] * 3
    assert all(document["constants"][name] is None for name in TRAINING)


def test_other_norms_certify_no_training():
    """A model that contracts in a weighted norm alone is certified, its training is not."""
    state = {
        "weight_hh_l0": torch.tensor([[0.5, 2.0], [0.0, 0.5]]), "weight_ih_l0": torch.eye(2),
    }  # fmt: skip
    certificate = certify(state, 1.0, cell="rnn-tanh")
    assert certificate.verdict == "certified"
    assert certificate.norm != "spectral"
    assert "Euclidean norm alone" in certificate.training.reason
    assert certificate.constants["gamma"] == math.inf


def test_no_task_is_a_task_without_a_run():
    """Without a run γ and β are there and no window is; the target is the state bound."""
    document = certify(weights(), 1.0, cell="rnn-tanh").to_json()
    assert document["constants"]["gamma"] > 0
    told = document["training"]
    assert (told["steps"], told["alpha"], told["windows"]) == (None, None, [])
    assert told["target_bound"] == document["constants"]["B_h"]
    assert told["target_asked"] is None
    asked = certify(weights(), 1.0, cell="rnn-tanh", training=Task(target=3.0)).to_json()
    assert asked["training"]["target_asked"] == asked["training"]["target_bound"] == 3.0
    assert set(told["weights"]) == {"weight_hh", "weight_ih", "bias_hh", "bias_ih"}


def test_record_is_json():
    """Everything infinite is null, for huge weights too, where it is said why."""
    huge = {name: part * 1e200 for name, part in weights(scale=1e-300).items()}
    for state in (weights(), weights(scale=2.0), huge):
        document = certify(state, 1.0, cell="rnn-tanh", training=Task(3, 1.0)).to_json()
        text = json.dumps(document, allow_nan=False)
        assert json.loads(text)["training"] == document["training"]


def test_constants_too_large_for_a_float():
    """β of finite weights may overflow: nothing is certified."""
    certificate = certify(weights(scale=0.4), 1e200, cell="linear", training=Task(1, 1.0))
    assert certificate.training.reason == "a constant is too large for a float"
