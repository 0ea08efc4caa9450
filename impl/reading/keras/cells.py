"""The cells of Keras and their weights, in torch's order of gates and by torch's names.

Keras multiplies from the right, with gates as columns: x K + h R + b, K (d, g n), R (n, g n). Its
LSTM has the gates i, f, c, o (torch's i, f, g, o), its GRU z, r, h, where torch has r, z, n; both
have h⁺ = z∘h + (1 − z)∘h̃. A GRU with `reset_after` is torch's, with the biases (2, 3n) of input and
state; without, it is Cho's, with one bias (3n,). Source: keras.src.layers.rnn (3.15).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from rnnbounds.impl.errors import shown
from rnnbounds.impl.reading.keras.config import Config, KerasError, kind_of_layer
from rnnbounds.impl.reading.recognition.gated_activations import UnreadActivationError, keras_cell

ROLES = ("kernel", "recurrent_kernel", "bias")
GATES = {"SimpleRNN": "h", "LSTM": "ifgo", "GRU": "zrn"}
_ORDER = {"SimpleRNN": "h", "LSTM": "ifgo", "GRU": "rzn"}
_HARD = "hard_sigmoid"  # of which Keras 2 and 3 have two
_TRAINED = "train it with cells that are read, or write its step as rnnbounds.program_kind has it"
_AGAIN = "save the model again with Keras"


@dataclass(frozen=True, eq=False)
class Cell:
    """One cell of a layer: its class (a key of GATES), its configuration, and its weights by role.

    settings is empty, or a name alone, in a file of weights alone; Keras' default activations, tanh
    and sigmoid, are then those of an LSTM and a GRU. version: of the Keras that wrote the file, ""
    if it does not say.
    """

    layer: str
    kind: str
    settings: Config
    stored: Mapping[str, Tensor]
    version: str = ""

    @property
    def name(self) -> str | None:
        """The name of the cell here; None for a SimpleRNN whose activation is not stated. Raises
        KerasError for a cell that is not read."""
        self._check_dtype()
        rho = self._activation("activation", None if self.kind == "SimpleRNN" else "tanh")
        if rho is None:
            return None
        base, gates = "rnn", "sigmoid"
        if self.kind != "SimpleRNN":
            gates = self._activation("recurrent_activation", "sigmoid") or "linear"
            base = "lstm" if self.kind == "LSTM" else "gru" if self._resets_after() else "gru-cho"
        if _HARD in (rho, gates) and not self.version:
            what = "has a hard sigmoid, whose slope depends on the version of Keras"
            raise KerasError(self.layer, f"{what}, which the file does not say", _AGAIN)
        try:
            return keras_cell(base, rho, gates, self.version)
        except UnreadActivationError as unread:
            raise KerasError(self.layer, unread.what, _TRAINED) from None

    def weights(self) -> dict[str, Tensor]:
        """The weights by torch's names without a layer: weight_ih (g n, d), weight_hh (g n, n), and
        biases (g n,) where there are any; raises KerasError for other shapes."""
        if missing := [role for role in ROLES[:2] if role not in self.stored]:
            raise KerasError(self.layer, f"has no {missing[0]} in the file", _AGAIN)
        K, R = self.stored["kernel"], self.stored["recurrent_kernel"]
        n = self.settings.get("units", len(R) if R.ndim else 0)
        if type(n) is not int or n < 1:
            raise KerasError(self.layer, f"has {shown(n)} units", _AGAIN)
        columns = len(GATES[self.kind]) * n
        self._check_shape("recurrent_kernel", (n, columns))
        self._check_shape("kernel", (K.shape[0] if K.ndim else 0, columns))
        found = {"weight_ih": self._ordered(K.T), "weight_hh": self._ordered(R.T)}
        if self.settings.get("use_bias", "bias" in self.stored) != ("bias" in self.stored):
            raise KerasError(
                self.layer, "has a bias in the file or the configuration alone", _AGAIN
            )
        if "bias" in self.stored and self.kind == "GRU" and self._resets_after():
            self._check_shape("bias", (2, columns))
            b_ih, b_hh = self.stored["bias"]
            found |= {"bias_ih": self._ordered(b_ih), "bias_hh": self._ordered(b_hh)}
        elif "bias" in self.stored:
            self._check_shape("bias", (columns,))
            found["bias_ih"] = self._ordered(self.stored["bias"])
        return found

    def _ordered(self, rows: Tensor) -> Tensor:
        """The blocks of rows of the gates, in torch's order."""
        gates = GATES[self.kind]
        blocks = dict(zip(gates, rows.chunk(len(gates)), strict=True))
        return torch.cat([blocks[gate] for gate in _ORDER[self.kind]]).contiguous()

    def _resets_after(self) -> bool:
        """True if the reset gate comes after the product; where that is not stated, older files
        tell it by their biases."""
        stated = self.settings.get("reset_after")
        if stated is None and "bias" not in self.stored:
            what = "does not say reset_after, and has no bias that tells it"
            raise KerasError(self.layer, what, "save the whole model with Keras 3")
        return bool(self.stored["bias"].ndim == 2 if stated is None else stated)

    def _activation(self, key: str, default: str | None) -> str | None:
        """The name of an activation; one that is an object is in no table. A configuration says it,
        a file of weights alone does not."""
        if key not in self.settings and self.settings.keys() - {"name"}:
            raise KerasError(self.layer, f"does not say its {key}", _AGAIN)
        held = self.settings.get(key, default)
        if isinstance(held, Mapping):
            inner = held.get("config")
            return f"object {inner if isinstance(inner, str) else kind_of_layer(held)}"
        return "linear" if held is None and key in self.settings else held

    def _check_dtype(self) -> None:
        """Raise KerasError if the layer computes in another dtype than that of its weights."""
        policy = self.settings.get("dtype")
        while isinstance(policy, Mapping):
            policy = policy["config"].get("name")
        stored = {str(one.dtype).removeprefix("torch.") for one in self.stored.values()}
        if policy is not None and stored - {policy}:
            what = f"computes in {shown(policy)} with weights stored in {', '.join(sorted(stored))}"
            raise KerasError(self.layer, what, "save it with the dtype policy of its weights")

    def _check_shape(self, role: str, shape: tuple[int, ...]) -> None:
        actual = tuple(self.stored[role].shape)
        if actual != shape or 0 in actual:
            what = f"has a {role} of shape {actual}, not {shape}, that of {self.kind}"
            raise KerasError(self.layer, what, _AGAIN)
