"""The frame: what is tested is what is installed, and all of it."""

import importlib
import os
import sysconfig
import tomllib
from importlib.resources import files
from pathlib import Path

ROOMS = ("theory", "impl", "properties", "reports")
ROOT = Path(__file__).parent.parent


def home(room: str) -> Path:
    """The folder that a room was imported from."""
    return Path(next(iter(importlib.import_module(f"rnnbounds.{room}").__path__))).resolve().parent


def test_rooms_lie_side_by_side():
    """All rooms come from one folder; under tox it is the package of the built wheel."""
    homes = {home(room) for room in ROOMS}
    assert len(homes) == 1
    if "TOX_ENV_NAME" in os.environ:
        assert homes == {Path(sysconfig.get_path("purelib")).resolve() / "rnnbounds"}


def test_the_package_is_typed():
    """It ships its marker for type checkers."""
    assert files("rnnbounds").joinpath("py.typed").is_file()


def test_constraints_pin_every_dependency():
    """Whatever pyproject.toml asks for, constraints.txt pins exactly."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = [*project["project"]["dependencies"]]
    wanted += project["project"]["optional-dependencies"]["data"]
    wanted += [item for group in project["dependency-groups"].values() for item in group]
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = {line.split("==")[0] for line in lines if line and not line.startswith("#")}
    assert all("==" in line and "+" not in line for line in lines[1:])
    assert {item.split(">=")[0] for item in wanted} <= pinned
