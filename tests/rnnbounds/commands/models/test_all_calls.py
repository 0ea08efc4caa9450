"""Every call about a model ends in an answer or in one line: drawn from all that can be combined.

Cell × layers × weights (certified, refuted, undecided, overflowing) × dtype × file × inputs × data
× readout × command × output; what was written is then checked, and compared with itself.
"""

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from safetensors.torch import save_file

from rnnbounds.impl.cells.table import CELLS, kind_of

T = TypeVar("T")
EXAMPLES = int(os.environ.get("EXAMPLES", "2"))  # of each cell; hundreds by hand
# Cells that differ in their activation alone are read by one code.
FEW = [name for name in CELLS if not re.match("(rnn|leaky|deep)-", name)]
FEW += ["rnn-tanh", "rnn-relu", "rnn-gelu", "leaky-tanh", "leaky-relu", "deep-tanh"]
VARIANTS = {  # the weight by which a cell chooses among its layouts
    name: ("transition_1_weight", "transition_2_weight") for name in CELLS if "deep-" in name
}
ROWS = "embed.weight"
BALLS = tuple(f"--inputs={B}" for B in ("1", "0", "1e-300", "1e300"))
SETS = (
    *((f"--inputs={ends}",) for ends in ("-1:1", "-0.5:1", "0:0", "-1e200:1e200", ROWS)),
    *((ball,) for ball in BALLS),
    ("--inputs={}/x.npy",),
    (),
)
DATA = tuple(f"--data={{}}/x{suffix}" for suffix in (".npy", ".csv", ".safetensors", ".npz"))


@dataclass(frozen=True)
class Model:
    """One or two layers of a cell with random weights: N(0, scale²), vectors moved by shift."""

    cell: str
    layers: int
    variant: str
    n: int
    d: int
    scale: float
    shift: float
    dtype: torch.dtype
    suffix: str
    seed: int

    @property
    def named(self) -> str:
        """The cell as --cell has it."""
        return self.cell if self.layers == 1 else f"stacked-{self.cell}"

    def tensors(self) -> dict[str, torch.Tensor]:
        """The cell's, a readout and a table of inputs."""
        by, kind, d, found = (
            torch.Generator().manual_seed(self.seed),
            kind_of(self.cell),
            self.d,
            {},
        )
        found[ROWS] = torch.rand(4, d, generator=by) - 0.5
        layout = kind.layout((self.variant,))
        for layer in range(self.layers):
            shapes = layout.shapes_for({"n": self.n, "d": d, "p": 1, "m1": self.n + 1})
            own = {
                name: torch.randn(shape, generator=by) * self.scale + self.shift * (len(shape) == 1)
                for name, shape in shapes.items()
            }
            if "leak" in own:
                own["leak"] = own["leak"].abs().clamp(0.1, 0.9)
            d = layout.sizes(own).n
            end = f"_l{layer}" if self.layers > 1 else kind.suffix
            found |= {f"rnn.{name}{end}": part for name, part in own.items()}
        found["head.weight"] = torch.randn(2, d, generator=by)
        return {name: part.to(self.dtype) for name, part in found.items()}


def turned(choices: Sequence[T], by: int) -> st.SearchStrategy[T]:
    """One of the choices; the simplest example, which every test begins with, has the one at `by`,
    so that it is another for each cell."""
    first = by % len(choices)
    return st.sampled_from([*choices[first:], *choices[:first]])


def models(cell: str, by: int = 0) -> st.SearchStrategy[Model]:
    """Models of that cell, certified, refuted, undecided and overflowing."""
    return st.builds(
        Model,
        cell=st.just(cell),
        layers=turned((1, 1, 2), by),
        variant=turned(VARIANTS.get(cell, ("",)), by),
        n=st.integers(1, 3),
        d=st.integers(1, 2),
        scale=turned((6.0, 0.1, 0.5, 2.0, 0.0, 1e4, 1e30), by),
        shift=turned((0.0, 0.0, 1.0, -3.0, 40.0), by),
        dtype=turned((torch.float32, torch.float64, torch.float16, torch.bfloat16), by),
        suffix=turned((".safetensors", ".pt"), by),
        seed=st.integers(0, 99),
    )


