"""Make tests/wild/files/keras_*: models that Keras writes, with their outputs.

Run as `python tests/wild/make_keras.py`, with keras, h5py and torch, and, for the files of Keras 2,
with TensorFlow 2.15 as `python tests/wild/make_keras.py keras2`.
"""

import gzip
import os
import sys
from pathlib import Path

os.environ.setdefault("KERAS_BACKEND", "torch")
import numpy as np

FILES = Path(__file__).with_name("files")


def models(keras):
    """Small models by name, with inputs and the outputs of each of their layers by its name."""
    L = keras.layers
    first = keras.Input((7, 2))
    x = L.LSTM(3, return_sequences=True, name="enc")(first)
    x = L.LSTM(4, return_sequences=True, name="upper", dropout=0.2)(L.Dropout(0.3)(x))
    yield "stack", first, [x, L.Dense(2, name="head")(x), L.Dense(2, "relu", name="bent")(x)]
    each = [
        L.GRU(3, return_sequences=True, name="gru"),
        L.GRU(3, return_sequences=True, name="cho", reset_after=False),
        L.GRU(3, return_sequences=True, name="bare", use_bias=False),
        L.SimpleRNN(3, return_sequences=True, name="tanh"),
        L.SimpleRNN(3, "relu", return_sequences=True, name="relu", use_bias=False),
        L.RNN([L.GRUCell(3), L.GRUCell(2)], return_sequences=True, name="levels"),
        L.RNN(L.LSTMCell(2), return_sequences=True, name="cell"),
    ]
    yield "cells", first, [layer(first) for layer in each]
    x = L.Bidirectional(L.LSTM(2, return_sequences=True), name="both")(first)
    y = L.Bidirectional(L.LSTM(2, return_sequences=True), name="top")(x)
    z = L.Bidirectional(L.GRU(2, return_sequences=True), name="two")(first)
    back = L.LSTM(2, return_sequences=True, go_backwards=True, name="back")(first)
    yield "directions", first, [y, z, L.LSTM(2, return_sequences=True, name="on")(back)]
    words = keras.Input((7,))
    x = L.Embedding(5, 2, mask_zero=True, name="words")(words)
    inner = keras.Sequential([keras.Input((7, 2)), L.LSTM(3, name="rnn")], name="inner")
    yield "nested", words, [inner(x)]


def write(keras, prefix, folder):
    """Write all models to a folder in each format, and their outputs."""
    for name, inputs, outputs in models(keras):
        random = np.random.default_rng(0)
        model = keras.Model(inputs, outputs)
        model.set_weights([random.normal(0, 0.5, one.shape) for one in model.get_weights()])
        shape = (2, *inputs.shape[1:])
        x = random.normal(size=shape) if len(shape) == 3 else random.integers(1, 5, shape)
        x = x.astype("float32")
        answers = model(x) if len(outputs) > 1 else [model(x)]
        called = [one._keras_history[0].name for one in outputs]
        answers = [keras.ops.convert_to_numpy(y) if prefix == "keras" else y for y in answers]
        np.savez(folder / f"{prefix}_{name}.npz", x=x, **dict(zip(called, answers, strict=True)))
        model.save(folder / f"{prefix}_{name}.keras")
        model.save(folder / f"{prefix}_{name}.h5")
        end = ".weights.h5" if prefix == "keras" else "_weights.h5"
        model.save_weights(folder / f"{prefix}_{name}{end}")


def main(prefix):
    """Write all, each compressed: HDF5 keeps mostly zeros."""
    if prefix == "keras2":
        from tensorflow import keras
    else:
        import keras
    write(keras, prefix, FILES)
    for path in FILES.glob(f"{prefix}_*"):
        if path.name.endswith("weights.h5") and "cells" not in path.name:
            path.unlink()
        elif path.suffix in (".keras", ".h5"):
            path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
            path.unlink()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "keras")
