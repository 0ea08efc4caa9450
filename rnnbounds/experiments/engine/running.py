"""How an experiment is run: unit by unit, each stored when it is done, to a record and a page."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import torch

from rnnbounds.experiments.engine.common import choose_device, make_run_folder, record_environment
from rnnbounds.experiments.engine.experiment import Experiment, Job, S
from rnnbounds.experiments.engine.page import build_page
from rnnbounds.experiments.engine.parts import (
    PartError,
    PartStore,
    bytes_to_tensor,
    result_inputs,
    tensor_to_bytes,
)
from rnnbounds.experiments.engine.record import Record, Run, encode_record
from rnnbounds.experiments.engine.trainer import TICKS
from rnnbounds.properties.errors import InputError, UnknownChoiceError
from rnnbounds.reports.files import write_all
from rnnbounds.reports.pages.experiment import Page, render_page


class OptionError(InputError):
    """An option that an experiment does not have."""

    def __init__(self, name: str, option: str) -> None:
        super().__init__(f"the experiment {name} has no {option}; leave it out")


def run_experiment(
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
    store = PartStore(out, result_inputs(experiment.name, chosen, device, loaded.sources))
    if store.has_parts and not resume:
        raise PartError(store.folder / "*", "are of a run that did not end; add --resume to go on")
    make_run_folder(store.folder)
    runs: list[Run] = []
    files: dict[str, bytes] = {}
    for index, unit in enumerate(experiment.units(chosen)):
        name = f"{index:04d}-{re.sub(r'[^a-zA-Z0-9.]+', '-', f'{unit.task}-{unit.model}')}"
        stored = store.load(name)
        ticks = _UnitTicks(
            advance, ", ".join((unit.task, unit.model, unit.variant, f"{unit.seed}"))
        )
        if stored is None:
            job = Job(unit, chosen, loaded.value, device, name, store, ticks)
            unit_runs = tuple(experiment.work(job))
            stored = {"runs": bytes_to_tensor(msgspec.json.encode(unit_runs))}
            stored |= {f"file {file}": bytes_to_tensor(data) for file, data in job.files.items()}
            store.save(name, stored)
            store.drop_prefixed(f"{name}~")
        runs += msgspec.json.decode(tensor_to_bytes(stored["runs"]), type=tuple[Run, ...])
        files |= {
            key.removeprefix("file "): tensor_to_bytes(part)
            for key, part in stored.items()
            if key != "runs"
        }
        ticks.finish()
    texts = ("name", "title", "question", "conclusion", "source", "rule")
    record = Record(
        **{text: getattr(experiment, text) for text in texts},
        outcome=experiment.judge(runs, chosen),
        options=rerun_options(experiment, chosen, full=full, data=data),
        settings=msgspec.json.decode(msgspec.json.encode(chosen)),
        sources=loaded.sources,
        runs=tuple(runs),
        environment=record_environment(started, *experiment.packages, device=device),
    )
    page_bytes = render_page(experiment_page(record, experiment))
    write_all(
        out, files | {f"{experiment.name}.json": encode_record(record), "index.html": page_bytes}
    )
    store.clear()
    return record


def experiment_page(record: Record, experiment: Experiment[S]) -> Page:
    """The page, of the record alone."""
    return build_page(record, experiment.charts, experiment.sections(record))


def rerun_options(
    experiment: Experiment[S], setting: S, *, full: bool, data: str | None
) -> tuple[str, ...]:
    """The options of the command that makes a run of this setting."""
    base = msgspec.to_builtins(experiment.full if full else experiment.setting)
    options = ["--full"] if full else []
    for name, value in msgspec.to_builtins(setting).items():
        if value != base[name]:
            plain = value if isinstance(value, str) else msgspec.json.encode(value).decode()
            options.append(
                f"--{name} {plain}" if name in ("seed", "seeds") else f"--set {name}={plain}"
            )
    return (*options, *(["--data PATH"] if data else []))


def make_setting(experiment: Experiment[S], *, full: bool = False, changed: Mapping[str, Any]) -> S:
    """The sizes by default or the full ones, with these in place; raises OptionError,
    UnknownChoiceError and InputError."""
    if full and experiment.full is None:
        raise OptionError(experiment.name, "--full")
    base = experiment.full if full and experiment.full is not None else experiment.setting
    fields = msgspec.structs.asdict(base)
    for name in changed:
        if name not in fields:
            raise UnknownChoiceError(f"setting of {experiment.name}", name, tuple(fields))
    try:
        return msgspec.convert({**fields, **changed}, type(base), strict=False)
    except msgspec.ValidationError as error:
        raise InputError(
            f"{error}; give a setting as {experiment.name} has it by default"
        ) from None


def count_advances(experiment: Experiment[S], setting: S) -> int:
    """How often a run advances."""
    return TICKS * len(experiment.units(setting))


class _UnitTicks:
    """A unit advances TICKS times, however many trainings it has."""

    def __init__(self, advance: Callable[[str], None], label: str) -> None:
        self.advance, self.label, self.remaining = advance, label, TICKS

    def __call__(self) -> None:
        if self.remaining > 1:  # the last one is for what is read off afterwards
            self.remaining -= 1
            self.advance(self.label)

    def finish(self) -> None:
        """All that are left."""
        for _ in range(self.remaining):
            self.advance(self.label)
