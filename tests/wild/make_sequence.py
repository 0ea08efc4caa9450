"""Writes the fixtures of `test_sequence`: tiny models of transformers, as it saves them, with
inputs of one layer's recurrence and the states that the library itself has after them.

    python tests/wild/make_sequence.py

A recording has x (M, T, d), the inputs of M runs of the cell, h (M, N), the library's states at
their end, and start (M, N), those before.
"""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import torch
from safetensors.torch import save_file
from torch import Tensor

FILES = Path(__file__).with_name("files") / "sequence"
T = 12


class Recording(NamedTuple):
    """A model, one of its layers, and runs of the layer's recurrence."""

    model: Any
    layer: str
    x: Tensor
    h: Tensor
    start: Tensor | None = None


def built(name: str, **sizes: Any) -> Any:
    """A model of that name in transformers with random weights, in evaluation."""
    import transformers

    torch.manual_seed(1)
    config = getattr(transformers, f"{name}Config")(vocab_size=11, **sizes)
    model = getattr(transformers, f"{name}Model")(config).eval()
    with torch.no_grad():  # at first gates hardly depend on inputs
        for part in model.parameters():
            part += 0.3 * torch.randn_like(part)
    return model


def run(
    model: Any, *parts: torch.nn.Module, use_cache: bool = True
) -> tuple[Any, list[tuple[Tensor, Any]]]:
    """The output for T tokens, and the first input and the output of each part."""
    seen: dict[torch.nn.Module, tuple[Tensor, Any]] = {}
    hooks = [
        part.register_forward_hook(lambda part, fed, out: seen.update({part: (fed[0], out)}))
        for part in parts
    ]
    tokens = torch.randint(0, 11, (1, T), generator=torch.Generator().manual_seed(2))
    with torch.no_grad():
        output = model(tokens, use_cache=use_cache)
    for hook in hooks:
        hook.remove()
    return output, [seen[part] for part in parts]


def joined(gate: Tensor, drive: Tensor) -> Tensor:
    """The inputs (gate, drive) of one run: (1, T, ·)."""
    return torch.cat([gate, drive], 2)


def mamba() -> Recording:
    """Mamba."""
    sizes = {"hidden_size": 4, "state_size": 3, "time_step_rank": 2, "conv_kernel": 3}
    model = built("Mamba", num_hidden_layers=2, **sizes)
    output, [(u, low)] = run(model, model.layers[1].mixer.x_proj)
    delta, B, _ = low.split([2, 3, 3], 2)
    state = output.cache_params.layers[1].recurrent_states[0]
    drive = (u[..., None] * B[:, :, None]).flatten(2)
    return Recording(model, "layers.1.mixer", joined(delta, drive), state.flatten(1))


def falcon_mamba() -> Recording:
    """FalconMamba."""
    sizes = {"hidden_size": 4, "state_size": 3, "time_step_rank": 2, "conv_kernel": 3}
    model = built("FalconMamba", num_hidden_layers=1, **sizes)
    mixer = model.layers[0].mixer
    output, [(u, _), (_, delta), (_, B)] = run(
        model, mixer.x_proj, mixer.dt_layernorm, mixer.b_layernorm
    )
    state = output.cache_params.layers[0].recurrent_states[0]
    drive = (u[..., None] * B[:, :, None]).flatten(2)
    return Recording(model, "layers.0.mixer", joined(delta, drive), state.flatten(1))


def mamba2() -> Recording:
    """Mamba-2: a run for each entry of a head's state."""
    from transformers.models.mamba2 import modeling_mamba2 as home

    sizes = {"hidden_size": 4, "state_size": 3, "num_heads": 2, "head_dim": 4, "n_groups": 1}
    model = built("Mamba2", num_hidden_layers=1, conv_kernel=3, chunk_size=4, **sizes)
    scan = mock.Mock(wraps=home.mamba2_chunk_scan)
    with mock.patch.object(home, "mamba2_chunk_scan", scan):
        output, _ = run(model)
    u, dt, _, B = scan.call_args.args[:4]
    drive = torch.einsum("thp,tn->pnth", u[0], B[0, :, 0]).flatten(0, 1)
    state = output.cache_params.layers[0].recurrent_states[0][0].permute(1, 2, 0).flatten(0, 1)
    gate = dt.expand(len(drive), -1, -1)
    return Recording(model, "layers.0.mixer", joined(gate, drive), state)


def recurrent_gemma() -> Recording:
    """RG-LRU: from the state after the first position, which has no factor √(1 − a²)."""
    sizes = {"hidden_size": 8, "lru_width": 8, "num_attention_heads": 2, "intermediate_size": 8}
    model = built(  # its cache asks for a layer of attention
        "RecurrentGemma",
        num_hidden_layers=2,
        conv1d_width=3,
        block_types=["recurrent", "attention"],
        **sizes,
    )
    layer = "layers.0.temporal_block.rg_lru"
    _, [(x, h)] = run(model, model.get_submodule(layer))
    return Recording(model, layer, x[:, 1:], h[:, -1], h[:, 0])


def rwkv() -> Recording:
    """RWKV-4: a run for the numerators, and one for the denominators."""
    model = built("Rwkv", hidden_size=4, num_hidden_layers=2, context_length=16)
    part = model.blocks[0].attention
    output, [(_, key), (_, value)] = run(model, part.key, part.value)
    num, den, size = (state[:, :, 0] for state in output.state[2:5])
    x = torch.cat([key.exp() * value, key.exp()])
    h = torch.cat([num, den]) * size.exp()
    return Recording(model, "blocks.0.attention", x, h)


def xlstm() -> Recording:
    """mLSTM: a run for each entry of a head's matrix memory."""
    native = {"chunkwise": "chunkwise--native_autograd", "sequence": "native_sequence__native"}
    kernels = {f"{name}_kernel": kernel for name, kernel in native.items()}
    model = built(
        "xLSTM", hidden_size=8, num_blocks=1, num_heads=2, step_kernel="native", **kernels
    )
    part = model.blocks[0].mlstm_layer
    parts = (part.k, part.v, part.igate_preact, part)
    _, [(fed, key), (_, value), (_, gate), (_, (_, state))] = run(model, *parts, use_cache=False)
    k, v = (one.unflatten(2, (2, -1))[0] for one in (key, value))
    i = (15 * (gate / 15).tanh()).exp()[0]
    drive = torch.einsum("th,thk,thv->kvth", i, k, v).flatten(0, 1)
    C, _, m = state
    h = (C * m.exp()[..., None])[0].permute(1, 2, 0).flatten(0, 1)
    gates = fed.expand(len(drive), -1, -1)
    return Recording(model, "blocks.0.mlstm_layer", joined(gates, drive), h)


RECORDINGS: dict[str, Callable[[], Recording]] = {
    make.__name__: make for make in (mamba, falcon_mamba, mamba2, recurrent_gemma, rwkv, xlstm)
}


def write(name: str, folder: Path) -> None:
    """Write the model as the library saves it, and the recording beside it."""
    found = RECORDINGS[name]()
    found.model.save_pretrained(folder)
    start = torch.zeros_like(found.h) if found.start is None else found.start
    parts = {"x": found.x, "h": found.h, "start": start}
    stored = {role: part.detach().float().contiguous().clone() for role, part in parts.items()}
    save_file(stored, folder / "recorded.safetensors", {"layer": found.layer})


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    for each in RECORDINGS:
        write(each, FILES / each)
