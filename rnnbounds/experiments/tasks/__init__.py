"""What recurrent models are tried on: text, music, slots, digits, sunspots; and as published.

`TASKS[name](data, full)` makes a task; `data` is a published file or folder, None what a package
ships, and `full` takes all of it.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from rnnbounds.experiments.tasks.music import music
from rnnbounds.experiments.tasks.slots import slots
from rnnbounds.experiments.tasks.task import Task
from rnnbounds.experiments.tasks.text import characters, words

TASKS: Mapping[str, Callable[[Path | None, bool], Task]] = {
    "words": words,
    "characters": characters,
    "music": music,
    "slots": slots,
}
