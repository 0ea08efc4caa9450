"""What the oracle asks of certificates and of the checker, and how: models, and files."""

import io
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import redirect_stdout
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[1]
EPSILONS = (0.25, 0.01)
TAMPERING = (
    "impl/checker",
    "impl/convert/test_truncate.py",
    "impl/convert/test_unitary.py",
    "impl/convert/test_unitary_file.py",
)
CHECKERS = (
    ("rnnbounds.impl.checker.truncated", "check_truncated"),
    ("rnnbounds.impl.checker.truncated", "check_certificate"),
    ("rnnbounds.impl.checker.unitary", "check"),
)
LARGEST = 2**20  # bytes of a file that is kept
Asked = dict[str, Any]


def ask_certificates(folder: Path) -> dict[str, Asked]:
    """Each norm of the first models of `test_brackets`, under each set of inputs."""
    from rnnbounds.impl.cells.table import kind_of

    return _asked(folder, (0,), lambda cell, seed: kind_of(cell).norms)


def ask_brackets(folder: Path) -> dict[str, Asked]:
    """The best norm of all models of `test_brackets`, and the truncated form of the first ones."""
    return _asked(folder, range(3), lambda cell, seed: ("auto", "truncated")[: 1 if seed else 2])


def _asked(
    folder: Path, seeds: Iterable[int], norms: Callable[[str, int], Iterable[str]]
) -> dict[str, Asked]:
    sys.path.insert(0, str(TESTS / "properties" / "certified"))
    from safetensors.torch import save_file
    from test_brackets import KINDS, D, drawn, table

    from rnnbounds.impl.cells.table import kind_of

    asked: dict[str, Asked] = {}
    for seed, cell in product(seeds, KINDS):
        rows, name, end = table(seed).tolist(), f"{cell}-{seed}.safetensors", kind_of(cell).suffix
        model = {role + end: part for role, part in drawn(cell, seed).weights.items()}
        save_file(model, folder / name)
        sets = {
            "ball": [1.0 + seed],
            "box": [-0.25, 1.0 + seed, D],
            "rows": [rows],
            "data": [rows, 0.125],
        }
        for (among, inputs), norm in product(sets.items(), norms(cell, seed)):
            told = {"model": name, "cell": cell, "norm": norm, "among": among, "inputs": inputs}
            asked[f"{cell} {seed}, {norm}, {among}"] = told
    return asked


def say_certificate(asked: Asked) -> Any:
    """The record, or the line that refuses."""
    import torch

    import rnnbounds

    made: Mapping[str, Callable[..., Any]] = {
        "ball": float,
        "box": rnnbounds.input_box,
        "rows": lambda rows: rnnbounds.input_rows(torch.tensor(rows, dtype=torch.float64)),
        "data": lambda rows, margin: rnnbounds.input_data(
            torch.tensor(rows, dtype=torch.float64), margin
        ),
    }
    model, inputs = Path(asked["model"]), made[asked["among"]](*asked["inputs"])
    try:
        if asked["norm"] == "truncated":
            return rnnbounds.truncate(model, EPSILONS[-1], inputs, cell=asked["cell"])[1]
        told = rnnbounds.certify(model, inputs, EPSILONS, asked["norm"], cell=asked["cell"])
    except ValueError as error:
        return str(error)
    return told.to_json()


def ask_files(folder: Path) -> dict[str, Asked]:
    """Every file that the tests of the checker let it read, once, with the model it is said to be
    of."""
    import pytest

    asked: dict[tuple[bytes, ...], Asked] = {}

    def keep(data: bytes, kind: str) -> str:
        return kept.setdefault(data, f"{kind}{len(kept):05}")

    def caught(check: Callable[..., Any]) -> Callable[..., Any]:
        def caller(path: Path, of: Any = None, *more: Any) -> Any:
            if Path(path).is_file() and Path(path).stat().st_size < LARGEST:
                data, model = Path(path).read_bytes(), _model_file(of, *more)
                found = {"file": keep(data, ""), "source": model and keep(model, "model"),
                         "cell": of and _cell(of)}  # fmt: skip
                asked.setdefault((data, model or b""), found)
            return check(path, of, *more)

        caller.__module__, caller.__name__ = check.__module__, check.__name__
        return caller

    kept: dict[bytes, str] = {}
    for module, name in CHECKERS:  # before a test imports them
        setattr(import_module(module), name, caught(getattr(import_module(module), name)))
    tests = [str(TESTS / name) for name in TAMPERING]
    if pytest.main(["-q", "-p", "no:cacheprovider", *tests]):
        raise SystemExit("tests fail; what they make is not frozen")
    for data, name in kept.items():
        (folder / name).write_bytes(data)
    return {told["file"] + (told["source"] or ""): told for told in asked.values()}


def _cell(of: Any) -> str:
    return of.cell if hasattr(of, "cell") and isinstance(of.cell, str) else of.name


def _model_file(of: Any, *more: Any) -> bytes | None:
    """The model that a checker is given, and its readout, as a file."""
    import torch
    from safetensors.torch import save

    from rnnbounds.impl.cells.table import kind_of

    if of is None:
        return None
    end, dtype = kind_of(_cell(of)).suffix, getattr(torch, of.dtype)
    found = {
        role + end: torch.as_tensor(part).to(dtype).contiguous()
        for role, part in of.weights.items()
    }
    for read in (*more, getattr(of, "readout", None)):
        if hasattr(read, "weight"):
            found[read.name] = torch.as_tensor(read.weight).to(torch.float64).contiguous()
    return save(found)


def say_file(asked: Asked) -> Any:
    """The exit code and the text of `rnnbounds check`, or its error."""
    from rnnbounds.commands.check import check_file

    source = asked["source"] and Path(asked["source"])
    cell = asked["cell"] if source else None
    with redirect_stdout(io.StringIO()) as out:
        try:
            code = check_file(Path(asked["file"]), source=source, cell=cell)
        except ValueError as error:
            return [2, str(error)]
    return [code, out.getvalue()]
