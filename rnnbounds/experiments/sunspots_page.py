"""The page of the sunspot experiment, made from its record alone."""

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, Context, Decimal

from reports.experiment import Code, Paragraph, Plot, Section, Table, render_experiment
from reports.mathml import mathml
from reports.page import environment_items
from reports.plot import Series as Line
from reports.plot import plot
from reports.text import NOTHING, error, plural
from rnnbounds.experiments.record import Sunspots, Trained

BOUND = mathml(
    "<mo>‖</mo><msub><mi>h</mi><mi>T</mi></msub><mo>−</mo>"
    "<msubsup><mi>h</mi><mi>T</mi><mi>k</mi></msubsup><msub><mo>‖</mo><mn>2</mn></msub>"
    "<mo>≤</mo><mi>C</mi><mi>S</mi>"
    "<mfrac><msup><mi>λ</mi><mi>k</mi></msup><mrow><mn>1</mn><mo>−</mo><mi>λ</mi></mrow></mfrac>",
    "‖h_T − h_T^k‖₂ ≤ C S λ^k/(1 − λ)",
    display=True,
)


def render(run: Sunspots) -> bytes:
    """The page, UTF-8; it fails unmistakably if the run has problems."""
    sections = [networks(run), forecasts(run), memory(run), yours(run)]
    return render_experiment(
        "Sunspots, with a certified memory",
        sections,
        lead=lead(run),
        kicker=f"experiment sunspots · seed {run.seed} · {plural(run.epochs, 'epoch')} each",
        problems=run.problems,
        environment=[("data", run.series.source), *environment_items(run.environment)],
    )