@st.composite
def calls(draw: st.DrawFn, by: int = 0) -> list[str]:
    """A command and its options but for the model's; {} stands for the folder of all files."""
    command = draw(turned(("certify", "measure", "truncate", "unitary"), by))
    asked = [command, draw(turned(("--format=text", "--format=json"), by))]
    few = {
        "certify": [("--attack",), ("--verbose",)],
        "measure": [("--near=0", "--states=recorded"), ("--near=1e-3",), ("--near=1e300",),
                    ("--window=4",), ("--share=0.5",)],
        "truncate": [("--latest",)],
        "unitary": [],
    }  # fmt: skip
    if command in ("truncate", "unitary"):
        asked.append(draw(turned(("--out={}/out.safetensors", "--out={}/out"), by)))
    else:
        asked += draw(turned((("--out={}/out",), ()), by))
        asked += draw(turned(((), ("--readout=head",)), by))
    if command == "unitary":
        asked.append(draw(turned(BALLS, by)))
    else:
        inputs = draw(turned(SETS if command != "measure" else (*SETS, ()), by))
        asked += inputs
        eps = (("--eps=0.01",), ("--eps=0.5",), ("--eps=1e-300",), ("--eps=0.01", "--eps=1e-300"))
        asked += draw(turned(eps[:3] if command == "truncate" else eps, by))
        if command == "measure" or draw(st.booleans()):
            asked.append(draw(turned(DATA, by)))
    return asked + list(draw(turned(((), *few[command]), by)))


def write(path: Path, tensors: dict[str, torch.Tensor]) -> None:
    """A file of weights."""
    save_file(tensors, path) if path.suffix == ".safetensors" else torch.save(tensors, path)


def write_data(path: Path, rows: np.ndarray) -> None:
    """Sequences of these rows, or one, in the format that the name asks for."""
    x = rows[np.random.default_rng(0).integers(0, len(rows), (20, 8))]
    one = x.reshape(-1, x.shape[2])
    if path.suffix == ".npy":
        np.save(path, x)
    elif path.suffix == ".safetensors":
        save_file({"x": torch.from_numpy(x)}, path)
    elif path.suffix == ".csv":
        np.savetxt(path, one, "%.17g", ",")
    else:
        np.savez(path, one)


def well_ended(call, folder: Path, arguments: list[object]):
    """The outcome of a call, once it is an answer or one line, and nothing is half-written."""
    before = set(folder.rglob("*"))
    outcome = call(*arguments)
    new = set(folder.rglob("*")) - before
    assert outcome.code in (0, 1, 2)
    if outcome.code == 2:
        assert (outcome.out, new) == ("", set())
        assert outcome.err.startswith("rnnbounds: ")
        assert outcome.err.count("\n") == 1
        return outcome
    assert outcome.err == ""
    assert outcome.out
    documents = [path.read_text() for path in new if path.suffix == ".json"]
    for text in [*documents, *([outcome.out] if "--format=json" in arguments else [])]:
        json.loads(text, parse_constant=pytest.fail)
    return outcome


def tried(call, folder: Path, model: Model, options: list[str]) -> None:
    """One call, then a check and a comparison of what it wrote."""
    folder.mkdir()
    command, how, *asked = (one.replace("{}", str(folder)) for one in options)
    tensors, path = model.tensors(), folder / f"model{model.suffix}"
    write(path, tensors)
    for one in asked:
        if one.startswith("--data="):
            write_data(Path(one.removeprefix("--data=")), tensors[ROWS].double().numpy())
    cell = [f"--cell={model.named}", "--layer=rnn"]
    told = well_ended(call, folder, [command, path, how, *cell, *asked])
    source = [how, f"--source={path}", *cell]
    if told.code == 0 and command in ("truncate", "unitary"):
        assert well_ended(call, folder, ["check", folder / "out.safetensors", *source]).code == 0
    if (page := folder / "out" / "certificate.json").exists():
        verdict = json.loads(page.read_text())["verdict"]
        checked = well_ended(call, folder, ["check", page, *source])
        proved = verdict == "certified" and f"--inputs={ROWS}" not in asked
        if command in ("certify", "measure"):
            assert checked.code == (0 if proved else 2)
            assert well_ended(call, folder, ["compare", page, page, how]).code == 0


@pytest.mark.parametrize(("number", "cell"), list(enumerate(CELLS if EXAMPLES > 2 else FEW)))
def test_an_answer_or_one_line(call, tmp_path, monkeypatch, number, cell):
    """Of each cell a few calls, others of each; the adversary looks not as far as it may."""
    monkeypatch.setattr("rnnbounds.impl.memory.adversary.attack.LONGEST", 8)
    folders = (tmp_path / str(i) for i in count())

    @seed(number)
    @settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
    @given(models(cell, number), calls(number))
    def any_call(model, options):
        tried(call, next(folders), model, options)

    any_call()
