"""Base class of results that are shown as a line, a table or a plot, as in notebooks.

A result says what stands in its line, in the rows of its table and in its picture; the rest
follows: `str`, `repr`, `_repr_html_`, `to_dict`, `to_frame` (pandas) and `plot` (matplotlib). Both
packages are optional, and imported when asked for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from html import escape
from importlib import import_module
from typing import Any

from rnnbounds.impl.errors import InputError

Row = Mapping[str, float | int | str | None]


class MissingPackageError(InputError):
    """A package that is not installed, and that one method alone needs."""

    def __init__(self, package: str, method: str) -> None:
        super().__init__(f"{method} needs {package}; pip install {package}")


class Shown(ABC):
    """A result with a line of text, a table and a plot."""

    @abstractmethod
    def line(self) -> str:
        """The answer, in one line."""

    @abstractmethod
    def rows(self) -> Sequence[Row]:
        """The table: rows with the same columns."""

    @abstractmethod
    def draw(self, axes: Any) -> None:
        """The picture, on axes of matplotlib."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON data."""

    def to_dict(self) -> dict[str, Any]:
        """The record as plain JSON data, as `--format json` prints it."""
        return self.to_json()

    def to_frame(self) -> Any:
        """The table as a pandas.DataFrame; raises MissingPackageError without pandas."""
        return _package("pandas", "to_frame()").DataFrame(list(self.rows()))

    def plot(self, axes: Any = None) -> Any:
        """The picture: on these axes of matplotlib, or on new ones, which are returned.

        Raises MissingPackageError without matplotlib.
        """
        if axes is None:
            axes = _package("matplotlib.pyplot", "plot()").subplots()[1]
        self.draw(axes)
        return axes

    def __str__(self) -> str:
        return self.line()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.line()}>"

    def _repr_html_(self) -> str:
        """The line and the table, as a notebook shows them."""
        rows = self.rows()
        head = "".join(f"<th>{escape(name)}</th>" for name in (rows[0] if rows else ()))
        body = "".join(
            f"<tr>{''.join(f'<td>{escape(cell(value))}</td>' for value in row.values())}</tr>"
            for row in rows
        )
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return f"<p>{escape(self.line())}</p>{table if rows else ''}"


def cell(value: float | int | str | None) -> str:
    """A value in a cell of a table, to four digits."""
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _package(name: str, method: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise MissingPackageError(name.partition(".")[0], method) from None
