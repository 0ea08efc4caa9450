"""Layouts of flax and equinox: which state dicts they become."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.reading.jax.names import by_torchs_names

LSTM, GRU = "ifgo", "rzn"
sizes = st.tuples(st.integers(1, 3), st.integers(1, 4))


def taken_apart(module, form):
    """The parameters of a torch cell as flax or equinox has them."""
    W, R, b_ih, b_hh = (one.detach() for one in module.parameters())
    gates = LSTM if isinstance(module, torch.nn.LSTMCell) else GRU
    n, few = R.shape[1], gates == GRU
    b = b_hh if not few else b_ih
    if form == "equinox":
        return {"weight_ih": W, "weight_hh": R, "bias": b} | (
            {"bias_n": b_hh[2 * n :]} if few else {}
        )
    if form == "joint":
        biased = "dense_i" if few else "dense_h"
        return {"dense_i.kernel": W.T, "dense_h.kernel": R.T, f"{biased}.bias": b}
    found = {}
    for i, gate in enumerate(gates):
        rows = slice(i * n, i * n + n)
        found |= {f"i{gate}.kernel": W[rows].T, f"h{gate}.kernel": R[rows].T}
        found[f"{'i' if few else 'h'}{gate}.bias"] = b[rows]
    return found | ({"hn.bias": b_hh[2 * n :]} if few else {})


@pytest.mark.parametrize("kind", [torch.nn.LSTMCell, torch.nn.GRUCell])
@pytest.mark.parametrize("form", ["gates", "joint", "equinox"])
@pytest.mark.parametrize("prefix", ["", "params.cell."])
@settings(max_examples=20)
@given(sizes=sizes, seed=st.integers(0, 2**20))
def test_round_trip(kind, form, prefix, sizes, seed):
    """A torch cell that is taken apart comes together, number by number."""
    torch.manual_seed(seed)
    module = kind(*sizes)
    n = sizes[1]
    with torch.no_grad():  # flax and equinox have fewer biases
        if kind is torch.nn.LSTMCell:
            module.bias_ih.zero_()
        else:
            module.bias_hh[: 2 * n if form != "joint" else None].zero_()
    parts = {prefix + name: one for name, one in taken_apart(module, form).items()}
    ours, flax = by_torchs_names(parts)
    assert flax == (form != "equinox")
    expected = load_model({name: one.detach() for name, one in module.state_dict().items()})
    loaded = load_model(ours)
    assert loaded.name == expected.name
    held = expected.weights
    if kind is torch.nn.LSTMCell:
        held = {
            role.replace("bias_hh", "bias_ih"): held[role] for role in held if role != "bias_ih"
        }
    elif form == "joint":
        held = {role: one for role, one in held.items() if role != "bias_hh"}
    assert loaded.weights.keys() == held.keys()
    assert all(torch.equal(loaded.weights[role], held[role]) for role in held)
    assert load_model(parts).digest == loaded.digest


def test_others_stay():
    """Other tensors keep their names; kernels are turned, and nnx' ends are left out."""
    kernel, conv = torch.arange(6.0).reshape(2, 3), torch.zeros(3, 2, 3)
    held = {
        "a.kernel": kernel,
        "c.kernel": conv,
        "e.embedding": kernel,
        "x.bias": kernel[0],
        "k": 5,
    }
    ours, flax = by_torchs_names(held)
    assert not flax
    assert list(ours) == ["a.weight", "c.kernel", "e.weight", "x.bias", "k"]
    assert torch.equal(ours["a.weight"], kernel.T)
    assert by_torchs_names({"a.kernel.value": kernel})[0].keys() == {"a.weight"}
    assert by_torchs_names({"a.kernel.value": kernel, "b": kernel})[0].keys() == {
        "a.kernel.value",
        "b",
    }
    linear = {"i.weight": kernel, "i.bias": kernel[0], "h.weight": kernel, "h.bias": kernel[0]}
    assert by_torchs_names(linear) == (linear, False)
    with pytest.raises(ValueError, match="have one name"):
        by_torchs_names({"a.kernel": kernel, "a.weight": kernel})


def test_no_copies_of_what_is_not_there():
    """What claims more entries than it stores is left alone, and refused where it is read."""
    wide = torch.zeros(1).expand(2**30, 2**10)
    ours, _ = by_torchs_names({"a.kernel": wide, "b.kernel": torch.eye(2).to_sparse()})
    assert list(ours) == ["a.kernel", "b.kernel"]


def test_orders_of_numpy(tmp_path):
    """An archive's arrays come in any order of axes and bytes."""
    array = np.arange(6, dtype=">f8").reshape(2, 3)
    held = {"w/weight_ih": array, "w/weight_hh": np.asfortranarray(np.eye(2)), "step": 7}
    np.savez(tmp_path / "m.npz", **held)
    loaded = load_model(tmp_path / "m.npz", "rnn-tanh")
    assert loaded.weights["weight_ih"].tolist() == array.tolist()
    assert loaded.tensors["weight_hh"] == "w.weight_hh"
    np.savez_compressed(tmp_path / "c.npz", **held)
    assert load_model(tmp_path / "c.npz", "rnn-tanh").digest == loaded.digest
