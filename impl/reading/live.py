"""Layers of Keras and parameters of flax as they are in memory: read as torch's cells.

Kernels are (inputs, outputs), with the gates as columns: transposed, and their blocks in torch's
order, they are torch's weights. Keras' LSTM has i, f, g, o, its GRU z, r, h, with two biases if
`reset_after`, else Cho's, with one. flax names gates apart (`hf.kernel`), or has them in torch's
order in one kernel (`dense_h.kernel`). Parameters of flax do not say activations: those are its
defaults. Sources: keras.layers, flax.linen and flax.nnx.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnnbounds.impl.errors import InputError, shown
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.reading.opened import Opened

_KERAS = {"SimpleRNN": ("rnn", (0,)), "LSTM": ("lstm", (0, 1, 2, 3)), "GRU": ("gru", (1, 0, 2))}
_REFUSED = ("go_backwards", "stateful", "zero_output_for_mask")
_VANILLA = ("tanh", "relu", "sigmoid", "softplus")
_STATE = "hand over its weights by torch's names, as a dictionary of tensors with the cell"
_GATES = {"ifgo": {"hi", "hf", "hg", "ho"}, "rzn": {"ir", "iz", "in", "hn"}, "": {"i"}}  # biases
_JOINT = {
    4: ("lstm", "dense_h"),
    3: ("gru", "dense_i"),
    1: (None, "dense_i"),
}  # cells with one kernel a side
_CELLS = {"ifgo": "lstm", "rzn": "gru", "": None}


def _refused(name: str, what: str) -> InputError:
    return InputError(f"{shown(name)} {what}; {_STATE}")


def from_keras(layer: Any) -> LoadedModel[Any]:
    """The cell of a SimpleRNN, LSTM or GRU of Keras 3 that was built; masks are not its part.

    Raises InputError for other layers, activations, directions and states that are kept.

    >>> rnnbounds.certify(rnnbounds.from_keras(model.get_layer("lstm")), inputs=1.0)
    """
    kind, name = type(layer).__name__, str(getattr(layer, "name", type(layer).__name__))
    if kind not in _KERAS or not type(layer).__module__.startswith("keras."):
        raise _refused(name, f"is a {kind}, no SimpleRNN, LSTM or GRU of Keras")
    told = layer.get_config()
    for word in _REFUSED:
        if told.get(word):
            raise _refused(name, f"has {word}")
    if layer.compute_dtype != layer.variable_dtype:
        raise _refused(name, "computes in another precision than that of its weights")
    cell, order = _KERAS[kind]
    rho, gates = told["activation"], told.get("recurrent_activation", "sigmoid")
    if gates != "sigmoid" or rho not in (_VANILLA if cell == "rnn" else ("tanh",)):
        words = rho if gates == "sigmoid" else gates
        raise _refused(name, f"has the activation {shown(str(words))}, which no cell here has")
    held = layer.get_weights()
    if not held:
        raise _refused(name, "has no weights yet: call it once")
    named = {"weight_ih": _blocks(held[0], order), "weight_hh": _blocks(held[1], order)}
    if held[2:]:
        biases = held[2] if held[2].ndim == 2 else held[2][None]  # of the input, of the state
        for role, bias in zip(("bias_ih", "bias_hh"), biases, strict=False):
            named[role] = _blocks(bias[None], order)[:, 0]
    cell = f"rnn-{rho}" if cell == "rnn" else cell
    cell = "gru-cho" if cell == "gru" and not told["reset_after"] else cell
    return _model(named, cell, f"{name} (Keras' {kind})")


def from_flax(parameters: Mapping[str, Any], cell: str | None = None) -> LoadedModel[Any]:
    """The cell of parameters of flax' SimpleCell, LSTMCell, OptimizedLSTMCell or GRUCell, of linen
    or of nnx (`nnx.to_pure_dict(nnx.state(cell, nnx.Param))`), as a tree of arrays.

    `cell` is needed for a SimpleCell, as "rnn-tanh". Raises InputError for other trees.

    >>> rnnbounds.certify(rnnbounds.from_flax(params["params"]["cell"]), inputs=1.0)
    """
    dense: dict[str, dict[str, Tensor]] = {}
    for name, part in _leaves(parameters):
        owner, _, leaf = name.rpartition(".")
        dense.setdefault(owner.removesuffix("_"), {})[leaf] = _tensor(part)
    known, weights = None, dict[str, Tensor]()
    if dense.keys() == {"dense_i", "dense_h"} and "kernel" in dense["dense_h"]:
        n, width = dense["dense_h"]["kernel"].shape
        if width // n in _JOINT:
            known, biased = _JOINT[width // n]
            weights = _cell(dense, [["dense_i"], ["dense_h"]], {biased})
    for gates, biases in _GATES.items():
        sides = [[side + gate for gate in gates or ("",)] for side in "ih"]
        if dense.keys() == {name for side in sides for name in side}:
            known, weights = _CELLS[gates], _cell(dense, sides, biases)
    if weights and known is None and cell is None:
        raise _refused("a SimpleCell", "does not say its activation: name the cell")
    if not weights:
        listed = ", ".join(map(shown, list(dense)[:4])) or "nothing"
        what = f"hold {listed}, which is no SimpleCell, LSTMCell or GRUCell of flax"
        raise _refused("the parameters", what)
    return _model(weights, known or cell, "parameters of flax (with flax' default activations)")


def _cell(
    dense: Mapping[str, Mapping[str, Tensor]], sides: list[list[str]], biased: set[str]
) -> dict[str, Tensor]:
    """The weights of a cell by torch's names, of its layers by side; raises InputError."""
    for name, one in dense.items():
        expected = {"kernel", "bias"} if name in biased else {"kernel"}
        if one.keys() != expected or one["kernel"].ndim != 2:
            raise _refused(name, f"has {', '.join(sorted(one))}, another layer than flax' cell")
    found: dict[str, Tensor] = {}
    for end, side in zip(("ih", "hh"), sides, strict=True):
        found[f"weight_{end}"] = torch.cat([dense[name]["kernel"].T for name in side])
        if not biased.isdisjoint(side):
            zero = [torch.zeros_like(dense[name]["kernel"][0]) for name in side]
            parts = zip(side, zero, strict=True)
            found[f"bias_{end}"] = torch.cat([dense[k].get("bias", none) for k, none in parts])
    return found


def _leaves(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The arrays of a tree, each by its path."""
    for name, part in tree.items():
        if isinstance(part, Mapping):
            yield from _leaves(part, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", part


def _tensor(part: Any) -> Tensor:
    """A copy of an array; NumPy knows bfloat16 by another name."""
    array = np.asarray(part)
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.copy().view("int16")).view(torch.bfloat16)
    if array.dtype.kind != "f":
        raise _refused("an array", f"is {array.dtype}, not a real float")
    return torch.from_numpy(array.copy())


def _blocks(columns: Any, order: tuple[int, ...]) -> Tensor:
    """Rows of the gates in torch's order; columns (…, g n)."""
    blocks = _tensor(columns).chunk(len(order), -1)
    return torch.cat([blocks[place] for place in order], -1).mT.contiguous()


def _model(weights: Mapping[str, Tensor], cell: str | None, title: str) -> LoadedModel[Any]:
    return load_model(Opened(title, title, weights, cell, title))
