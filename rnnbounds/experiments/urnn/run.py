"""``rnnbounds experiment urnn``: can a URNN learn a contractive network from twice the states?

Students (RNN, URNN, LSTM) of several sizes learn contractive ReLU teachers from noisy outputs, and
each teacher's exact unitary equivalent is built beside them. Source: Emami et al., experiments.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from rnnbounds.experiments.engine.common import choose_device, environment_of, prepare, publish
from rnnbounds.experiments.engine.parts import Parts, depends
from rnnbounds.experiments.students import KINDS, Kind
from rnnbounds.experiments.urnn.page import page
from rnnbounds.experiments.urnn.record import Curve, Unitary, ceiling, compare, problems
from rnnbounds.experiments.urnn.teacher import FULL, SMALL, Setting, draw
from rnnbounds.experiments.urnn.training import equivalent, train

Unit = tuple[Kind, float, range]  # what is trained, stored and taken up again as one


def setting_of(
    full: bool = False, epochs: int | None = None, realisations: int | None = None
) -> Setting:
    """The small sizes or the poster's, with these numbers in place of theirs."""
    sizes = FULL if full else SMALL
    return replace(
        sizes, epochs=epochs or sizes.epochs, realisations=realisations or sizes.realisations
    )


def units(setting: Setting) -> list[Unit]:
    """The units of work in their order."""
    R, each = setting.realisations, setting.together
    blocks = [range(first, min(first + each, R)) for first in range(0, R, each)]
    return [(kind, snr, block) for block in blocks for snr in setting.snr for kind in KINDS]


def work(
    full: bool = False,
    epochs: int | None = None,
    realisations: int | None = None,
    device: str = "auto",
) -> int:
    """How often a run with these options advances."""
    setting = setting_of(full, epochs, realisations)
    return setting.epochs * len(units(setting))


def run(
    out: Path,
    *,
    seed: int = 0,
    full: bool = False,
    epochs: int | None = None,
    realisations: int | None = None,
    device: str = "auto",
    setting: Setting | None = None,
    advance: Callable[[str], None] = lambda label: None,
) -> Unitary:
    """Train all students and compare; write urnn.json and index.html to `out`.

    Finished units of work are stored in OUT/parts, and a run with the same settings goes on from
    them to the same record; `advance` is called `work` times. Raises PartError for parts of another
    run, WriteError for a bad place and InputError for a device that is not there.
    """
    started = datetime.now(UTC)
    torch.set_num_threads(1)
    setting = setting or setting_of(full, epochs, realisations)
    device = choose_device(device)
    parts = Parts(out, depends("urnn", [seed, setting], device, {}))
    prepare(parts.folder)
    known = {unit: stored(parts, unit, setting) for unit in units(setting)}
    task = draw(setting, seed)
    found: dict[tuple[Kind, float], list[Tensor]] = {}
    for unit, scores in known.items():
        step = partial(advance, name_of(unit))
        if scores is None:
            scores = train(*unit, task, setting, seed=seed, device=device, advance=step)
            parts.save(name_of(unit), {"scores": scores})
        else:
            for _ in range(setting.epochs):
                step()
        found.setdefault(unit[:2], []).append(scores)
    curves = {
        key: Curve.of(*key, *(rows(part) for part in torch.cat(told, 1)))
        for key, told in found.items()
    }
    record = Unitary(
        seed=seed,
        setting=setting,
        ceilings=tuple(ceiling(snr) for snr in setting.snr),
        curves=tuple(curves.values()),
        comparisons=tuple(
            told
            for snr in setting.snr
            for told in compare(curves["RNN", snr], curves["URNN", snr], setting.hidden)
        ),
        equivalents=tuple(equivalent(task, r, setting) for r in range(setting.realisations)),
        environment=environment_of(started, "safetensors", device=device),
    )
    record = replace(record, problems=problems(record))
    publish(out, "urnn", record, page(record))
    parts.clear()
    return record


def name_of(unit: Unit) -> str:
    """Such as URNN-15dB-0-3."""
    kind, snr, block = unit
    return f"{kind}-{snr:g}dB-{block[0]}-{block[-1]}"


def stored(parts: Parts, unit: Unit, setting: Setting) -> Tensor | None:
    """The scores of a unit from an earlier run; raises PartError."""
    found = parts.load(name_of(unit))
    return None if found is None else found["scores"]


def rows(scores: Tensor) -> tuple[tuple[float, ...], ...]:
    """(R, sizes) as plain numbers."""
    return tuple(tuple(row) for row in scores.tolist())