def lead(run: Sunspots) -> str:
    """The outcome in words."""
    learned = (
        f"One small recurrent network learned {run.series.split} years of sunspots twice, from the "
        f"same start. "
    )
    if not run.truncations:
        return (
            learned + f"The one that was projected is {run.stable.verdict}: nothing is certified."
        )
    middle = run.truncations[len(run.truncations) // 2]
    return (
        f"{learned}The one that was projected after every step is certified: the last "
        f"{middle.k} years fix its forecast to within {up(middle.forecast_bound)} sunspots, however "
        f"long the history before them. The one that was left alone is {run.unconstrained.verdict}."
    )


def networks(run: Sunspots) -> Section:
    """Both networks: certificates and errors."""
    series, certified = run.series, run.stable.verdict == "certified"
    first = series.years[series.split + 1]
    top = series.mean + series.unit * run.input_bound
    blocks = (
        Paragraph(
            f"Each is a torch.nn.RNN with tanh, {run.states} states and a linear readout. It reads "
            f"one number a year, from {series.years[0]} on, and forecasts the next; the forecasts "
            f"of {first}–{series.years[-1]} are held out from training and from the scale. After "
            f"every step of Adam the recurrent matrix of the first is projected onto "
            f"‖W‖₂ ≤ {run.stable.ell:g}; that is the only difference."
        ),
        Table(
            ("network", "verdict", "λ", "norm", "training error", "held-out error"),
            (
                row("projected", run.stable),
                row("left alone", run.unconstrained),
                ("as many as this year", "", "", "", "", f"{run.persistence_error:.1f}"),
            ),
            frozenset({2, 4, 5}),
            f"Errors are root mean squares in sunspot numbers. The verdict holds for every series "
            f"that stays within |x| ≤ {run.input_bound:.4g}, the largest normalised value of the "
            f"whole series ({top:.1f} sunspots). This is one run: which network forecasts better "
            f"is an observation, not a claim.",
        ),
        *(Paragraph(text) for text in remarks(run, certified)),
    )
    return Section("Two networks", blocks)


def row(name: str, trained: Trained) -> tuple[str, ...]:
    """One network in the table; λ is the best factor found, a bound only if certified."""
    lam = trained.certificate["lambda"]
    return (
        name,
        trained.verdict,
        NOTHING if lam is None else up(lam),
        trained.certificate["norm"],
        f"{trained.training_error:.1f}",
        f"{trained.error:.1f}",
    )


def remarks(run: Sunspots, certified: bool) -> list[str]:
    """What the verdicts mean, without more than they say."""
    meaning = {
        "certified": "The network that was left alone happens to be certified, too.",
        "undecided": (
            "No norm that was tried certifies the network that was left alone, and no witness "
            "against it was found. It is undecided, which says nothing about it."
        ),
    }
    witness = run.unconstrained.certificate["witness"]
    if witness is not None:
        return [
            f"The network that was left alone is refuted by a certified witness: {witness['text']}. "
            f"So no norm makes it a contraction, and no bound like the one below exists for it."
        ]
    return [meaning[run.unconstrained.verdict]]


def forecasts(run: Sunspots) -> Section:
    """The held-out forecasts, recurrent and truncated."""
    series = run.series
    years = series.years[series.split + 1 :]
    lines = [
        Line("observed", years, series.numbers[series.split + 1 :], "points"),
        Line("recurrent", years, run.stable.forecasts),
    ]
    caption = "Held-out years: observed, and forecast one year ahead by the projected network."
    blocks: list[Plot | Table] = []
    if run.truncations:
        widest = run.truncations[0]
        lines.append(Line(f"last {widest.k} years only", years, widest.forecasts, "dashed"))
        caption += (
            f" The dashed line sees the last {widest.k} years alone (ε = {widest.epsilon:g}); it is "
            f"certified to stay within {up(widest.forecast_bound)} sunspots of the solid one, and "
            f"stays within {up(widest.forecast_gap)}."
        )
        blocks.append(gaps_table(run))
    figure = plot(lines, x_label="year", y_label="sunspot number")
    return Section("Truncated to a window", (Plot(figure, caption), *blocks))


def gaps_table(run: Sunspots) -> Table:
    """Observed gaps beside the certified ones."""
    return Table(
        ("ε", "years k", "states, observed", "forecasts, observed", "certified", "held-out error"),
        tuple(
            (
                f"{cut.epsilon:g}",
                str(cut.k),
                error(cut.gap),
                error(cut.forecast_gap),
                up(cut.forecast_bound),
                f"{cut.error:.1f}",
            )
            for cut in run.truncations
        ),
        frozenset(range(6)),
        "The projected network against its feed-forward form of k layers: the largest difference of "
        "states (certified to be at most ε) and of forecasts in sunspot numbers (at most ε‖C‖₂, "
        "with C the readout), over the held-out years. Observed gaps include the rounding of both "
        "runs, so that they bound those of the models in real arithmetic.",
    )


def memory(run: Sunspots) -> Section:
    """The gap against k, on a logarithmic axis, beside its bound."""
    lines = [
        Line(
            "left alone, observed",
            range(len(run.memory.unconstrained)),
            logarithmic(run.memory.unconstrained),
            "dashed",
        ),
        Line("projected, observed", range(len(run.memory.stable)), logarithmic(run.memory.stable)),
    ]
    caption = "The largest ‖h − hᵏ‖₂ over the held-out years when only the last k years are read."
    blocks: tuple[Paragraph, ...] = ()
    if run.memory.certified:
        k, gaps = range(len(run.memory.certified)), run.memory.certified
        lines = [
            *lines,
            Line("projected, certified", k, gaps),
            Line(
                "k(ε)",
                [c.k for c in run.truncations],
                [c.epsilon for c in run.truncations],
                "points",
            ),
        ]
        caption += " For the network that was left alone there is no bound to draw."
        constants = run.stable.certificate["constants"]
        blocks = (
            Paragraph(
                f"In the {run.stable.certificate['norm']} norm the projected network contracts by "
                f"λ ≤ {up(run.stable.certificate['lambda'])}; one input alone moves the zero state by at most S = "
                f"{up(constants['drive'])}, and C = {up(constants['equivalence'])} leads back to "
                f"the Euclidean norm. For every T and every series within the input bound:"
            ),
            Paragraph(BOUND),
        )
    figure = plot(lines, x_label="window k, years", y_label="‖h − hᵏ‖₂", log_y=True)
    return Section("How it forgets", (*blocks, Plot(figure, caption)))


def yours(run: Sunspots) -> Section:
    """The commands that say the same of the files that were written."""
    bound = repr(run.input_bound)
    program = (
        f"rnnbounds certify {run.stable.file} --input-bound {bound} --eps 0.01\n"
        f"rnnbounds certify {run.unconstrained.file} --input-bound {bound} --eps 0.01\n"
        f"rnnbounds truncate {run.stable.file} --input-bound {bound} --eps 0.01 --out small.safetensors"
    )
    return Section(
        "Check it yourself",
        (
            Paragraph(
                "Beside this page lie the weights of both networks under torch's names, the "
                "truncated ones with their certificates, and every number of this page in "
                "sunspots.json."
            ),
            Code(program),
        ),
    )


def logarithmic(values: Sequence[float]) -> list[float]:
    """A gap of zero has no place on a logarithmic axis."""
    return [value if value > 0 else math.nan for value in values]


def up(value: float) -> str:
    """A bound to three digits, rounded up."""
    rounded = Context(prec=3, rounding=ROUND_CEILING).create_decimal(Decimal(value))
    return f"{rounded.normalize():f}"
