"""Matplotlib with its own defaults, and without a word on standard error."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rnnbounds.reports.errors import InputError

# Text as text, and no id by chance.
SVG_SETTINGS: dict[Any, str] = {"svg.fonttype": "none", "svg.hashsalt": "rnnbounds"}


class FigureError(InputError):
    """A figure that cannot be drawn."""


@contextmanager
def quiet_matplotlib() -> Iterator[None]:
    """Draw within: the same whatever a matplotlibrc says, and all settings as before afterwards.

    Matplotlib warns of a home that it cannot write to, of fonts that it reads for the first time,
    of characters that its own font lacks although the browser's has them: none of it is the
    reader's, and under ``-W error`` it would end the run. Raises FigureError if it cannot start.
    """
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                import matplotlib  # slow: only for what draws
                import matplotlib.font_manager
            except (OSError, UnicodeError) as error:
                raise FigureError(
                    f"matplotlib does not start: {error}; set MPLCONFIGDIR to a folder of your own"
                ) from None
            settings: Any = {**matplotlib.rcParamsDefault, **SVG_SETTINGS}
            with matplotlib.rc_context(settings):
                yield
    finally:
        logger.setLevel(level)
