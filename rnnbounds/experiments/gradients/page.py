"""The page of the experiment on gradients and weights, made from its record alone."""

import math
from collections.abc import Sequence
from statistics import fmean

from reports.pages.experiment import Page, Paragraph, Plot, Section, Table
from reports.pages.figures.figure import Series as Line
from reports.pages.summary import environment_items
from reports.pages.text import error, plural, ratio
from rnnbounds.experiments.engine.common import again, logarithmic
from rnnbounds.experiments.gradients.curves import (
    cloud,
    columns,
    flat_from,
    mean,
    mean_bound,
    power,
    short,
    used,
    vacuous,
)
from rnnbounds.experiments.gradients.formulas import LEMMA, PROPOSITION
from rnnbounds.experiments.gradients.record import Closeness, Curve, Descent


def page(run: Closeness) -> Page:
    """What is told of a run; it fails unmistakably if the run has problems."""
    setting = run.setting
    return Page(
        "Gradients and weights of truncated models",
        (gradients(run), weights(run), instances(run), yours(run)),
        lead=lead(run),
        kicker=f"experiment gradients-close · seed {run.seed} · "
        f"{plural(setting.instances, 'instance')} · {plural(setting.steps, 'step')}",
        problems=run.problems,
        environment=environment_items(run.environment),
    )


def lead(run: Closeness) -> str:
    """The outcome in words."""
    means, windows = mean(run.gradients), run.setting.windows
    told = (
        f"Gradients of a recurrent network that is cut to its last k inputs, against those of the "
        f"whole one, on {plural(run.setting.instances, 'random instance')}: on average "
        f"{ratio(means[0])} apart at k = {windows[0]}"
    )
    middle = len(windows) // 2
    if middle:
        told += f", {ratio(means[middle])} at k = {windows[middle]}"
    return told + ("." if run.problems else ". Every observed gap is below its certified bound.")


def gradients(run: Closeness) -> Section:
    """Gradients at the first weights against k."""
    curve, windows, lam = run.gradients, run.setting.windows, run.setting.lam
    means, bounds = mean(curve), mean_bound(curve)
    lines = (
        Line("each instance", *cloud(windows, curve), "points"),
        Line("mean", windows, logarithmic(means)),
        Line("certified, mean", windows, bounds, "dashed"),
    )
    caption = (
        f"The gradient of the loss in W and U, at the same Gaussian weights: the truncated model "
        f"against the full one, T = {run.setting.length}."
    )
    table = Table(
        ("k", "mean", "least", "greatest", "certified, mean", "observed/certified"),
        tuple(
            (
                str(k),
                ratio(mean_k),
                ratio(min(column)),
                ratio(max(column)),
                power(math.log10(bound)),
                ratio(mean_k / bound),
            )
            for k, mean_k, column, bound in zip(windows, means, columns(curve), bounds, strict=True)
        ),
        frozenset(range(6)),
        "Over the instances, to four digits at most; the certified bound is εₖ with the constants "
        "of each instance’s own weights, valid for every input within B_x and every length.",
    )
    return Section(
        "Gradients at the same weights",
        (
            Paragraph(
                "Lemma 2 of Miller & Hardt with explicit constants, uniform in the length T:"
            ),
            Paragraph(LEMMA),
            Plot(lines, "window k", "‖∇p − ∇pᵏ‖", caption, log_y=True),
            Paragraph(f"{decay(windows, means, lam)} {floor(windows, curve)}"),
            table,
        ),
    )


def decay(windows: Sequence[int], means: Sequence[float], lam: float) -> str:
    """The observed rate over the windows before rounding shows."""
    end = flat_from(means)
    last = len(means) - 1 if end is None else max(end - 1, 0)
    if last == 0 or not means[last] > 0:
        return ""
    rate = (means[last] / means[0]) ** (1 / (windows[last] - windows[0]))
    return (
        f"From k = {windows[0]} to k = {windows[last]} the mean falls by a factor {ratio(rate)} "
        f"an input; {lam:g} is what holds for all weights, inputs and lengths."
    )


def floor(windows: Sequence[int], curve: Curve) -> str:
    """Where the curve ends to say anything, and why."""
    rounding = max(curve.rounding)
    end = flat_from(mean(curve))
    found = [] if end is None else [
        f"From k = {windows[end]} on it is flat or exactly 0, at the level of float64 "
        f"rounding: what is seen there is not the gap."
    ]  # fmt: skip
    if math.isfinite(rounding):
        found.append(f"The rounding of each gap is certified to be at most {error(rounding)}.")
    return " ".join(found)


def weights(run: Closeness) -> Section:
    """Weights after N steps against k, for each schedule."""
    windows = run.setting.windows
    lines = [
        Line(f"steps {told.name}, mean", windows, logarithmic(mean(told.weights)))
        for told in run.descents
    ]
    lines += [
        Line(f"steps {told.name}, certified", windows, mean_bound(told.weights), "dashed")
        for told in run.descents
        if not vacuous(run, told, 0)
    ]
    caption = (
        f"Projected gradient descent from the same start, {plural(run.setting.steps, 'step')}: the "
        f"weights of the truncated model against those of the full one, mean over the instances. "
        f"A certified bound is drawn where it says more than the size of the set of weights."
    )
    return Section(
        "Weights after training",
        (
            Paragraph(
                "Proposition 4 of Miller & Hardt, as the exact product of its recursion, with εₖ "
                "and β uniform on the set of weights. For steps α/t the product grows like the "
                "power αβ of N, for constant steps exponentially in N:"
            ),
            Paragraph(PROPOSITION),
            Plot(lines, "window k", "‖w − ŵ‖ after N steps", caption, log_y=True),
            observed_table(run),
            certified_table(run),
            Paragraph(beside(run)),
            *(Paragraph(verdict(run, told)) for told in run.descents),
        ),
    )


