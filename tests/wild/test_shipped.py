"""Models that packages ship, asked as their owners would ask: silero-vad's LSTM, and g2p_en's GRUs.

Nothing is converted by hand. Inputs of silero's LSTM are its own convolutions' of a synthetic
sound, those of g2p_en the embedded letters of words.
"""

import json
import re
from importlib.util import find_spec
from pathlib import Path
from pydoc_data.topics import topics

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch.nn.functional import conv1d, pad

import rnnbounds
from rnnbounds.cli import main

LETTERS = ["<pad>", "<unk>", "</s>", *"abcdefghijklmnopqrstuvwxyz"]


def shipped(package: str, *path: str) -> Path:
    """A file of an installed package, which is not imported; skips without it."""
    found = find_spec(package)
    if found is None or not found.submodule_search_locations:
        pytest.skip(f"{package} is not installed")
    return Path(found.submodule_search_locations[0], *path)


def spectral_frames(held: dict[str, torch.Tensor], sound: torch.Tensor) -> torch.Tensor:
    """The inputs of silero's LSTM (T, 128), from a sound of 16 kHz in frames of 512 samples."""
    frames = pad(sound, (64, 0)).unfold(0, 576, 512)[:, None]
    x = conv1d(pad(frames, (0, 64), "reflect"), held["stft_conv.weight"], stride=128)
    x = (x[:, :129] ** 2 + x[:, 129:] ** 2).sqrt()
    for i, stride in enumerate((1, 2, 2, 1), start=1):
        weight, bias = held[f"conv{i}.weight"], held[f"conv{i}.bias"]
        x = conv1d(x, weight, bias, stride, padding=1).relu()
    return x[..., 0]


def synthetic_sound(seconds: int) -> torch.Tensor:
    """Voiced stretches of changing pitch, noise and pauses, at 16 kHz."""
    generator = torch.Generator().manual_seed(0)
    t = torch.arange(16_000 * seconds) / 16_000
    pitch = 120 + 60 * (0.7 * t).sin()
    phase = 2 * torch.pi * (pitch / 16_000).cumsum(0)
    voice = sum((k * phase).sin() / k for k in range(1, 20)) * ((2 * torch.pi * 0.4 * t).sin() > 0)
    return 0.1 * voice + 0.01 * torch.randn(len(t), generator=generator)


@pytest.mark.slow
def test_silero(capsys, tmp_path):
    """The LSTM is listed in the file, measured on frames of a sound, and certified near them."""
    path = shipped("silero_vad", "data", "silero_vad_16k.safetensors")
    assert main(["certify", str(path), "--list", "--format", "json"]) == 0
    (layer,) = json.loads(capsys.readouterr().out)["layers"]
    assert (layer["name"], layer["cell"], layer["n"], layer["d"]) == ("lstm_cell", "lstm", 128, 128)
    x = spectral_frames(load_file(path), synthetic_sound(120)).numpy()
    np.save(tmp_path / "x.npy", x)
    call = [
        "measure",
        str(path),
        "--data",
        str(tmp_path / "x.npy"),
        "--eps",
        "0.1",
        "--near",
        "1e-4",
    ]
    assert main([*call, "--window", "64", "--format", "json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["data"]["windows"] == len(x) // 64
    assert record["near"] is not None


@pytest.mark.slow
def test_g2p(capsys, tmp_path):
    """Both GRUs are listed in the archive; the encoder is measured on words, and near them."""
    path = shipped("g2p_en", "checkpoint20.npz")
    assert [(one.name, one.cell, one.n) for one in rnnbounds.layers(path)] == [
        ("enc", "gru", 256), ("dec", "gru", 256),
    ]  # fmt: skip
    with np.load(path) as held:
        rows = held["enc_emb"]
    words = sorted(set(re.findall("[a-z]{8,}", " ".join(topics.values()))))[:400]
    known = {letter: i for i, letter in enumerate(LETTERS)}
    data = [rows[[known[letter] for letter in word]] for word in words]
    seen = rnnbounds.measure(path, data, layer="enc", eps=1.0, near=1e-4)
    assert seen.windows >= len(words)
    assert rnnbounds.certify(path, 20.0, 0.1, layer="enc", norm="spectral").verdict == "undecided"
    np.save(tmp_path / "x.npy", np.stack([one[:8] for one in data]))
    call = ["measure", str(path), "--layer", "enc", "--data", str(tmp_path / "x.npy")]
    assert main([*call, "--inputs", "enc_emb", "--eps", "1"]) == 0
    assert "seen: " in capsys.readouterr().out
