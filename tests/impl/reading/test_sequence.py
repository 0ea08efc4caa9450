"""Recurrences of sequence models: their formulas, both libraries' names, channels, settings."""

import json
import math

import pytest
import sequence_layers as draw
import torch
from safetensors.torch import save_file

import rnnbounds
from rnnbounds.impl.arithmetic.base import Floats, Rows
from rnnbounds.impl.reading.adapters import load_model

T = 6


def last(model, x: torch.Tensor, size: int) -> torch.Tensor:
    """The state after the inputs x (T, d), from zero: (size,)."""
    s = torch.zeros(1, size, 1, dtype=torch.float64)
    for t in range(len(x)):
        s = model.cell.step(s, x[t][None, :, None])
    return s[0, :, 0]


def inputs(d: int) -> torch.Tensor:
    """T inputs of that size."""
    return torch.randn(T, d, generator=torch.Generator().manual_seed(5), dtype=torch.float64)


def test_mamba():
    """h⁺_ij = exp(−Δ_i e^{A_ij}) h_ij + Δ_i B_j u_i, for all channels and for some of them."""
    state, x = draw.mamba(), inputs(2 + 12)
    A, W, b = (state[f"layers.0.mixer.{name}"].double()
               for name in ("A_log", "dt_proj.weight", "dt_proj.bias"))  # fmt: skip
    h = torch.zeros(4, 3).double()
    for t in range(T):
        delta = torch.nn.functional.softplus(W @ x[t, :2] + b)[:, None]
        h = (-delta * A.exp()).exp() * h + delta * x[t, 2:].view(4, 3)
    assert torch.allclose(last(load_model(state), x, 12), h.flatten(), rtol=1e-12, atol=0)
    part = load_model(state, layer="layers.0.mixer[1:3]")
    assert (part.n, part.d) == (6, 8)
    some = torch.cat([x[:, :2], x[:, 5:11]], 1)
    assert torch.allclose(last(part, some, 6), h[1:3].flatten(), rtol=1e-12, atol=0)
    assert part.source == (
        "state dict, layers.0.mixer[1:3] (Mamba's recurrence alone, of δ and u⊗B)"
    )


def test_mamba_2():
    """One unit a head, of inputs (dt, v)."""
    state, x = draw.mamba_2(), inputs(4)
    A, b = (state[f"mixer.{name}"].double() for name in ("A_log", "dt_bias"))
    h = torch.zeros(2).double()
    for t in range(T):
        delta = torch.nn.functional.softplus(x[t, :2] + b)
        h = (-delta * A.exp()).exp() * h + delta * x[t, 2:]
    assert torch.allclose(last(load_model(state), x, 2), h, rtol=1e-12, atol=0)


@pytest.mark.parametrize("authors", [False, True])
def test_rg_lru(authors):
    """Gates multiply from the right, block by block."""
    state, x = draw.rg_lru(authors), inputs(4)
    p, Wa, ba, Wi, bi = (part.double() for part in state.values())
    h = torch.zeros(4).double()
    for t in range(T):
        blocks = x[t].view(2, 1, 2)
        r, i = (((blocks @ W)[:, 0] + b).sigmoid().flatten() for W, b in ((Wa, ba), (Wi, bi)))
        log_a = -8 * r * torch.nn.functional.softplus(p)
        h = log_a.exp() * h + (1 - (2 * log_a).exp()).sqrt() * i * x[t]
    assert torch.allclose(last(load_model(state), x, 4), h, rtol=1e-12, atol=0)


@pytest.mark.parametrize("authors", [False, True])
def test_rwkv(authors):
    """A decay that no input changes, and a free drive."""
    state, x = draw.rwkv(authors), inputs(4)
    w, h = (-state["att.time_decay"].double().exp()).exp(), torch.zeros(4).double()
    for t in range(T):
        h = w * h + x[t]
    assert torch.allclose(last(load_model(state), x, 4), h, rtol=1e-12, atol=0)


@pytest.mark.parametrize("gate", ["fgate_preact", "ifgate_preact", "fgate"])
@pytest.mark.parametrize("cap", [None, 15.0, 0.1])
def test_mlstm(gate, cap, tmp_path):
    """f = σ(c tanh(z/c)); the authors' first cell has no cap; 0.1 is no float32."""
    state, x = draw.mlstm(gate), inputs(6)
    save_file(state, tmp_path / "m.safetensors")
    (tmp_path / "config.json").write_text(json.dumps({"gate_soft_cap": cap}))
    model = load_model(tmp_path / "m.safetensors")
    (prefix,) = {name.split(".")[0] for name in state}
    W, b = (state[f"{prefix}.{gate}.{of}"].double()[-2:] for of in ("weight", "bias"))
    h = torch.zeros(2).double()
    for t in range(T):
        z = W @ x[t, :4] + b
        z = z if cap is None or gate == "fgate" else cap * (z / cap).tanh()
        h = z.sigmoid() * h + x[t, 4:]
    assert torch.allclose(last(model, x, 2), h, rtol=1e-12, atol=0)
    assert model.dtype == ("float64" if cap == 0.1 and gate != "fgate" else "float32")
    told = rnnbounds.certify(model, 1e6)  # gates that reach all of their range
    if cap is not None and gate != "fgate":
        assert told.lam == pytest.approx(1 / (1 + math.exp(-cap)), rel=1e-12)


