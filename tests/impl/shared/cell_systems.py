"""A small system of every kind of cell, its certificate, and the file that carries it."""

from functools import cache

import checked
import torch
from tampering import taken_apart, written

from rnnbounds.impl.arithmetic.inputs.sets import input_box
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.convert.files import save_truncated
from rnnbounds.impl.convert.truncate import unrolled
from rnnbounds.impl.format.sealed import TRUNCATED
from rnnbounds.impl.reading.adapters import load_model

EPSILONS = (1e-2, 1e-4)


def weights_of(cell, names=(), n=2, d=1, layers=1, seed=0, scale=0.25):
    """Random float32 weights of a cell, or of layers of it, biases included."""
    draw, kind = torch.Generator().manual_seed(seed), kind_of(cell.removeprefix("stacked-"))
    found = {}
    for l in range(layers):
        layout = kind.layout(names)
        shapes = layout.shapes_for({"n": n, "d": d, "p": 1, "m1": n + 1})
        own = {name: torch.randn(shape, generator=draw) for name, shape in shapes.items()}
        own = {name: w * (scale / w.shape[-1] if w.ndim == 2 else 0.3) for name, w in own.items()}
        if "leak" in own:
            own["leak"] = own["leak"].abs().clamp(0.1, 0.9)
        d = layout.sizes(own).n
        suffix = f"_l{l}" if cell.startswith("stacked-") else kind.suffix
        found |= {name + suffix: w for name, w in own.items()}
    return found


SYSTEMS = {
    "lstm": ("lstm", "comparison"),
    "lstm in 2-norms": ("lstm", "spectral"),
    "projected": ("lstm-projected", "spectral"),
    "gru": ("gru", "perron"),
    "cho": ("gru-cho", "infinity"),
    "echo state": ("leaky-tanh", "diagonal"),
    "leaky": ("leaky-gelu", "diagonal"),
    "leaky relu": ("leaky-relu", "perron"),
    "deep": ("deep-tanh", "spectral", ("transition_2_weight",)),
    "lstms": ("stacked-lstm", "cascade"),
    "grus": ("stacked-gru", "perron"),
    "rnns": ("stacked-rnn-tanh", "cascade"),
    "sines": ("stacked-rnn-sin", "diagonal"),
}


@cache
def system(which):
    """A model and its certificate, in another dtype or set of inputs now and then."""
    cell, norm, *names = SYSTEMS[which]
    number = list(SYSTEMS).index(which)
    layers = 2 if cell.startswith("stacked-") else 1
    weights = weights_of(cell, *names, layers=layers, seed=number)
    dtype = (torch.float32, torch.float64, torch.bfloat16)[number % 3]
    held = load_model({name: w.to(dtype) for name, w in weights.items()}, cell)
    bound = input_box(-0.5, 1.0, held.d) if number % 4 == 1 else 1.5
    told = certify(held, inputs=bound, eps=EPSILONS, norm=norm)
    assert told.verdict == "certified", which
    return held, told


def good(path, which):
    """A good file that is taken apart."""
    held, told = system(which)
    save_truncated(unrolled(held, told.windows[0][1]), told.to_dict(), path)
    return taken_apart(path.read_bytes())


def verdict(path, file, of=None):
    """Of the file, sealed anew; see `checked`."""
    return checked.verdict("truncated", path, written(file, TRUNCATED.seal), of)
