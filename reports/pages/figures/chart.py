"""Curves of a claim: the largest left sides that were seen, under their bounds."""

from markupsafe import Markup

from rnnbounds.reports.pages.figures.plot import Series, draw_plot
from rnnbounds.reports.pages.text import bound_text
from rnnbounds.reports.records.checks.curve import Curve

AXES = {"k": "window k, steps", "N": "N, steps of descent", "T": "T, steps"}


def curve_plot(curve: Curve) -> Markup:
    """The largest left side that was seen at each k (or N, or T), under its bound."""
    at = [point.at for point in curve.points]
    lhs, rhs = ([float(getattr(p, side)) for p in curve.points] for side in ("lhs", "rhs"))
    series = [Series("its bound", at, rhs), Series("largest seen", at, lhs, "points")]
    summary = (
        f"The largest left side seen at {len(at)} values of {curve.against} and its bound, from"
        f" {bound_text(lhs[0], 3)} under {bound_text(rhs[0], 3)} at {curve.against} = {at[0]} to"
        f" {bound_text(lhs[-1], 3)} under {bound_text(rhs[-1], 3)} at {curve.against} = {at[-1]}."
    )
    return draw_plot(
        series, x_label=AXES[curve.against], y_label="both sides", log_y=True, summary=summary
    )
