import json
from fractions import Fraction

import pytest
import torch
from gated_draws import generator, layer, model

from rnnbounds.impl.cells.table import CELLS, NORM_NAMES, kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.convert.feedforward import FeedForward
from rnnbounds.impl.convert.files import load_truncated, save_truncated
from rnnbounds.impl.convert.truncate import NotCertifiedError, truncate
from rnnbounds.impl.errors import NotFiniteError, ShapeError
from rnnbounds.impl.norms.norm_data import StateNorm
from rnnbounds.impl.reading.adapters import load_model

GATED = ("lstm", "gru", "gru-cho")
DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def run(cell: str, weights, x: torch.Tensor) -> torch.Tensor:
    """The outputs of the recurrent model, by torch's own layer, or by Cho's formula: (N, T, n)."""
    if cell != "gru-cho":
        made = layer(cell, weights["weight_hh"].shape[1], bias="bias_ih" in weights)
        made.load_state_dict({f"{role}_l0": part.double() for role, part in weights.items()})
        with torch.no_grad():
            return made(x)[0]
    W_r, W_z, W_n = weights["weight_hh"].double().chunk(3)
    b = weights["bias_ih"].double() + weights["bias_hh"].double()
    fed = x @ weights["weight_ih"].double().T + b
    h, told = x.new_zeros(len(x), len(W_r)), []
    for t in range(x.shape[1]):
        d_r, d_z, d_n = fed[:, t].chunk(3, dim=1)
        r, z = torch.sigmoid(d_r + h @ W_r.T), torch.sigmoid(d_z + h @ W_z.T)
        h = (1 - z) * torch.tanh(d_n + (r * h) @ W_n.T) + z * h
        told.append(h)
    return torch.stack(told, dim=1)


def inputs(T: int = 60, N: int = 8, bound: float = 1.0) -> torch.Tensor:
    """Sequences at the bound, half of them constant: (N, T, 2)."""
    x = torch.randn(N, T, 2, generator=generator(7), dtype=torch.float64)
    x[: N // 2] = x[: N // 2, :1]
    return bound * (1 - 1e-12) * x / x.norm(dim=2, keepdim=True)


@pytest.mark.slow
@pytest.mark.parametrize("cell", GATED)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("bias", [True, False])
def test_truncated_form(cell, dtype, bias, tmp_path):
    """Written, read again and run on inputs at the bound, the module is within ε at every time."""
    weights = {role: part.to(dtype) for role, part in layer(cell, bias=bias).state_dict().items()}
    forward, certificate = truncate(weights, 1e-2, 1.0, cell=cell)
    assert certificate["dtype"] == str(dtype).removeprefix("torch.")
    save_truncated(forward, certificate, tmp_path / "t.safetensors")
    again = load_truncated(tmp_path / "t.safetensors")
    assert (again.cell, again.k, again.weight_hh_l0.dtype) == (cell, forward.k, dtype)
    x = inputs()
    exact = {role.removesuffix("_l0"): part for role, part in weights.items()}
    if not bias and cell == "gru-cho":
        exact |= {role: torch.zeros(12) for role in ("bias_ih", "bias_hh")}
    gap = (run(cell, exact, x) - again.double()(x)).detach().norm(dim=2).max()
    assert 0 < float(gap) <= 1e-2


@pytest.mark.slow
@pytest.mark.parametrize("cell", GATED)
@pytest.mark.parametrize("size", [1e300, -1e300])
def test_huge_biases(cell, size):
    """Biases of 10³⁰⁰ saturate the gates: certified or undecided, never NaN; sums must exist."""
    weights = layer(cell).state_dict()
    weights["bias_ih_l0"].fill_(size)
    record = certify(weights, 1.0, cell=cell).to_json()
    json.dumps(record, allow_nan=False)
    assert record["verdict"] == ("certified" if size < 0 else "undecided")
    weights["bias_ih_l0"].fill_(1.5e308)
    weights["bias_hh_l0"].fill_(1.5e308)
    with pytest.raises(NotFiniteError, match=r"bias_ih \+ bias_hh"):
        load_model(weights, cell)


@pytest.mark.slow
@pytest.mark.parametrize("cell", GATED)
def test_undecided(cell):
    """Torch's own weights: undecided, all norms listed, no window and no truncated model."""
    certificate = certify(model(cell, scale=1.0), 1.0)
    assert (certificate.verdict, certificate.stable) == ("undecided", None)
    assert tuple(name for name, _, _ in certificate.tried) == CELLS[cell].norms
    assert all(k is None for _, k in certificate.windows)
    assert certificate.witness is None
    with pytest.raises(NotCertifiedError, match="undecided"):
        truncate(model(cell, scale=1.0), 1e-2, 1.0)


@pytest.mark.slow
def test_the_best_norm_is_kept():
    """Several norms win somewhere, and the certificate's k is the least of all that certify."""
    won = set()
    for seed in range(5):
        for n, scale in ((1, 0.8), (3, 0.4), (12, 0.25)):
            loaded = model("lstm", n=n, scale=scale, seed=seed)
            auto = certify(loaded, 1.0)
            if auto.verdict == "certified":
                won.add(auto.norm)
                known = [k for _, lam, k in auto.tried if lam < 1 and k is not None]
                assert auto.window(1e-6) == min(known)
    assert won >= {"spectral", "comparison"}


def test_table_of_contents():
    """Names are unique, every norm is known, and a cell or an activation is named, not both."""
    assert all(kind_of(name).name == name for name in CELLS)
    assert set(NORM_NAMES) >= {"spectral", "infinity", "comparison", "perron", "quadratic"}
    defaults = [kind.gates for kind in CELLS.values() if kind.default and kind.gates]
    assert sorted(defaults) == sorted(set(defaults))
    weights = {"weight_ih": torch.ones(4, 1), "weight_hh": torch.ones(4, 1)}
    assert "cell='lstm'" in repr(FeedForward(weights, cell="lstm", k=2))
    with pytest.raises(ShapeError, match=r"\(4n, n\)"):
        FeedForward(weights | {"weight_hh": torch.ones(3, 1)}, cell="lstm", k=1)


def test_bound_on_states_rounds_last():
    """B_h is C S over 1 − λ, in that order of rounding."""
    norm = StateNorm("perron", 0.25, 0.7, 2.6, 1.0)
    assert Fraction(norm.states) >= Fraction(0.7) * Fraction(2.6) / Fraction(0.75)
    assert norm.states == 2.4266666666666667
    assert StateNorm("perron", 0.25, 0.7, 2.6, 1.0, radius=0.5).states == 1.3
    assert torch.isinf(torch.tensor(StateNorm("perron", 1.0, 0.7, 2.6, 1.0).states))
