"""Tasks for recurrent models (text, music, slots), from packages or as published.

`TASKS[name](data, full)` makes a task; `data` is a published file or folder, None for the data in a
package, and `full` takes all of it.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rnnbounds.experiments.engine.experiment import Loaded
from rnnbounds.experiments.tasks.music import music
from rnnbounds.experiments.tasks.slots import slots
from rnnbounds.experiments.tasks.task import Task
from rnnbounds.experiments.tasks.text import characters, words
from rnnbounds.properties.errors import UnknownChoiceError

TASKS: Mapping[str, Callable[[Path | None, bool], Task]] = {
    "words": words,
    "characters": characters,
    "music": music,
    "slots": slots,
}


def load_tasks(names: Sequence[str], data: str | None, whole: bool) -> Loaded:
    """Tasks by name, and where their data are from.

    `data` is what was published for all of them, or a folder with folders that are named as tasks:
    each is of that task, and what has none is what packages ship. Raises UnknownChoiceError,
    DataError and MissingPackageError.
    """
    found: dict[str, Task] = {}
    place = None if data is None else Path(data)
    apart = place is not None and any((place / name).is_dir() for name in TASKS)
    for name in names:
        if name not in TASKS:
            raise UnknownChoiceError("task", name, tuple(TASKS))
        own = place / name if place and apart else place
        found[name] = TASKS[name](own if not apart or (own and own.exists()) else None, whole)
    sources = {name: f"{task.source}, SHA-256 {task.digest[:16]}" for name, task in found.items()}
    return Loaded(found, sources)
