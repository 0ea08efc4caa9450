"""The page of the URNN experiment, made from its record alone."""

from reports.pages.experiment import Block, Page, Paragraph, Plot, Section, Table
from reports.pages.figures.figure import Series as Line
from reports.pages.summary import environment_items
from reports.pages.text import error, plural, ratio
from rnnbounds.experiments.engine.common import again, up
from rnnbounds.experiments.students import KINDS
from rnnbounds.experiments.urnn.record import Comparison, Unitary
from rnnbounds.experiments.urnn.teacher import FULL, SMALL


def page(run: Unitary) -> Page:
    """What is told of a run; it fails unmistakably if the run has problems."""
    setting = run.setting
    return Page(
        "Learning contractive networks with unitary ones",
        (*(fitted(run, snr) for snr in setting.snr), twice(run), exact(run), how(run), yours(run)),
        lead=lead(run),
        kicker=f"experiment urnn · seed {run.seed} · "
        f"{plural(setting.realisations, 'realisation')} · {plural(setting.epochs, 'epoch')} each",
        problems=run.problems,
        environment=environment_items(run.environment),
    )


def lead(run: Unitary) -> str:
    """The outcome in words."""
    n = run.setting.states
    return (
        f"A contractive ReLU network with {n} states has a unitary equivalent with {2 * n}; can "
        f"one be learned from data? {outcome(run.comparisons)}"
    )


def outcome(comparisons: tuple[Comparison, ...]) -> str:
    """Whether URNNs reached the RNNs' R² with at most twice the states, or where not."""
    missed = [told for told in comparisons if told.reached == "not reached"]
    within = [told for told in comparisons if told.reached == "within the spread"]
    if missed:
        found = f"The URNN did not reach the RNN’s R² with at most twice the states {where(missed)}"
        rest = len(comparisons) - len(missed)
        if rest:
            found += f"; in the other {rest if rest > 1 else 'case'} it did"
    else:
        found = (
            f"In all {len(comparisons)} cases the URNN reached the RNN’s R² with at most twice the "
            f"states"
        )
    if within:
        found += f", but only within the RNN’s spread {where(within)}"
    return f"{found}."


def where(told: list[Comparison]) -> str:
    """The cases by name."""
    snrs = sorted({case.snr for case in told})
    each = [
        "at {:g} dB for n = {}".format(snr, ", ".join(str(c.n) for c in told if c.snr == snr))
        for snr in snrs
    ]
    return " and ".join(each)


def fitted(run: Unitary, snr: float) -> Section:
    """R² against hidden units at one SNR."""
    hidden, top = run.setting.hidden, run.ceilings[run.setting.snr.index(snr)]
    curves = [run.curve(kind, snr) for kind in KINDS]
    lines = [Line(curve.kind, hidden, curve.mean, spread=curve.spread) for curve in curves]
    lines.append(Line("noise ceiling", (hidden[0], hidden[-1]), (top, top), "dashed"))
    rows = tuple(
        (str(n), *(f"{curve.mean[i]:.4f} ± {curve.spread[i]:.4f}" for curve in curves))
        for i, n in enumerate(hidden)
    )
    return Section(
        f"Noise at {snr:g} dB",
        (
            Plot(
                lines,
                "hidden units",
                "test R²",
                f"R² on the test sequences against hidden units: the mean over "
                f"{plural(run.setting.realisations, 'realisation')}, shaded by the standard "
                f"deviation. Dashed: what the noise allows, {top:.4f}.",
            ),
            Table(
                (f"units, {snr:g} dB (≤ {top:.4f})", *KINDS),
                rows,
                frozenset(range(1 + len(KINDS))),
                "Mean ± standard deviation; each realisation’s R² is in urnn.json.",
            ),
        ),
    )


def twice(run: Unitary) -> Section:
    """Each RNN beside the URNN with at most twice its states."""
    rows = tuple(
        (
            f"{told.snr:g} dB",
            str(told.n),
            f"{told.rnn:.4f} ± {told.spread:.4f}",
            str(told.units),
            f"{told.urnn:.4f}",
            f"{told.urnn - told.rnn:+.4f}".replace("-", "−"),
            told.reached,
        )
        for told in run.comparisons
    )
    return Section(
        "With at most twice the states",
        (
            Paragraph(outcome(run.comparisons)),
            Paragraph(
                f"The criterion: for an RNN with n hidden units take, among the URNNs of the "
                f"figure with at most 2n (the largest has {max(run.setting.hidden)}), the one with "
                f"the best mean R² on the validation sequences. It has reached the RNN if its "
                f"mean test R² is at least the RNN’s; within the spread, if it is at least the "
                f"RNN’s less the standard deviation over the realisations. It is what training "
                f"found, no theorem: that 2n states suffice is about all networks, not about those "
                f"that gradient descent finds."
            ),
            Table(
                ("noise", "RNN units n", "RNN", "URNN units", "URNN", "difference", "URNN ≤ 2n"),
                rows,
                frozenset({1, 2, 3, 4, 5}),
            ),
        ),
    )


