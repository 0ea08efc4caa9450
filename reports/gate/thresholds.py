"""Thresholds below which the gate ignores a change: `[tool.rnnbounds]` of a pyproject.toml."""

import math
import tomllib
from pathlib import Path
from typing import Annotated

import msgspec

from rnnbounds import disk
from rnnbounds.reports.errors import InputError
from rnnbounds.reports.records.changes import Kind

PROJECT = Path("pyproject.toml")
TABLE = "[tool.rnnbounds]"
LIMIT = 2**20
Share = Annotated[float, msgspec.Meta(ge=0, lt=1)]  # 1 of anything lost would be no gate


class SettingsError(InputError):
    """Thresholds that cannot be read."""

    def __init__(self, path: Path, problem: str) -> None:
        names = ", ".join(field.encode_name for field in msgspec.structs.fields(Thresholds))
        super().__init__(f"{path}: {problem[:300]}; {TABLE} may set {names}")


class Thresholds(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """Tolerances of a comparison; with the defaults a change of seed alone passes.

    tightness: by how much a form's largest lhs/rhs may fall. factor: relative growth allowed in a
    certificate's λ, gain and rounding. window: growth allowed in its k, in inputs. gone: true if
    missing results pass.
    """

    tightness: Share = 0.4
    factor: Annotated[float, msgspec.Meta(ge=0)] = 1e-6
    window: Annotated[int, msgspec.Meta(ge=0)] = 0
    gone: bool = False

    def __post_init__(self) -> None:
        if not all(map(math.isfinite, msgspec.structs.astuple(self))):
            raise ValueError("a share is not finite")

    @property
    def fails(self) -> tuple[Kind, ...]:
        """The kinds of changes that fail."""
        return ("regressed",) if self.gone else ("regressed", "gone")


def load_thresholds(path: Path = PROJECT) -> Thresholds:
    """Those of the file, the defaults where it is missing or says nothing; raises SettingsError."""
    if not path.exists():
        return Thresholds()
    try:
        document = tomllib.loads(disk.read(path, LIMIT).decode())
        tool = document.get("tool", {})
        section = tool.get("rnnbounds", {}) if isinstance(tool, dict) else {}
        if isinstance(section, dict):
            section.pop("models", None)  # what `rnnbounds guard` is asked, by reports.gate.models
        return msgspec.convert(section, Thresholds)
    except OSError as error:
        raise SettingsError(path, f"it {error.strerror}") from None
    except RecursionError:
        raise SettingsError(path, "it nests too deep") from None
    except (ValueError, msgspec.MsgspecError) as error:  # of TOML, of UTF-8, of a value
        raise SettingsError(path, str(error)) from None
