"""How fast it is: each row one measurement, in the family that it belongs to."""

from __future__ import annotations

from collections.abc import Iterable

from rnnbounds.bench import campaign, certificates, descent, gaps, inference, norms, process
from rnnbounds.bench.row import Row
from rnnbounds.impl.errors import UnknownNameError

FAMILIES = (gaps, campaign, descent, norms, inference, certificates, process)
ROWS: dict[str, Row] = {row.name: row for family in FAMILIES for row in family.ROWS}


def chosen(names: Iterable[str] | None = None) -> tuple[Row, ...]:
    """The rows of these names in the table's order; all of them by default.

    Raises UnknownNameError for a name that no row has.
    """
    wanted = set(ROWS if names is None else names)
    for name in sorted(wanted - ROWS.keys()):
        raise UnknownNameError("row", name, ROWS)
    return tuple(row for row in ROWS.values() if row.name in wanted)
