"""The page of the sunspot experiment, made from its record alone."""

from reports.pages.experiment import Code, Page, Paragraph, Plot, Section, Table
from reports.pages.figures.figure import Series as Line
from reports.pages.mathml import mathml
from reports.pages.summary import environment_items
from reports.pages.text import NOTHING, error, plural, ratio
from rnnbounds.experiments.engine.common import logarithmic, up
from rnnbounds.experiments.sunspots.record import Sunspots, Trained

_BAR = '<mo stretchy="false">‖</mo>'
BOUND = mathml(
    f"{_BAR}<msub><mi>h</mi><mi>T</mi></msub><mo>−</mo>"
    f"<msubsup><mi>h</mi><mi>T</mi><mi>k</mi></msubsup><msub>{_BAR}<mn>2</mn></msub>"
    "<mo>≤</mo><mi>C</mi><mspace width='0.15em'/><mi>S</mi><mspace width='0.15em'/>"
    "<mfrac><msup><mi>λ</mi><mi>k</mi></msup><mrow><mn>1</mn><mo>−</mo><mi>λ</mi></mrow></mfrac>",
    "‖h_T − h_T^k‖₂ ≤ C S λ^k/(1 − λ)",
)


def page(run: Sunspots) -> Page:
    """What is told of a run; it fails unmistakably if the run has problems."""
    return Page(
        "Sunspots, with a certified memory",
        (networks(run), forecasts(run), memory(run), yours(run)),
        lead=lead(run),
        kicker=f"experiment sunspots · seed {run.seed} · {plural(run.epochs, 'epoch')} each",
        problems=run.problems,
        environment=(("data", run.series.source), *environment_items(run.environment)),
    )


