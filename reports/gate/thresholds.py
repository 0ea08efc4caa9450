"""What passes for noise: the thresholds of the gate, `[tool.rnnbounds]` of a pyproject.toml."""

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

    def __init__(self, path: Path, what: str) -> None:
        names = ", ".join(field.encode_name for field in msgspec.structs.fields(Thresholds))
        super().__init__(f"{path}: {what[:300]}; {TABLE} may set {names}")


class Thresholds(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """What a gate lets pass; the defaults are silent on draws of other seeds.

    tightness: the share of the greatest lhs/rhs that an attack which draws nothing may lose. luck:
    the share that all attacks together may lose of a claim's, or of a form's that is tight to
    within `tightness`. chance: the probability with which two runs of one code and profile may fail
    by how tight what they drew is. pairs: the share of a claim's pairs, or of its judged checks,
    that may be missing; of a form's checks and of the examples drawn too. all_pairs: that of all
    claims' pairs together, but for the claim whose number changed most. cells: that of the cells of
    the matrix that are judged, claim by claim. factor: the share by which λ, the gain and the
    rounding of a certificate may grow. window: the number of inputs by which its k may grow. gone:
    whether what is gone passes.
    """

    tightness: Share = 0.01
    luck: Share = 0.4
    chance: Share = 0.001
    pairs: Share = 0.9
    all_pairs: Share = 0.5
    cells: Share = 0.2
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


def thresholds(path: Path = PROJECT) -> Thresholds:
    """Those of the file, the defaults where it is missing or says nothing; raises SettingsError."""
    if not path.exists():
        return Thresholds()
    try:
        document = tomllib.loads(disk.read(path, LIMIT).decode())
        tool = document.get("tool", {})
        told = tool.get("rnnbounds", {}) if isinstance(tool, dict) else {}
        if isinstance(told, dict):
            told.pop("models", None)  # what `rnnbounds guard` is asked, by reports.gate.models
        return msgspec.convert(told, Thresholds)
    except OSError as error:
        raise SettingsError(path, f"it {error.strerror}") from None
    except RecursionError:
        raise SettingsError(path, "it nests too deep") from None
    except (ValueError, msgspec.MsgspecError) as error:  # of TOML, of UTF-8, of a value
        raise SettingsError(path, str(error)) from None
