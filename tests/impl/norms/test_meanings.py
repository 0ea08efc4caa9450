"""Every norm that can be named has a line about it."""

from rnnbounds.impl.cells.table import NORM_NAMES
from rnnbounds.impl.norms.meanings import NORM_MEANINGS


def test_every_norm_has_a_line() -> None:
    """And nothing else has one."""
    assert set(NORM_MEANINGS) == set(NORM_NAMES)


def test_lines_fit_behind_a_name() -> None:
    """Each is part of a line, and no two are alike."""
    for line in NORM_MEANINGS.values():
        assert line[0].islower()
        assert line[-1] not in ".;:,"
        assert "\n" not in line
        assert len(line) <= 100
    assert len({*NORM_MEANINGS.values()}) == len(NORM_MEANINGS)