def lead(run: Sunspots) -> str:
    """The outcome in words."""
    learned = (
        f"Two recurrent networks, twins at the start, learned {run.series.split + 1} years of "
        f"sunspots. The one that was projected after every step is {run.stable.verdict}"
    )
    alone = f"The one that was left alone is {run.unconstrained.verdict}."
    if not run.truncations:
        return f"{learned}, so nothing is promised about its memory. {alone}"
    middle = run.truncations[len(run.truncations) // 2]
    return (
        f"{learned}: the last {middle.k} years fix its forecast to within "
        f"{up(middle.forecast_bound)} sunspots, however long the history before them. {alone}"
    )


def networks(run: Sunspots) -> Section:
    """Both networks: certificates and errors."""
    series = run.series
    first = series.years[series.split + 1]
    top = series.mean + series.unit * run.input_bound
    return Section(
        "Two networks",
        (
            Paragraph(
                f"Each is a torch.nn.RNN with tanh, {run.states} states and a linear readout. It "
                f"reads one number a year, from {series.years[0]} on, and forecasts the next; the "
                f"years {first}–{series.years[-1]} are held out from training and from the scale. "
                f"After every step of Adam the recurrent matrix of the first is projected onto "
                f"‖W‖₂ ≤ {run.stable.ell:g}; that is the only difference."
            ),
            Table(
                ("network", "verdict", "best λ", "norm", "training error", "held-out error"),
                (
                    row("projected", run.stable),
                    row("left alone", run.unconstrained),
                    ("“as many as this year”", "", "", "", "", f"{run.persistence_error:.1f}"),
                ),
                frozenset({2, 4, 5}),
                f"Errors are root mean squares in sunspot numbers. The verdicts are about every "
                f"series with |x| ≤ {run.input_bound:.6g}, the largest normalised value of the "
                f"whole series ({top:.1f} sunspots). This is one run: which network forecasts "
                f"better is an observation, not a claim.",
            ),
            Paragraph(remark(run.unconstrained)),
        ),
    )


def remark(alone: Trained) -> str:
    """What the verdict on the network that was left alone means, without more than it says."""
    witness = alone.certificate["witness"]
    if witness is not None:
        return (
            f"A certified witness refutes the network that was left alone: {witness['text']}. "
            f"So it is a contraction in no norm."
        )
    if alone.verdict == "certified":
        return "The network that was left alone happens to be certified, too."
    tried = ", ".join(
        f"{entry['norm']} {NOTHING if entry['lambda'] is None else up(entry['lambda'])}"
        for entry in alone.certificate["norms_tried"]
    )
    return (
        f"No norm that was tried certifies the network that was left alone ({tried}), and no "
        f"witness against it was found. It is undecided, which says nothing about it."
    )


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


def forecasts(run: Sunspots) -> Section:
    """The held-out forecasts, recurrent and truncated."""
    series = run.series
    years = series.years[series.split + 1 :]
    lines = [
        Line("observed", years, series.numbers[series.split + 1 :], "points"),
        Line("recurrent", years, run.stable.forecasts),
    ]
    caption = "Held-out years: observed, and forecast one year ahead by the projected network."
    blocks: list[Table] = []
    if run.truncations:
        widest = run.truncations[0]
        lines.append(Line(f"last {widest.k} years only", years, widest.forecasts, "dashed"))
        caption += (
            f" The dashed line sees the last {widest.k} years alone (ε = {widest.epsilon:g}). It "
            f"is certified to stay within {up(widest.forecast_bound)} sunspots of the solid one, "
            f"on any series; here it stays within {error(widest.forecast_gap)}."
        )
        blocks.append(gaps_table(run))
    figure = Plot(lines, "year", "sunspot number", caption)
    return Section("Truncated to a window", (figure, *blocks))


def gaps_table(run: Sunspots) -> Table:
    """Observed gaps beside the certified ones."""
    return Table(
        ("ε", "years k", "states", "forecasts", "certified forecasts", "held-out error"),
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
        "The projected network against its feed-forward form of k layers, over the held-out years: "
        "the largest difference of states, certified to be at most ε, and of forecasts in sunspot "
        "numbers, certified to be at most ε‖C‖₂ with C the readout. What is observed includes the "
        "rounding of both runs, so it bounds the gap in real arithmetic.",
    )


def memory(run: Sunspots) -> Section:
    """The gap against k, on a logarithmic axis, beside its bound."""
    seen, certificate = run.memory, run.stable.certificate
    lines = [
        Line("projected, observed", range(len(seen.stable)), logarithmic(seen.stable)),
        Line(
            "left alone, observed", range(len(seen.unconstrained)), logarithmic(seen.unconstrained)
        ),
    ]
    caption = (
        f"The largest ‖h − hᵏ‖₂ over the held-out years when only the last k years are read. With "
        f"{len(seen.unconstrained) - 1} years the network that was left alone is "
        f"{ratio(seen.unconstrained[-1])} away"
    )
    blocks: tuple[Paragraph, ...] = ()
    if seen.certified:
        free = run.unconstrained.verdict != "certified"
        caption += "; no bound is certified for it" if free else ""
        cuts = run.truncations
        lines = [
            Line("projected, certified", range(len(seen.certified)), seen.certified, "dashed"),
            *lines,
            Line("ε and its k", [cut.k for cut in cuts], [cut.epsilon for cut in cuts], "points"),
        ]
        constants = certificate["constants"]
        blocks = (
            Paragraph(
                f"In the {certificate['norm']} norm the projected network contracts by "
                f"λ ≤ {up(certificate['lambda'])} a year. One input moves the zero state by at "
                f"most S = {up(constants['drive'])}, and C = {up(constants['equivalence'])} leads "
                f"back to the Euclidean norm. So for every T and every series within the bound"
            ),
            Paragraph(BOUND),
        )
    figure = Plot(lines, "window k, years", "‖h − hᵏ‖₂", f"{caption}.", log_y=True)
    return Section("How it forgets", (*blocks, figure))


def yours(run: Sunspots) -> Section:
    """The commands that say the same of the files that were written."""
    cuts = ", the truncated ones with their certificates" if run.truncations else ""
    bound = f"--input-bound {run.input_bound!r} --eps 0.01"
    program = (
        f"rnnbounds certify {run.stable.file} {bound}\n"
        f"rnnbounds certify {run.unconstrained.file} {bound}\n"
        f"rnnbounds truncate {run.stable.file} {bound} --out small.safetensors"
    )
    return Section(
        "Check it yourself",
        (
            Paragraph(
                f"Beside this page lie the weights of both networks under torch’s names{cuts}, and "
                f"every number of this page in sunspots.json."
            ),
            Code(program),
        ),
    )