def exact(run: Unitary) -> Section:
    """The teachers' own equivalents."""
    n, snrs = run.setting.states, run.setting.snr
    states = sorted({told.states for told in run.equivalents})
    bounds = [told.bound for told in run.equivalents]
    limit = (
        "" if None in bounds else f", certified to be at most {error(max(b or 0 for b in bounds))}"
    )
    off = all(told.off for told in run.equivalents)
    rows = tuple(
        (
            str(r),
            ratio(told.norm),
            up(told.input_bound),
            str(told.states),
            error(told.gap),
            *(f"{a:.4f}, {b:.4f}" for a, b in zip(told.teacher, told.urnn, strict=True)),
        )
        for r, told in enumerate(run.equivalents)
    )
    blocks: tuple[Block, ...] = (
        Paragraph(
            f"Each teacher of {n} states was converted to a URNN for all inputs as large as those "
            f"drawn, without training: {' or '.join(map(str, states))} states. On the test "
            f"sequences its states differ from the teacher’s by at most "
            f"{error(max(told.gap for told in run.equivalents))} in float64{limit}; the further "
            f"units were {'exactly 0 at all times' if off else 'not always 0'}. So its R² is the "
            f"teacher’s own, which is the noise ceiling up to chance."
        ),
        Table(
            (
                "realisation", "‖W‖₂", "input bound", "states", "largest ‖h − h_u‖",
                *(f"R², {snr:g} dB: teacher, URNN" for snr in snrs),
            ),
            rows,
            frozenset(range(5 + len(snrs))),
        ),
    )  # fmt: skip
    return Section("The exact URNN of each teacher", blocks)


def how(run: Unitary) -> Section:
    """What was drawn and how it was trained."""
    s = run.setting
    shares = [share for told in run.equivalents for share in told.on]
    return Section(
        "Teachers and students",
        (
            Paragraph(
                f"Teachers: h_t = ReLU(W h + F x_t + b), y = C h, {s.states} states, {s.inputs} "
                f"inputs, {s.outputs} outputs; F, C and A Gaussian, "
                f"W = I − {s.epsilon:g} AᵀA/‖A‖², inputs N(0, I), and b set so that units are on "
                f"{s.on:.0%} of the time ({min(shares):.1%} to {max(shares):.1%}). "
                f"{s.sequences} sequences of {s.length}: the last {s.test:.0%} for the test, "
                f"{s.validation:.0%} before them for validation. White noise of one variance is "
                f"added to all outputs, in training and in the test."
            ),
            Paragraph(
                f"Students: RNN and URNN with ReLU, LSTM, each with a linear readout, in float32. "
                f"RNN and URNN start as twins, from the identity, which is orthogonal; the URNN is "
                f"returned to the nearest orthogonal matrix (by its SVD) after every step. Mean "
                f"squared error, Adam from a learning rate of {s.rate:g} along a cosine to 0, "
                f"batches of {s.batch}, gradients clipped to norm 1, {plural(s.epochs, 'epoch')}; "
                f"the weights with the best R² on the validation sequences are kept. The poster "
                f"gives the teachers, the sizes of the students, loss, batch, learning rate and "
                f"projection; dimensions, optimiser, start, schedule and the number of sequences "
                f"are chosen here."
            ),
        ),
    )


def yours(run: Unitary) -> Section:
    """The command that makes this page again."""
    return again("urnn", f"--seed {run.seed}{options(run)}")


def options(run: Unitary) -> str:
    """The options that a run like this one needs."""
    s = run.setting
    full = (s.sequences, s.length) == (FULL.sequences, FULL.length)
    base, told = (FULL, " --full") if full else (SMALL, "")
    for name in ("epochs", "realisations"):
        if getattr(s, name) != getattr(base, name):
            told += f" --{name} {getattr(s, name)}"
    return told
