"""Settings of a project, `[tool.rnnbounds]` of its pyproject.toml: thresholds of the gate, and
questions about models, `[tool.rnnbounds.models.NAME]`."""

import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import msgspec

from rnnbounds import disk
from rnnbounds.reports.errors import InputError
from rnnbounds.reports.records.changes import Kind

PROJECT = Path("pyproject.toml")
LIMIT = 2**20
EXAMPLE = "write [tool.rnnbounds.models.NAME] with model, eps and inputs, or data and share"
Share = Annotated[float, msgspec.Meta(ge=0, lt=1)]  # 1 of anything lost would be no gate
Positive = Annotated[float, msgspec.Meta(gt=0)]
Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]  # beyond it floats have gaps
Factor = Annotated[float, msgspec.Meta(ge=0, le=sys.float_info.max)]


class SettingsError(InputError):
    """Settings that cannot be read."""

    def __init__(self, path: Path, problem: str, remedy: str) -> None:
        super().__init__(f"{path}: {problem[:300]}; {remedy}")


class Thresholds(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """Tolerances of a comparison; with the defaults a change of seed alone passes.

    tightness: by how much a form's largest lhs/rhs may fall. factor: relative growth allowed in a
    certificate's λ, gain and rounding. window: growth allowed in its k, in inputs. gone: true if
    missing results pass.
    """

    tightness: Share = 0.4
    factor: Factor = 1e-6
    window: Count = 0
    gone: bool = False

    @property
    def fails(self) -> tuple[Kind, ...]:
        """The kinds of changes that fail."""
        return ("regressed",) if self.gone else ("regressed", "gone")


class ModelQuestion(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", kw_only=True
):
    """Which model is asked about: a file relative to the settings, or package.module:factory.

    eps: the ε within which the last k inputs fix its output, of which `readout` may be the name of
    a linear layer; at_most: the largest k that passes.
    """

    model: str
    eps: Positive
    layer: str | None = None
    cell: str | None = None
    readout: str | None = None
    ignore: tuple[str, ...] = ()
    at_most: Count | None = None


class CertifyQuestion(
    ModelQuestion, frozen=True, forbid_unknown_fields=True, rename="kebab", kw_only=True
):
    """A model that is to be certified for all inputs of a set.

    inputs: as on the command line LOW:HIGH of each channel, B ≥ ‖x_t‖₂, a file of recorded inputs,
    whose box and ball are meant, or a tensor of the model's file whose rows are all inputs.
    baseline: the certificate that it is compared with. window: the number of inputs by which its k
    may be above the baseline's, where no at_most says how long it may be; factor: the share by
    which λ, the gain and the rounding may be above the baseline's, which None does not ask.
    """

    inputs: str | Annotated[float, msgspec.Meta(ge=0)]
    baseline: str | None = None
    window: Count = 0
    factor: Factor | None = None

    def __post_init__(self) -> None:
        if self.baseline is None and (self.window or self.factor is not None):
            raise ValueError("window and factor are about a baseline")
        if self.baseline is not None and not self.baseline.endswith(".json"):
            raise ValueError("baseline is no name of a certificate, FILE.json")
        if self.at_most is not None and self.window:
            raise ValueError("window is about the baseline's k, and at-most stands in its place")

    @property
    def allowed(self) -> Thresholds:
        """Tolerances of the comparison with the baseline."""
        return Thresholds(window=self.window, factor=self.factor or 0.0)

    def fails_on_regression(self, field: str) -> bool:
        """True if a regression of `field` (k, λ, gain, rounding, …) fails the comparison."""
        if field.startswith("k for"):
            return self.at_most is None
        return self.factor is not None if field in ("λ", "gain", "rounding") else True


class MeasureQuestion(
    ModelQuestion, frozen=True, forbid_unknown_fields=True, rename="kebab", kw_only=True
):
    """A model that is measured on recorded inputs: of windows drawn like these at least the share
    is to be within ε at k, with that confidence. window: the length that sequences are cut into."""

    data: str
    share: Annotated[float, msgspec.Meta(gt=0, lt=1)]
    confidence: Annotated[float, msgspec.Meta(gt=0, lt=1)] = 0.99
    window: Annotated[int, msgspec.Meta(ge=2)] | None = None


Question: TypeAlias = CertifyQuestion | MeasureQuestion


@dataclass(frozen=True)
class ModelSettings:
    """Questions of a settings file by model, and errors of its unreadable tables by model."""

    questions: Mapping[str, Question]
    unreadable: Mapping[str, SettingsError]

    @property
    def names(self) -> list[str]:
        """All models."""
        return [*self.questions, *self.unreadable]


def load_thresholds(path: Path = PROJECT) -> Thresholds:
    """Those of the file, the defaults where it is missing or says nothing; raises SettingsError."""
    if not path.exists():
        return Thresholds()
    remedy = f"[tool.rnnbounds] may set {', '.join(_keys(Thresholds))}"
    return _convert_thresholds(path, _read_table(path, remedy, remedy))


def load_model_settings(path: Path = PROJECT) -> ModelSettings:
    """Read the questions about models from a TOML file; raises SettingsError if it is no TOML, asks
    nothing, or has anything else in [tool.rnnbounds] but thresholds."""
    tables = _read_table(path, EXAMPLE, "correct the file")
    _convert_thresholds(path, tables)
    model_tables = tables.get("models")
    if not model_tables or not isinstance(model_tables, dict):
        raise SettingsError(path, "it asks about no model", EXAMPLE)
    questions: dict[str, Question] = {}
    refused: dict[str, SettingsError] = {}
    for name, table in model_tables.items():
        is_measured = isinstance(table, dict) and bool({"share", "data"} & table.keys())
        kind: type[Question] = MeasureQuestion if is_measured else CertifyQuestion
        try:
            questions[name] = msgspec.convert(table, kind)
        except (ValueError, msgspec.MsgspecError) as error:
            problem, remedy = _plain_error(str(error), kind)
            refused[name] = SettingsError(path, f"models.{name}: {problem}", remedy)
    baselines = [one.baseline for one in questions.values() if isinstance(one, CertifyQuestion)]
    for baseline in baselines:
        if baseline is not None and baselines.count(baseline) > 1:
            raise SettingsError(path, f"{baseline} is the baseline of two models", "name another")
    return ModelSettings(questions, refused)


def _convert_thresholds(path: Path, table: Mapping[str, Any]) -> Thresholds:
    """The thresholds of [tool.rnnbounds], whose models are another's to read; raises
    SettingsError."""
    try:
        return msgspec.convert({k: v for k, v in table.items() if k != "models"}, Thresholds)
    except (ValueError, msgspec.MsgspecError) as error:
        problem, remedy = _plain_error(str(error), Thresholds)
        raise SettingsError(path, f"[tool.rnnbounds]: {problem}", remedy) from None


def _read_table(path: Path, remedy: str, of_syntax: str) -> Mapping[str, Any]:
    """The table [tool.rnnbounds] of a TOML file, empty if there is none; raises SettingsError."""
    try:
        tool = tomllib.loads(disk.read(path, LIMIT).decode()).get("tool", {})
    except OSError as error:
        raise SettingsError(path, f"it {error.strerror}", remedy) from None
    except RecursionError:
        raise SettingsError(path, "it nests too deep", remedy) from None
    except ValueError as error:  # of TOML, of UTF-8
        raise SettingsError(path, str(error), of_syntax) from None
    section = tool.get("rnnbounds", {}) if isinstance(tool, dict) else {}
    if not isinstance(section, dict):
        raise SettingsError(path, "tool.rnnbounds is no table", remedy)
    return section


def _keys(*kinds: type[msgspec.Struct]) -> list[str]:
    return [field.encode_name for kind in kinds for field in msgspec.structs.fields(kind)]


def _plain_error(error: str, kind: type[Question | Thresholds]) -> tuple[str, str]:
    """A message of msgspec in plain words, and the remedy: another value, the key that was meant,
    or all keys."""
    message = error.replace("`", "").replace("Object contains unknown field", "it has no key")
    message = message.replace("Object missing required field", "it needs the key")
    message, _, place = message.partition(" - at $.")
    if place:
        return f"{place}: {message}", "give it another value"
    key, keys = message.rpartition(" ")[2].replace("_", "-"), _keys(kind)
    if message.startswith("it has no key"):
        others = ["models"] if kind is Thresholds else _keys(CertifyQuestion, MeasureQuestion)
        if key in others and key not in keys:
            asked = "measured (data, share)" if kind is CertifyQuestion else "certified (inputs)"
            return message, f"only a model that is {asked} has it"
        if close := get_close_matches(key, [*keys, *others], 1):
            return message, f"did you mean {close[0]}?"
    return message, f"it may set {', '.join(keys)}"
