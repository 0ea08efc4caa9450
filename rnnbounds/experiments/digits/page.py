"""The page of the permuted-digits experiment, made from its record alone."""

from reports.pages.experiment import Page, Paragraph, Plot, Section, Table
from reports.pages.figures.figure import Series as Line
from reports.pages.summary import environment_items
from reports.pages.text import count, plural, ratio
from rnnbounds.experiments.digits.record import Digits, Learned
from rnnbounds.experiments.digits.setting import FULL, setting_of
from rnnbounds.experiments.engine.common import again


def page(run: Digits) -> Page:
    """What is told of a run; it fails unmistakably if the run has problems."""
    setting = run.setting
    return Page(
        "Digits, pixel by pixel in a random order",
        (accuracy(run), loss(run), how(run), yours(run)),
        lead=lead(run),
        kicker=f"experiment permuted-digits · seed {run.seed} · "
        f"{plural(setting.networks, 'network')} of each kind · {plural(setting.epochs, 'epoch')}",
        problems=run.problems,
        environment=(("data", run.source), *environment_items(run.environment)),
    )


def lead(run: Digits) -> str:
    """The outcome in words."""
    told = ", ".join(f"{kind.kind} {kind.mean[-1]:.1%}" for kind in best_first(run))
    return (
        f"Networks with {plural(run.setting.hidden, 'hidden unit')} that read {run.pixels} pixels "
        f"one by one, in an order that is random and always the same, name this share of "
        f"{count(run.testing)} test images: {told}. Always the same answer: {run.chance:.1%}."
    )


def best_first(run: Digits) -> list[Learned]:
    """The kinds by their last mean accuracy."""
    return sorted(run.learned, key=lambda told: -told.mean[-1])


def accuracy(run: Digits) -> Section:
    """Test accuracy against epochs."""
    epochs = range(1, run.setting.epochs + 1)
    lines = [Line(told.kind, epochs, told.mean, spread=told.spread) for told in run.learned]
    rows = tuple(
        (
            told.kind,
            f"{told.mean[-1]:.1%} ± {told.spread[-1]:.1%}",
            f"{min(told.accuracy[-1]):.1%}",
            f"{max(told.accuracy[-1]):.1%}",
            f"{max(told.mean):.1%}",
        )
        for told in run.learned
    )
    return Section(
        "Accuracy",
        (
            Plot(
                lines,
                "epoch",
                "test accuracy",
                f"Share of the test images that are named rightly after each epoch: the mean over "
                f"{plural(run.setting.networks, 'network')} that differ in their start, shaded by "
                f"the standard deviation.",
            ),
            Table(
                ("kind", "after the last epoch", "least", "greatest", "best mean on the way"),
                rows,
                frozenset({1, 2, 3, 4}),
                "The last column is chosen on the test images themselves, so it is optimistic.",
            ),
            Paragraph(verdict(run)),
        ),
    )


def verdict(run: Digits) -> str:
    """The URNN beside the RNN of the same size, as an observation."""
    known = {told.kind: told for told in run.learned}
    rnn, urnn = known["RNN"], known["URNN"]
    apart = urnn.mean[-1] - rnn.mean[-1]
    side = "above" if apart >= 0 else "below"
    idle = [told.kind for told in run.learned if told.mean[-1] <= run.chance]
    learned = f" No better than always the same answer: {', '.join(idle)}." if idle else ""
    return (
        f"After the last epoch the URNN is {100 * abs(apart):.1f} points {side} the RNN with as "
        f"many hidden units, and the best kind is {best_first(run)[0].kind}. This is what training "
        f"found on one set of images in one order; no theorem says which must win.{learned}"
    )


def loss(run: Digits) -> Section:
    """Training loss against epochs."""
    epochs = range(1, run.setting.epochs + 1)
    lines = [
        Line(told.kind, epochs, [sum(row) / len(row) for row in told.loss]) for told in run.learned
    ]
    ends = ", ".join(
        f"{told.kind} {ratio(sum(told.loss[-1]) / len(told.loss[-1]))}" for told in run.learned
    )
    caption = f"Mean cross-entropy during each epoch, over the networks; last: {ends}."
    return Section("Training loss", (Plot(lines, "epoch", "training loss", caption, log_y=True),))


def how(run: Digits) -> Section:
    """The data and the training."""
    s = run.setting
    return Section(
        "Data and training",
        (
            Paragraph(
                f"{run.source}: {count(run.training)} images to train, {count(run.testing)} for "
                f"the test, each {run.pixels} pixels, scaled to mean 0 and variance 1. SHA-256 "
                f"of the data as they were used: {run.digest}."
            ),
            Paragraph(
                f"RNN and URNN with ReLU start as twins, from a random orthogonal matrix; the URNN "
                f"is returned to the nearest orthogonal matrix (by its SVD) after every step. The "
                f"digit is read linearly from the last state. Cross-entropy, Adam from a learning "
                f"rate of {s.rate:g} along a cosine to 0, batches of {s.batch}, gradients clipped "
                f"to norm 1, in float32. Hidden units, optimiser and schedule are chosen here."
            ),
        ),
    )


def yours(run: Digits) -> Section:
    """The command that makes this page again."""
    s = run.setting
    data = {"digits": "", "folder": " --data FOLDER"}.get(s.data, f" --data {s.data}")
    full = (s.images, s.hidden) == (FULL.images, FULL.hidden)
    plain = setting_of(s.data, full)
    told = f"{data}{' --full' if full else ''}"
    told += "" if s.epochs == plain.epochs else f" --epochs {s.epochs}"
    return again("permuted-digits", f"--seed {run.seed}{told}")
