"""The files that transcripts speak of: models, data, records."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch.nn.utils.parametrizations import weight_norm

ASKED = """\
[tool.rnnbounds.models.forecaster]
model = "model.safetensors"
layer = "rnn"
inputs = "-1:1"
eps = 0.1
baseline = "main.json"

[tool.rnnbounds.models.seen]
model = "model.safetensors"
layer = "rnn"
data = "uniform.npy"
eps = 0.5
share = 0.5
confidence = 0.9
"""
CAUSAL_NETS = """\
import torch

def last_three():
    return lambda x: torch.nn.functional.pad(x, (0, 0, 2, 0)).unfold(1, 3, 1).sum(-1)

class Previous(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding.from_pretrained(torch.eye(8))

    def forward(self, tokens):
        x = self.embed(tokens)
        return x + 1.5 * torch.nn.functional.pad(x, (0, 0, 1, 0))[:, :-1]

def tokens():
    return Previous()

def ahead():
    return lambda x: x + x.roll(-1, 1)

def noisy():
    return torch.nn.Sequential(torch.nn.Linear(1, 2), torch.nn.Dropout())

def fails():
    def model(x):
        raise ValueError("two\\nlines")
    return model
"""
Weights = dict[str, torch.Tensor]


def rnn(W: object, U: object = None, b: object = None) -> Weights:
    """A state dict of one layer; U is a column of ones by default."""
    recurrent = torch.tensor(W)
    held = {
        "weight_hh_l0": recurrent,
        "weight_ih_l0": torch.ones(len(recurrent), 1) if U is None else torch.tensor(U),
    }
    return held if b is None else held | {"bias_ih_l0": torch.tensor(b)}


def module(made: torch.nn.Module, scale: float, prefix: str = "", only: str = "") -> Weights:
    """Weights that are small: of a torch module drawn from seed 0, times the scale."""
    return {
        f"{prefix}{name}": part * (scale if only in name else 1)
        for name, part in made.state_dict().items()
    }


def seeded(make: type[torch.nn.Module], *sizes: int, **how: object) -> torch.nn.Module:
    """A module with the first weights of seed 0."""
    torch.manual_seed(0)
    return make(*sizes, **how)


def lstm(n: int = 1, steep: float = 0.0) -> Weights:
    """An LSTM whose candidate follows its output so steeply."""
    W, b = torch.zeros(4, n, n), torch.zeros(4, n)
    W[2] = steep * torch.eye(n)
    if steep:
        b[:2] = b[3] = 9.0
    held = {"weight_hh": W.reshape(4 * n, n), "weight_ih": torch.ones(4 * n, 1) / 8}
    return held | {"bias_ih": b.flatten()}


def orbits() -> Weights:
    """A GRU with two orbits."""
    held = {name: torch.zeros_like(part) for name, part in torch.nn.GRU(1, 1).state_dict().items()}
    held["weight_hh_l0"][2], held["bias_ih_l0"][0] = 4.0, 4.0
    return held


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that each transcript begins with a copy of."""
    folder, nan = tmp_path_factory.mktemp("files"), float("nan")
    torch_files: dict[str, object] = {
        "stable": rnn([[0.5, 0.0, 0.0], [0.0, 0.25, 0.0], [0.0, 0.125, 0.125]]),
        "later": rnn([[0.75, 0.0, 0.0], [0.0, 0.25, 0.0], [0.0, 0.125, 0.125]]),
        "undecided": rnn([[1.0]]),
        "large": rnn([[1.25]]),
        "refuted": rnn([[0.0, 1.5], [-1.5, 0.0]]),
        "deaf": rnn([[2.0]], [[0.0]]),
        "relu": rnn([[0.0, 0.5], [0.0, 0.0]], b=[1.0, -1.0]),
        "half-relu": rnn([[0.0, 0.25], [0.0, 0.0]], b=[1.0, -1.0]),
        "scalar": rnn([[0.5]], [[3.0]]),
        "nan": rnn([[nan]]),
        "huge": rnn([[1e38]]),
        "tensor": torch.ones(2),
        "other": {"fc.weight": torch.ones(2)},
        "enclosed": {
            **{f"enc.{name}": part for name, part in rnn([[0.5, 0.0], [0.0, 0.5]]).items()},
            "enc.mask": torch.ones(2), "head.weight": torch.ones(1, 2),
        },
        "nothing": {"w": torch.ones(2)},
        "whole": module(
            torch.nn.ModuleDict({
                "encoder": seeded(torch.nn.GRU, 2, 3),
                "decoder": torch.nn.LSTM(3, 3, bidirectional=True),
            }), 0.125, only="encoder",
        ),
        "read": module(
            torch.nn.ModuleDict({
                "rnn": seeded(torch.nn.RNN, 1, 2), "head": torch.nn.Linear(2, 3),
            }), 0.25, only="hh",
        ),
        "normed": module(
            weight_norm(seeded(torch.nn.GRU, 2, 3), "weight_hh_l0"), 0.125, only="original0"
        ),
    }  # fmt: skip
    for name, held in torch_files.items():
        torch.save(held, folder / f"{name}.pt")
    files = {
        "lstm": module(seeded(torch.nn.LSTM, 2, 4), 0.2, only="hh"),
        "gru": module(seeded(torch.nn.GRU, 2, 4), 0.2, only="hh"),
        "stack": module(seeded(torch.nn.GRU, 2, 2, 2), 0.1),
        "embedded": module(seeded(torch.nn.RNN, 2, 3), 0.5, "rnn.")
        | {"embed.weight": torch.randn(6, 2) * 0.3},
        **{
            f"project-{scale}": module(seeded(torch.nn.LSTM, 1, 4), scale, "rnn.")
            for scale in (0.2, 0.3, 0.4, 8.0)
        },
        "six": module(seeded(torch.nn.RNN, 6, 2), 0.25),
        "slow": {
            "weight_hh": torch.zeros(4, 1).double(), "weight_ih": torch.zeros(4, 1).double(),
            "bias_ih": torch.tensor([0.0, 25.0, 0.0, 0.0]).double(),
        },
    }  # fmt: skip
    gated = {
        "steep": (lstm(steep=6.0), torch.float64),
        "half": (lstm(), torch.float16),
        "brain": ({k: v + (k == "weight_hh") / 128 for k, v in lstm(80).items()}, torch.bfloat16),
        "orbits": (orbits(), torch.float32),
    }  # fmt: skip
    for name, (held, dtype) in gated.items():
        files[name] = {role: part.to(dtype) for role, part in held.items()}
    files["bare"] = {role: part for role, part in files["embedded"].items() if "rnn" in role}
    for name, held in files.items():
        save_file(held, folder / f"{name}.safetensors")
    save_file(rnn([[0.5]]), folder / "says-tanh.safetensors", {"cell": "rnn-tanh"})
    save_file(rnn([[0.5]]), folder / "says-relu.safetensors", {"cell": "rnn-relu"})
    by = np.random.default_rng(0)
    np.save(folder / "x.npy", by.normal(size=(40, 12, 1)))
    np.save(folder / "x2.npy", np.linspace(0, 1, 24).reshape(3, 4, 2))
    np.save(folder / "uniform.npy", np.random.default_rng(0).uniform(-1, 1, (40, 12, 1)))
    np.save(folder / "wide.npy", np.zeros((5, 2)))
    np.save(folder / "nan.npy", np.full((5, 1), nan))
    shutil.copy(folder / "project-0.3.safetensors", folder / "model.safetensors")
    (folder / "pyproject.toml").write_text(ASKED)
    (folder / "torn.pt").write_bytes(b"PK\x03\x04")
    np.save(folder / "tokens.npy", np.random.default_rng(0).integers(0, 8, size=(40, 12)))
    texts = {
        "causal_nets.py": CAUSAL_NETS,
        "empty.pt": "",
        "text.pt": "not a model",
        "short.pt2": "PK",
        "short.onnx": "PK",
        "record.json": '{"schema": "rnnbounds/experiment/1"}',
        "empty.toml": "",
        "torn.toml": "[tool",
        "number.toml": "tool.rnnbounds.models = 3",
        "other.toml": "[tool.rnnbounds.model.a]\nmodel='m'",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    return folder
