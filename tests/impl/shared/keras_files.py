"""Keras files written by hand: a configuration, and an HDF5 tree that follows it."""

import io
import json
import zipfile
from collections import Counter
from pathlib import Path

import h5py
import numpy as np

GATES = {"SimpleRNN": 1, "LSTM": 4, "GRU": 3}
SNAKE = {"SimpleRNN": "simple_rnn", "LSTM": "lstm", "GRU": "gru"}


def layer(kind, name, n=3, **settings):
    """An entry of a Sequential model, a recurrent layer as Keras configures it by default."""
    config = {"name": name, "units": n, "activation": "tanh", "return_sequences": True}
    if kind != "SimpleRNN":
        config["recurrent_activation"] = "sigmoid"
    if kind == "GRU":
        config["reset_after"] = True
    entry = {"module": "keras.layers", "class_name": kind, "registered_name": None}
    return entry | {"config": config | {"use_bias": True} | settings}


def other(kind, name="between", **settings):
    """An entry of another layer, without weights."""
    return {"module": "keras.layers", "class_name": kind, "config": {"name": name} | settings}


def arrays(kind, n=3, d=2, bias=True):
    """The variables of a cell."""
    g = GATES[kind]
    random = np.random.default_rng(0)
    shapes = [(d, g * n), (n, g * n), (2, g * n) if kind == "GRU" else (g * n,)]
    return [random.normal(0, 0.3, shape).astype("float32") for shape in shapes[: 2 + bias]]


def h5(layers, edit=None):
    """The bytes of model.weights.h5: the tree of the layers, changed by `edit(file)`."""
    stream, used, d = io.BytesIO(), Counter(), 2
    with h5py.File(stream, "w") as file:
        for entry in layers:
            kind, config = entry["class_name"], entry["config"]
            snake = SNAKE.get(kind, kind.lower())
            group = f"layers/{snake}" + (f"_{used[snake]}" if used[snake] else "")
            used[snake] += 1
            file.require_group(f"{group}/vars").attrs["name"] = config["name"]
            if kind in GATES:
                for i, array in enumerate(
                    arrays(kind, int(config["units"]), d, config["use_bias"])
                ):
                    file[f"{group}/cell/vars/{i}"] = array
                d = int(config["units"])
        if edit is not None:
            edit(file)
    return stream.getvalue()


def model_of(layers, feeds=None, outputs=()):
    """The configuration of a Sequential model, or of a Functional one: `feeds` has by the name of a
    layer those that it reads."""
    kind = "Sequential" if feeds is None else "Functional"
    listed = [entry | {"name": entry["config"]["name"]} for entry in layers]
    for entry in listed if feeds is not None else ():
        args = [tensor(name) for name in feeds.get(entry["name"], ())]
        entry["inbound_nodes"] = [{"args": args, "kwargs": {}}] if args else []
    held = {"layers": listed, "output_layers": [[name, 0, 0] for name in outputs]}
    return {"module": "keras", "class_name": kind, "config": held}


def tensor(name, output=0):
    """A tensor in a call: an output of a layer."""
    history = {"keras_history": [name, 0, output]}
    return {"class_name": "__keras_tensor__", "config": history}


def keras_file(
    *layers, feeds=None, outputs=(), edit=None, config=None, path="m.keras",
    compression=zipfile.ZIP_STORED,
):  # fmt: skip
    """The path of a `.keras` file of a model of these layers."""
    model = model_of(layers, feeds, outputs)
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("config.json", json.dumps(model) if config is None else config)
        archive.writestr("model.weights.h5", h5(layers, edit))
    return Path(path)