def observed_table(run: Closeness) -> Table:
    """Observed gaps, a pair of columns for each schedule."""
    heads = [head for told in run.descents for head in (f"steps {told.name}", "from, to")]
    rows = []
    for index, k in enumerate(run.setting.windows):
        row = [str(k)]
        for told in run.descents:
            column = columns(told.weights)[index]
            row += [short(fmean(column)), f"{short(min(column))}, {short(max(column))}"]
        rows.append(tuple(row))
    return Table(
        ("k", *heads),
        tuple(rows),
        frozenset(range(len(heads) + 1)),
        "‖w − ŵ‖ as observed: mean, least and greatest over the instances, to two digits.",
    )


def certified_table(run: Closeness) -> Table:
    """The bounds on them, a column for each schedule."""
    each = [list(zip(*told.weights.log10_bound, strict=True)) for told in run.descents]
    return Table(
        ("k", *(f"steps {told.name}" for told in run.descents)),
        tuple(
            (str(k), *(power(max(bounds[index])) for bounds in each))
            for index, k in enumerate(run.setting.windows)
        ),
        frozenset(range(len(each) + 1)),
        f"‖w − ŵ‖ as certified, the largest over the instances. A bound above "
        f"{ratio(min(run.constants['diameter']))}, the least diameter of a set of weights, says "
        f"nothing.",
    )


def beside(run: Closeness) -> str:
    """What constant steps cost, beside 1/t, at each window before rounding shows."""
    decreasing, constant = run.descents[:2]
    windows, before = run.setting.windows, [mean(told.weights) for told in run.descents[:2]]
    ends = [flat_from(means) for means in before]
    last = min(len(windows) if end is None else end for end in ends)
    times = [
        f"{ratio(b / a)} at k = {k}"
        for k, a, b in list(zip(windows, *before, strict=True))[:last]
        if a > 0
    ]
    if not times:
        return ""
    return (
        f"How many times as far apart the weights end with steps {constant.name} as with steps "
        f"{decreasing.name}, by their means: {', '.join(times)}. The full model’s weights moved by "
        f"{ratio(fmean(constant.moved))} and {ratio(fmean(decreasing.moved))} on average."
    )


def verdict(run: Closeness, told: Descent) -> str:
    """What the certified bound says for one schedule, and how far training went."""
    windows = run.setting.windows
    outcome = (
        f"Steps {told.name}: the mean loss goes from {ratio(fmean(run.loss))} to "
        f"{ratio(fmean(told.loss))}, while the weights move by {ratio(fmean(told.moved))}."
    )
    saying = [k for index, k in enumerate(windows) if not vacuous(run, told, index)]
    if not saying:
        widest = max(max(row) for row in told.weights.log10_bound)
        outcome += (
            f" The certified bound is vacuous at every k here, up to {power(widest)}: β is "
            f"at least {ratio(min(run.constants['beta']))}, and it stands in the exponent."
        )
    else:
        outcome += (
            f" The certified bound says something from k = {saying[0]} on, though at most "
            f"{ratio(used(told.weights))} of it is used."
        )
    end = flat_from(mean(told.weights))
    if end is not None:
        outcome += (
            f" From k = {windows[end]} on the observed curve is flat or exactly 0, at the level "
            f"of float64 rounding."
        )
    return outcome


def instances(run: Closeness) -> Section:
    """What was drawn, and the constants of the bounds."""
    setting = run.setting
    widest = max(told.widest for told in run.descents)
    reached = "reached" if widest >= 1 - 2.0**-30 else f"at most {ratio(widest)} of it was used"
    return Section(
        "Instances and constants",
        (
            Paragraph(
                f"Each instance is a tanh RNN of {plural(setting.states, 'state')} without biases, "
                f"W ~ N(0, 1/n) rescaled to ‖W‖₂ = {setting.lam:g}, U ~ N(0, 1/d), one sequence of "
                f"{plural(setting.length, 'input')} x_t ~ N(0, I) in {setting.inputs} dimensions, "
                f"a readout C ~ N(0, 1/n) to {setting.outputs} outputs, a target y ~ N(0, I), and "
                f"the loss ½‖C h_T − y‖². W and U are trained, W in ‖W‖₂ ≤ {setting.lam:g} by its "
                f"singular values, U in a Frobenius ball of twice its first norm ({reached}). "
                f"Inputs are bounded by the largest one that was drawn."
            ),
            Table(
                ("constant", "least", "greatest"),
                tuple(
                    (name, ratio(min(values)), ratio(max(values)))
                    for name, values in run.constants.items()
                ),
                frozenset({1, 2}),
                "Over the instances, uniform on the set of weights; those named “start” are of the "
                "first weights alone.",
            ),
        ),
    )


def yours(run: Closeness) -> Section:
    """The command that makes this page again."""
    return again("gradients-close", f"--seed {run.seed} --instances {run.setting.instances}")