@pytest.mark.parametrize("make", [draw.s4d, draw.s5])
def test_state_spaces(make):
    """The zero-order hold of a complex diagonal system."""
    state = make()
    own = {name.split(".")[1]: part.double() for name, part in state.items()}
    if make is draw.s5:
        A = torch.complex(own["Lambda_re"], own["Lambda_im"])
        dt, B = own["log_step"][:, 0].exp(), torch.view_as_complex(own["B"])
    else:
        A = torch.complex(-own["log_A_real"].exp(), own["A_imag"]).flatten()
        dt = own["log_dt"].exp().repeat_interleave(2)
        B = torch.eye(3).repeat_interleave(2, 0).to(A)
    decay, x = (A * dt).exp(), inputs(B.shape[1])
    h = torch.zeros_like(A)
    for t in range(T):
        h = decay * h + (decay - 1) / A * (B @ x[t].to(A))
    found = last(load_model(state), x, 2 * len(A))
    assert torch.allclose(found, torch.cat([h.real, h.imag]), rtol=1e-11, atol=1e-13)


def test_each_layer_is_listed(tmp_path):
    """Beside others, in the order of numbers; nothing is asked for where there is only one."""
    lstm = {f"head.{k}": v for k, v in torch.nn.LSTM(2, 2).state_dict().items()}
    state = draw.mamba("layers.10.mixer.") | draw.mamba("layers.1.mixer.") | draw.mamba() | lstm
    found = rnnbounds.layers(state)
    assert [(one.name, one.cell) for one in found] == [
        *((f"layers.{number}.mixer", "selective") for number in (0, 1, 10)), ("head", "lstm"),
    ]  # fmt: skip
    assert [one.n for one in found] == [12, 12, 12, 2]
    assert load_model(state, layer="head").name == "lstm"
    assert load_model(state, layer="layers.1").source == (
        "state dict, layers.1.mixer (Mamba's recurrence alone, of δ and u⊗B)"
    )
    model = load_model(draw.mamba(""))  # a module's own state dict
    assert set(model.tensors.values()) == {f"recurrence.{role}" for role in model.weights}
    assert "in_proj.weight" in model.unread
    assert "A_log" not in model.unread


def test_a_readout_leaves_the_recurrence_named():
    """What is read of the layer stands in its title beside a readout too."""
    state = dict(draw.mamba()) | {"head.weight": torch.ones(1, 24)}
    plain = load_model(state)
    asked = load_model(state | {"head.weight": torch.ones(1, plain.n)}, readout="head")
    assert asked.source == plain.source
    assert "recurrence alone" in asked.source


def test_dtypes_are_widened():
    """mamba_ssm keeps A_log in float32 beside weights in bfloat16: the wider holds both exactly."""
    state = {name: part.bfloat16() for name, part in draw.mamba().items()}
    state["layers.0.mixer.A_log"] = draw.mamba()["layers.0.mixer.A_log"]
    model = load_model(state)
    assert model.dtype == "float32"
    bias = state["layers.0.mixer.dt_proj.bias"].float().repeat_interleave(3)
    assert torch.equal(model.weights["bias_delta"], bias)


def test_the_norm_of_falcon_mamba_is_said(tmp_path):
    """Only the configuration tells of it; the recurrence is the same."""
    save_file(draw.mamba(), tmp_path / "m.safetensors")
    plain = load_model(tmp_path / "m.safetensors")
    (tmp_path / "config.json").write_text('{"model_type": "falcon_mamba"}')
    normed = load_model(tmp_path / "m.safetensors")
    assert plain.digest == normed.digest
    assert normed.source.endswith("(Mamba's recurrence alone, of δ (‖δ‖₂ ≤ √2) and u⊗B)")


def test_the_step_is_that_of_the_cell_in_its_own_dtype():
    """The decays of a layer read in bfloat16 are those of bfloat16."""
    model = load_model({name: part.bfloat16() for name, part in draw.rg_lru().items()})
    weights = {name: part[None] for name, part in model.weights.items()}
    x = inputs(4).bfloat16()
    decay = type(model.cell)(weights).decay(Floats(weights), Rows(x[None]))
    assert decay.value.dtype == torch.bfloat16
