"""Make tests/wild/files/jax_*: parameters of flax and equinox, with their outputs.

Run as `python tests/wild/make_jax.py`, with jax, flax and equinox.
"""

from pathlib import Path

import equinox as eqx
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx, serialization, traverse_util

FILES = Path(__file__).with_name("files")
CELLS = ("SimpleCell", "LSTMCell", "OptimizedLSTMCell", "GRUCell")


def drawn(tree, random):
    """The parameters with other numbers, biases too."""
    return jax.tree.map(lambda one: jnp.asarray(random.normal(0, 0.5, one.shape), "float32"), tree)


def linen(x, random, folder):
    """One file of each cell of flax.linen under nn.RNN, and one of a whole model."""
    outputs = {}
    for name in CELLS:
        module = nn.RNN(getattr(nn, name)(3))
        params = drawn(module.init(jax.random.key(0), x), random)
        outputs[f"linen_{name}"] = module.apply(params, x)
        (folder / f"jax_linen_{name}.msgpack").write_bytes(serialization.to_bytes(params))

    class Model(nn.Module):
        @nn.compact
        def __call__(self, words):
            y = nn.RNN(nn.GRUCell(3))(nn.Embed(4, 2)(words))
            y = nn.RNN(nn.OptimizedLSTMCell(2))(y)
            return y, nn.Dense(2)(y)

    words = jnp.asarray([[0, 1, 2, 3, 3, 2, 1]])
    params = drawn(Model().init(jax.random.key(0), words), random)
    outputs["words"] = words
    outputs["model"], outputs["head"] = Model().apply(params, words)
    (folder / "jax_model.msgpack").write_bytes(serialization.to_bytes(params))
    flat = traverse_util.flatten_dict(params, sep="/")
    np.savez(folder / "jax_model.npz", **flat)
    return outputs


def stepped(cell, carry, x):
    """The outputs of a cell of nnx or equinox, step by step."""
    outputs = []
    for t in range(x.shape[1]):
        carry, y = cell(carry, x[:, t])
        outputs.append(y)
    return jnp.stack(outputs, 1)


def others(x, random, folder):
    """One .npz of each cell of flax.nnx and of equinox."""
    outputs = {}
    for name in CELLS:
        cell = getattr(nnx, name)(2, 3, rngs=nnx.Rngs(0))
        nnx.update(cell, drawn(nnx.state(cell, nnx.Param), random))
        start = cell.initialize_carry((1, 2), nnx.Rngs(0))
        outputs[f"nnx_{name}"] = stepped(cell, start, x)
        flat = traverse_util.flatten_dict(nnx.to_pure_dict(nnx.state(cell, nnx.Param)), sep=".")
        np.savez(folder / f"jax_nnx_{name}.npz", **flat)
    for name in ("LSTMCell", "GRUCell"):
        cell = drawn(getattr(eqx.nn, name)(2, 3, key=jax.random.key(0)), random)
        h = jnp.zeros(3)
        state, seen = (h, h) if name == "LSTMCell" else h, []
        for t in range(x.shape[1]):
            state = cell(x[0, t], state)
            seen.append(state[0] if name == "LSTMCell" else state)
        outputs[f"equinox_{name}"] = jnp.stack(seen)[None]
        named = ("weight_ih", "weight_hh", "bias", "bias_n")
        held = {one: getattr(cell, one) for one in named if getattr(cell, one, None) is not None}
        np.savez(folder / f"jax_equinox_{name}.npz", **held)
    return outputs


def write(folder):
    """Write all files."""
    random = np.random.default_rng(0)
    x = jnp.asarray(random.normal(size=(1, 7, 2)), "float32")
    outputs = {"x": x} | linen(x, random, folder) | others(x, random, folder)
    np.savez(folder / "jax_outputs.npz", **outputs)


if __name__ == "__main__":
    write(FILES)
