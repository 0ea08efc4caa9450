"""How an experiment is run: unit by unit, each stored when it is done, to a record and a page."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import torch

from rnnbounds.experiments.engine.common import choose_device, environment_of, prepare
from rnnbounds.experiments.engine.experiment import Experiment, Job, S
from rnnbounds.experiments.engine.page import page
from rnnbounds.experiments.engine.parts import PartError, Parts, depends, of_bytes, to_bytes
from rnnbounds.experiments.engine.record import Record, Run, encode
from rnnbounds.experiments.engine.trainer import TICKS
from rnnbounds.properties.errors import InputError, UnknownChoiceError
from rnnbounds.reports.files import write_all
from rnnbounds.reports.pages.experiment import Page, render_page


class OptionError(InputError):
    """An option that an experiment does not have."""

    def __init__(self, name: str, option: str) -> None:
        super().__init__(f"the experiment {name} has no {option}; leave it out")


def run(
    experiment: Experiment[S],
    out: Path,
    *,
    setting: S | None = None,
    full: bool = False,
    data: str | None = None,
    device: str = "auto",
    resume: bool = False,
    advance: Callable[[str], None] = lambda label: None,
) -> Record:
    """Run an experiment; write NAME.json, index.html and its files to `out`.

    What is finished is stored in OUT/parts; with `resume` a run of the same settings goes on from
    there to the same record. `advance` is called `work(experiment, setting)` times. Raises
    PartError for what another run left there, WriteError for a bad place, InputError for a device
    that is not there, and what `load` raises, all before anything is trained.
    """
    started = datetime.now(UTC)
    torch.set_num_threads(1)
    chosen = setting or (experiment.full if full and experiment.full else experiment.setting)
    device = choose_device(device)
    loaded = experiment.load(chosen, data)
    parts = Parts(out, depends(experiment.name, chosen, device, loaded.sources))
    if parts.begun and not resume:
        raise PartError(parts.folder / "*", "are of a run that did not end; add --resume to go on")
    prepare(parts.folder)
    runs: list[Run] = []
    files: dict[str, bytes] = {}
    for index, unit in enumerate(experiment.units(chosen)):
        name = f"{index:04d}-{re.sub(r'[^a-zA-Z0-9.]+', '-', f'{unit.task}-{unit.model}')}"
        kept = parts.load(name)
        told = _Ticks(advance, ", ".join((unit.task, unit.model, unit.variant, f"{unit.seed}")))
        if kept is None:
            job = Job(unit, chosen, loaded.value, device, name, parts, told)
            found = tuple(experiment.work(job))
            kept = {"runs": of_bytes(msgspec.json.encode(found))}
            kept |= {f"file {file}": of_bytes(data) for file, data in job.files.items()}
            parts.save(name, kept)
            parts.drop_below(f"{name}~")
        runs += msgspec.json.decode(to_bytes(kept["runs"]), type=tuple[Run, ...])
        files |= {
            key.removeprefix("file "): to_bytes(part) for key, part in kept.items() if key != "runs"
        }
        told.rest()
    texts = ("name", "title", "question", "conclusion", "source", "rule")
    record = Record(
        **{text: getattr(experiment, text) for text in texts},
        outcome=experiment.judge(runs, chosen),
        options=options_of(experiment, chosen, full=full, data=data),
        settings=msgspec.json.decode(msgspec.json.encode(chosen)),
        sources=loaded.sources,
        runs=tuple(runs),
        environment=environment_of(started, *experiment.packages, device=device),
    )
    whole = render_page(page_of(record, experiment))
    write_all(out, files | {f"{experiment.name}.json": encode(record), "index.html": whole})
    parts.clear()
    return record


def page_of(record: Record, experiment: Experiment[S]) -> Page:
    """The page, of the record alone."""
    return page(record, experiment.charts, experiment.sections(record))


def options_of(
    experiment: Experiment[S], setting: S, *, full: bool, data: str | None
) -> tuple[str, ...]:
    """The options of the command that makes a run of this setting."""
    base = msgspec.to_builtins(experiment.full if full else experiment.setting)
    told = ["--full"] if full else []
    for name, value in msgspec.to_builtins(setting).items():
        if value != base[name]:
            plain = value if isinstance(value, str) else msgspec.json.encode(value).decode()
            told.append(
                f"--{name} {plain}" if name in ("seed", "seeds") else f"--set {name}={plain}"
            )
    return (*told, *(["--data PATH"] if data else []))


def settings(experiment: Experiment[S], *, full: bool = False, given: Mapping[str, Any]) -> S:
    """The sizes by default or the full ones, with these in place; raises OptionError,
    UnknownChoiceError and InputError."""
    if full and experiment.full is None:
        raise OptionError(experiment.name, "--full")
    base = experiment.full if full and experiment.full is not None else experiment.setting
    known = msgspec.structs.asdict(base)
    for name in given:
        if name not in known:
            raise UnknownChoiceError(f"setting of {experiment.name}", name, tuple(known))
    try:
        return msgspec.convert({**known, **given}, type(base), strict=False)
    except msgspec.ValidationError as error:
        raise InputError(
            f"{error}; give a setting as {experiment.name} has it by default"
        ) from None


def work(experiment: Experiment[S], setting: S) -> int:
    """How often a run advances."""
    return TICKS * len(experiment.units(setting))


class _Ticks:
    """A unit advances TICKS times, however many trainings it has."""

    def __init__(self, advance: Callable[[str], None], label: str) -> None:
        self.advance, self.label, self.left = advance, label, TICKS

    def __call__(self) -> None:
        if self.left > 1:  # the last one is for what is read off afterwards
            self.left -= 1
            self.advance(self.label)

    def rest(self) -> None:
        """All that are left."""
        for _ in range(self.left):
            self.advance(self.label)
