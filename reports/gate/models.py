"""Questions about a project's models: `[tool.rnnbounds.models.NAME]` of its pyproject.toml."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import msgspec

from rnnbounds import disk
from rnnbounds.reports.errors import InputError
from rnnbounds.reports.gate.certificates import compare_certificates
from rnnbounds.reports.gate.certified import Certificate
from rnnbounds.reports.gate.thresholds import LIMIT, PROJECT, Thresholds
from rnnbounds.reports.records.changes import Changes

Positive = Annotated[float, msgspec.Meta(gt=0)]
Count = Annotated[int, msgspec.Meta(ge=0)]


class ModelsError(InputError):
    """Questions about models that cannot be read."""

    def __init__(self, path: Path, problem: str, remedy: str) -> None:
        super().__init__(f"{path}: {problem[:300]}; {remedy}")


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

    inputs: LOW:HIGH of each channel, as on the command line, or a tensor of the file whose rows are
    all inputs; or input_bound: B ≥ ‖x_t‖₂; or data, whose box and ball are meant.
    baseline: the certificate that it is compared with. window: the number of inputs by which its k
    may be above the baseline's, where no at_most says how long it may be; factor: the share by
    which λ, the gain and the rounding may be above the baseline's, which None does not ask.
    """

    inputs: str | None = None
    input_bound: Annotated[float, msgspec.Meta(ge=0)] | None = None
    data: str | None = None
    baseline: str | None = None
    window: Count = 0
    factor: Annotated[float, msgspec.Meta(ge=0)] | None = None

    def __post_init__(self) -> None:
        input_options = [self.inputs, self.input_bound, self.data]
        if sum(option is not None for option in input_options) != 1:
            raise ValueError("it takes one of inputs, input-bound and data")
        if self.baseline is None and (self.window or self.factor is not None):
            raise ValueError("window and factor are about a baseline")

    def fails_on_regression(self, field: str) -> bool:
        """True if a regression of `what` (k, λ, gain, rounding, …) fails the comparison."""
        if field.startswith("k for"):
            return self.at_most is None
        return self.factor is not None if field in ("λ", "gain", "rounding") else True

    def compare_with_baseline(self, old: Certificate, new: Certificate) -> Changes:
        """All changes since the baseline; what is not asked of the model is information. Raises
        PairError for answers to different questions."""
        allowed = Thresholds(window=self.window, factor=self.factor or 0.0)
        changes = compare_certificates(old, new, allowed)
        rows = (
            msgspec.structs.replace(row, kind="changed")
            if row.kind in changes.fails and not self.fails_on_regression(row.what)
            else row
            for row in changes.rows
        )
        return msgspec.structs.replace(changes, rows=tuple(rows))


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
    unreadable: Mapping[str, ModelsError]

    @property
    def names(self) -> list[str]:
        """All models."""
        return [*self.questions, *self.unreadable]


def load_model_settings(path: Path = PROJECT) -> ModelSettings:
    """Read the questions about models from a TOML file; raises ModelsError if it is no TOML, asks
    nothing, or has a table of another name."""
    example = "write [tool.rnnbounds.models.NAME] with model, eps and inputs, or data and share"
    try:
        document = tomllib.loads(disk.read(path, LIMIT).decode())
    except OSError as error:
        raise ModelsError(path, f"it {error.strerror}", example) from None
    except RecursionError:
        raise ModelsError(path, "it nests too deep", example) from None
    except ValueError as error:
        raise ModelsError(path, str(error), "correct the file") from None
    section: Any = document
    for name in ("tool", "rnnbounds"):
        section = section.get(name, {}) if isinstance(section, dict) else {}
    tables = section if isinstance(section, dict) else {}
    for name in (name for name, content in tables.items() if isinstance(content, dict)):
        if name != "models":
            problem = f"[tool.rnnbounds.{name}] is no table of rnnbounds"
            raise ModelsError(path, problem, "name it [tool.rnnbounds.models.NAME]")
    model_tables = tables.get("models")
    if not model_tables or not isinstance(model_tables, dict):
        raise ModelsError(path, "it asks about no model", example)
    questions: dict[str, Question] = {}
    refused: dict[str, ModelsError] = {}
    for name, table in model_tables.items():
        try:
            questions[name] = _parse_question(path, name, table)
        except ModelsError as error:
            refused[name] = error
    return ModelSettings(questions, refused)


def _parse_question(path: Path, name: str, table: Mapping[str, Any]) -> Question:
    kind: type[Question] = (
        MeasureQuestion if isinstance(table, dict) and "share" in table else CertifyQuestion
    )
    try:
        return msgspec.convert(table, kind)
    except (ValueError, msgspec.MsgspecError) as error:
        problem, remedy = _plain_error(str(error), kind)
        raise ModelsError(path, f"models.{name}: {problem}", remedy) from None


def _plain_error(error: str, kind: type[Question]) -> tuple[str, str]:
    """A message of msgspec in plain words, and the remedy: the key that was meant, or all keys."""
    fields = {
        question: [f.encode_name for f in msgspec.structs.fields(question)]
        for question in (kind, MeasureQuestion)
    }
    message = error.replace("`", "").replace("Object contains unknown field", "it has no key")
    message = message.replace("Object missing required field", "it needs the key")
    message, _, place = message.partition(" - at $.")
    problem = f"{place}: {message}" if place else message
    all_keys = list(dict.fromkeys(key for keys in fields.values() for key in keys))
    close = get_close_matches(message.rpartition(" ")[2].replace("_", "-"), all_keys, 1)
    if message.startswith("it has no key") and close:
        return problem, f"did you mean {close[0]}?"
    return problem, f"it may set {', '.join(fields[kind])}"
