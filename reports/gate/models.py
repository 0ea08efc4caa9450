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

    def __init__(self, path: Path, what: str, remedy: str) -> None:
        super().__init__(f"{path}: {what[:300]}; {remedy}")


class Asked(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", kw_only=True):
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


class Certified(Asked, frozen=True, forbid_unknown_fields=True, rename="kebab", kw_only=True):
    """A model that is to be certified for all inputs of a set.

    inputs: LOW:HIGH of each channel, as on the command line, or a tensor of the file whose rows are
    all inputs; or input_bound: B ≥ ‖x_t‖₂; or data, whose box and ball are meant, with a margin.
    baseline: the certificate that it is compared with. window: the number of inputs by which its k
    may be above the baseline's, where no at_most says how long it may be; factor: the share by
    which λ, the gain and the rounding may be above the baseline's, which None does not ask.
    """

    inputs: str | None = None
    input_bound: Annotated[float, msgspec.Meta(ge=0)] | None = None
    data: str | None = None
    margin: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    baseline: str | None = None
    window: Count = 0
    factor: Annotated[float, msgspec.Meta(ge=0)] | None = None

    def __post_init__(self) -> None:
        given = [self.inputs, self.input_bound, self.data]
        if sum(one is not None for one in given) != 1:
            raise ValueError("it takes one of inputs, input-bound and data")
        if self.margin and self.data is None:
            raise ValueError("margin is about data")
        if self.baseline is None and (self.window or self.factor is not None):
            raise ValueError("window and factor are about a baseline")

    def asks(self, what: str) -> bool:
        """True if a regression of `what` (k, λ, gain, rounding, …) fails the comparison."""
        if what.startswith("k for"):
            return self.at_most is None
        return self.factor is not None if what in ("λ", "gain", "rounding") else True

    def since(self, old: Certificate, new: Certificate) -> Changes:
        """All changes since the baseline; what is not asked of the model is information. Raises
        PairError for answers to different questions."""
        allowed = Thresholds(window=self.window, factor=self.factor or 0.0)
        found = compare_certificates(old, new, allowed)
        rows = (
            msgspec.structs.replace(row, kind="changed")
            if row.kind in found.fails and not self.asks(row.what)
            else row
            for row in found.rows
        )
        return msgspec.structs.replace(found, rows=tuple(rows))


class Measured(Asked, frozen=True, forbid_unknown_fields=True, rename="kebab", kw_only=True):
    """A model that is measured on recorded inputs: of windows drawn like these at least the share
    is to be within ε at k, with that confidence. window: the length that sequences are cut into."""

    data: str
    share: Annotated[float, msgspec.Meta(gt=0, lt=1)]
    confidence: Annotated[float, msgspec.Meta(gt=0, lt=1)] = 0.99
    window: Annotated[int, msgspec.Meta(ge=2)] | None = None


Question: TypeAlias = Certified | Measured


@dataclass(frozen=True)
class Settings:
    """Questions of a settings file by model, errors of its unreadable tables by model, and the
    file's text."""

    questions: Mapping[str, Question]
    refused: Mapping[str, ModelsError]
    text: str

    @property
    def names(self) -> list[str]:
        """All models."""
        return [*self.questions, *self.refused]


def settings(path: Path = PROJECT) -> Settings:
    """Read the questions about models from a TOML file; raises ModelsError if it is no TOML, asks
    nothing, or has a table of another name."""
    add = "write [tool.rnnbounds.models.NAME] with model, eps and inputs, or data and share"
    try:
        text = disk.read(path, LIMIT).decode()
        document = tomllib.loads(text)
    except OSError as error:
        raise ModelsError(path, f"it {error.strerror}", add) from None
    except RecursionError:
        raise ModelsError(path, "it nests too deep", add) from None
    except ValueError as error:
        raise ModelsError(path, str(error), "correct the file") from None
    ours: Any = document
    for name in ("tool", "rnnbounds"):
        ours = ours.get(name, {}) if isinstance(ours, dict) else {}
    tables = ours if isinstance(ours, dict) else {}
    for name in (name for name, one in tables.items() if isinstance(one, dict)):
        if name != "models":
            what = f"[tool.rnnbounds.{name}] is no table of rnnbounds"
            raise ModelsError(path, what, "name it [tool.rnnbounds.models.NAME]")
    found = tables.get("models")
    if not found or not isinstance(found, dict):
        raise ModelsError(path, "it asks about no model", add)
    asked: dict[str, Question] = {}
    refused: dict[str, ModelsError] = {}
    for name, told in found.items():
        try:
            asked[name] = _question(path, name, told)
        except ModelsError as error:
            refused[name] = error
    return Settings(asked, refused, text)


def _question(path: Path, name: str, told: Mapping[str, Any]) -> Question:
    sort: type[Question] = Measured if isinstance(told, dict) and "share" in told else Certified
    try:
        return msgspec.convert(told, sort)
    except (ValueError, msgspec.MsgspecError) as error:
        what, remedy = _wrong(str(error), sort)
        raise ModelsError(path, f"models.{name}: {what}", remedy) from None


def _wrong(error: str, sort: type[Question]) -> tuple[str, str]:
    """A message of msgspec in plain words, and the remedy: the key that was meant, or all keys."""
    fields = {one: [f.encode_name for f in msgspec.structs.fields(one)] for one in (sort, Measured)}
    said = error.replace("`", "").replace("Object contains unknown field", "it has no key")
    said = said.replace("Object missing required field", "it needs the key")
    said, _, place = said.partition(" - at $.")
    what = f"{place}: {said}" if place else said
    known = list(dict.fromkeys(key for keys in fields.values() for key in keys))
    close = get_close_matches(said.rpartition(" ")[2].replace("_", "-"), known, 1)
    if said.startswith("it has no key") and close:
        return what, f"did you mean {close[0]}?"
    return what, f"it may set {', '.join(fields[sort])}"
