"""Base class of results that are shown as a line, a table or a plot, as in notebooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from rnnbounds.impl.errors import InputError

Row = Mapping[str, float | int | str | None]


class Shown:
    """A result with a line of text and a table."""

    def line(self) -> str:
        """The answer, in one line."""
        raise NotImplementedError

    def rows(self) -> Sequence[Row]:
        """The table: rows with the same columns."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.line()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.line()}>"

    def _repr_html_(self) -> str:
        """The line and the table, as a notebook shows them."""
        rows = self.rows()
        head = "".join(f"<th>{escape(name)}</th>" for name in (rows[0] if rows else ()))
        body = "".join(
            f"<tr>{''.join(f'<td>{_cell(value)}</td>' for value in row.values())}</tr>"
            for row in rows
        )
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return f"<p>{escape(self.line())}</p>{table if rows else ''}"


class Plotted(Shown):
    """A result with a picture too."""

    def draw(self, axes: Any) -> None:
        """The picture, on axes of matplotlib."""
        raise NotImplementedError

    def plot(self, axes: Any = None) -> Any:
        """The picture: on these axes of matplotlib, or on new ones, which are returned.

        Raises InputError without matplotlib.
        """
        if axes is None:
            try:
                from matplotlib import pyplot
            except ImportError:
                raise InputError(
                    "plot() needs matplotlib; install it with: pip install 'rnnbounds[plot]'"
                ) from None
            axes = pyplot.subplots()[1]
        self.draw(axes)
        return axes


def _cell(value: float | int | str | None) -> str:
    """A value in a cell of a table, to four digits."""
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else escape(str(value))
