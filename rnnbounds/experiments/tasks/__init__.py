"""Tasks for recurrent models (text), from packages or as published.

`TASKS[name](data, full)` makes a task; `data` is a published file or folder, None for the data in a
package, and `full` takes all of it.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rnnbounds.experiments.engine.experiment import LoadedData
from rnnbounds.experiments.tasks.task import Task
from rnnbounds.experiments.tasks.text import character_task, word_task
from rnnbounds.properties.errors import UnknownChoiceError

TASKS: Mapping[str, Callable[[Path | None, bool], Task]] = {
    "words": word_task,
    "characters": character_task,
}


def load_tasks(names: Sequence[str], data: str | None, full: bool) -> LoadedData:
    """Tasks by name, and where their data are from.

    `data` is what was published for all of them, or a folder with folders that are named as tasks:
    each is of that task, and what has none is what packages ship. Raises UnknownChoiceError,
    DataError and MissingPackageError.
    """
    tasks: dict[str, Task] = {}
    folder = None if data is None else Path(data)
    has_task_folders = folder is not None and any((folder / name).is_dir() for name in TASKS)
    for name in names:
        if name not in TASKS:
            raise UnknownChoiceError("task", name, tuple(TASKS))
        own_folder = folder / name if folder and has_task_folders else folder
        tasks[name] = TASKS[name](
            own_folder if not has_task_folders or (own_folder and own_folder.exists()) else None,
            full,
        )
    sources = {name: f"{task.source}, SHA-256 {task.digest[:16]}" for name, task in tasks.items()}
    return LoadedData(tasks, sources)
