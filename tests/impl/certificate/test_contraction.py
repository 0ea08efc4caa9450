"""The estimate of λ with gradients: beside the certificate, its derivatives, and as a penalty."""

import pytest
import torch
from program_draws import SAMPLES, weights
from stack_draws import MODULES, net

from rnnbounds.impl.arithmetic.inputs.sets import input_box, input_rows
from rnnbounds.impl.cells.table import CELLS, kind_of
from rnnbounds.impl.certificate.contraction import NORMS, contraction
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.reading.adapters import load_model

# What stands beside the certificate's own number within rounding: of the others that is smaller.
ALIKE = {"rnn-tanh", "rnn-relu", "lstm", "gru", "lstm-projected", "leaky-tanh", "deep-tanh",
         "leaky-relu"}  # fmt: skip


def beside(model, kind, B, cell=None):
    """The pairs (estimate, certified λ), norm by norm."""
    names = [name for name in NORMS if name in CELLS[kind].norms]
    told = CELLS[kind].analyse(load_model(model, cell), B)
    for name in names:
        yield contraction(model, inputs=B, norm=name, cell=cell).item(), told.norm(name).lam


@pytest.mark.parametrize("scale", [0.3, 1.0])
@pytest.mark.parametrize("name", [*MODULES, *SAMPLES])
def test_every_norm(name, scale):
    """torch's modules and the package's own cells: the certificate's λ but for rounding."""
    own = name in SAMPLES
    model = weights(name, seed=int(scale)) if own else net(name, 1, scale=scale)
    for found, lam in beside(model, name, 0.7, name if own else None):
        assert lam * (1 - 1e-12) <= found
        assert name not in ALIKE or found <= lam * (1 + 1e-9)


SETS = {
    "box": lambda d: input_box(-0.1, 0.5, d),
    "rows": lambda d: input_rows(0.3 * torch.eye(d) - 0.1),
}


@pytest.mark.slow
@pytest.mark.parametrize("among", SETS)
@pytest.mark.parametrize("name", [*MODULES, "leaky-tanh"])
def test_sets_of_inputs(name, among):
    """The certificate's λ for a box and for rows, no more than that for the ball around them."""
    own = name in SAMPLES
    model, cell = (weights(name), name) if own else (net(name, 1), None)
    one = SETS[among](2 if own else 3)
    for found, lam in beside(model, name, one, cell):
        assert lam * (1 - 1e-12) <= found <= lam * (1 + 1e-9)
    assert contraction(model, inputs=one, cell=cell) <= contraction(
        model, inputs=float(one), cell=cell
    )
    with pytest.raises(InputError, match="the set of inputs has 4 channels"):
        contraction(model, inputs=SETS[among](4), cell=cell)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODULES)
def test_stacks(name):
    """The largest factor of the layers, none of which is below that of the certificate."""
    model = net(name, 2, scale=0.6)
    told = kind_of(f"stacked-{name}").analyse(load_model(model), 0.7)
    for norm in ("spectral", "infinity", "perron"):
        lam = max(layer.norm(norm).lam for layer in told.layers)
        assert lam * (1 - 1e-12) <= contraction(model, inputs=0.7, norm=norm).item() <= 1.1 * lam


@pytest.mark.slow
@pytest.mark.parametrize("norm", ["spectral", "auto"])
@pytest.mark.parametrize("name", MODULES)
def test_gradients(name, norm):
    """What autograd says is what differences say, in all weights."""
    check_gradients(name, norm, 0.7)


@pytest.mark.slow
@pytest.mark.parametrize("among", SETS)
def test_gradients_of_sets(among):
    """The same of inputs of a set."""
    check_gradients("gru", "auto", SETS[among](3))


def check_gradients(name, norm, among):
    """By gradcheck."""
    model = net(name, 2 if norm == "auto" else 1, scale=1.0, seed=3).double()
    roles, parts = zip(*model.state_dict().items(), strict=True)
    parts = tuple(part.clone().requires_grad_() for part in parts)
    cell = None if "rnn" not in name else name

    def estimate(*parts):
        return contraction(dict(zip(roles, parts, strict=True)), inputs=among, norm=norm, cell=cell)

    assert torch.autograd.gradcheck(estimate, parts, atol=1e-4, rtol=1e-4, fast_mode=True)
