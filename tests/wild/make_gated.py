"""Writes the fixtures of `test_gated`: small gated layers of libraries, as they save them, with
inputs and the library's own outputs.

    python tests/wild/make_gated.py speechbrain
    python tests/wild/make_gated.py flax

Each needs the library of that name. `NAME.safetensors` has the weights by the library's own names,
`NAME-run.safetensors` x (N, T, d) and h (N, T, n).
"""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

FILES = Path(__file__).with_name("files") / "gated"
N, T, d, n = 3, 7, 2, 4
Arrays = dict[str, np.ndarray]


def inputs() -> np.ndarray:
    """x (N, T, d) in float32."""
    return np.random.default_rng(0).standard_normal((N, T, d)).astype("float32")


def speechbrain(folder: Path = FILES) -> None:
    """A layer of LiGRU with each activation, its normalisation as if it had been trained."""
    import torch
    from speechbrain.nnet.RNN import LiGRU

    for rho in ("relu", "leaky_relu", "tanh"):
        torch.manual_seed(1)
        model = LiGRU(hidden_size=n, input_shape=(N, T, d), nonlinearity=rho).eval()
        for name, part in model.state_dict().items():
            if ".norm." in name and part.is_floating_point():
                part.copy_(torch.rand(part.shape) + 0.25)
        with torch.no_grad():
            h, _ = model(torch.from_numpy(inputs()))
        weights = {name: part.numpy() for name, part in model.state_dict().items()}
        weights["rnn.0.drop_masks"] = weights["rnn.0.drop_masks"][:8]  # of 16,000 rows, all unused
        write(folder, f"li_gru_{rho}", weights, h.numpy())


def flax(folder: Path = FILES) -> None:
    """flax's MGUCell."""
    import jax
    from flax import linen, traverse_util

    layer = linen.RNN(linen.MGUCell(features=n))
    x = inputs()
    params = layer.init(jax.random.PRNGKey(1), x)["params"]
    params = jax.tree.map(
        lambda a: a + 0.2 * jax.random.normal(jax.random.PRNGKey(2), a.shape), params
    )
    flat = traverse_util.flatten_dict(params, sep="/")
    h = layer.apply({"params": params}, x)
    write(folder, "mgu", {name: np.asarray(part) for name, part in flat.items()}, np.asarray(h))


def write(folder: Path, name: str, weights: Arrays, h: np.ndarray) -> None:
    """Both files of a model."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = {name: np.ascontiguousarray(part) for name, part in weights.items()}
    save_file(kept, folder / f"{name}.safetensors")
    save_file({"x": inputs(), "h": np.ascontiguousarray(h)}, folder / f"{name}-run.safetensors")


LIBRARIES: dict[str, Callable[[Path], None]] = {"speechbrain": speechbrain, "flax": flax}

if __name__ == "__main__":
    for library in sys.argv[1:] or LIBRARIES:
        LIBRARIES[library](FILES)
