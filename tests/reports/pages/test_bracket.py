"""The picture of a memory's bracket: what is too short, what is not known, what is long enough."""

from rnnbounds.reports.pages.figures import Bracket, draw_brackets


def test_ends_that_are_not_known() -> None:
    """Nothing green of a model that is not certified, nothing red where nothing was found."""
    svg = draw_brackets([Bracket("ε = 1", 5)])
    assert 'class="enough"' not in svg
    svg = draw_brackets([Bracket("ε = 1", 0, 5)])
    assert 'class="short"' not in svg
    assert 'class="open"' not in draw_brackets([Bracket("ε = 1", 7, 7)])
    assert "nothing is known" in Bracket("ε = 1").summary
