"""The page of the experiment on norms, made from its record alone."""

from reports.pages.experiment import Block, Page, Paragraph, Plot, Section, Table
from reports.pages.figures.figure import Series as Line
from reports.pages.summary import environment_items
from reports.pages.text import NOTHING, plural
from rnnbounds.experiments.engine.common import again, up
from rnnbounds.experiments.norms.record import Norms, middle

_LINES = 6  # that a figure holds


def page(run: Norms) -> Page:
    """What is told of a run; it fails unmistakably if the run has problems."""
    return Page(
        "Beyond the spectral norm",
        (methods(run), memory(run), how(run), yours(run)),
        lead=outcome(run),
        kicker=f"experiment norms · seed {run.seed} · {plural(len(run.systems), 'system')}",
        problems=run.problems,
        environment=environment_items(run.environment),
    )


def outcome(run: Norms) -> str:
    """How many are certified, and by what."""
    counts = {name: len(run.certified(name)) for name in run.names}
    best = {name: run.best(name) for name in run.names}
    first = max(best, key=lambda name: best[name])
    return (
        f"Of {plural(len(run.systems), 'RNN')} that contract in some diagonal norm, though "
        f"‖W‖₂ ≥ {run.setting.norms[0]:g}, auto certifies {len(run.chosen)}: "
        + ", ".join(f"the {name} norm {count}" for name, count in counts.items())
        + f". The shortest memory is certified by the {first} norm most often, {best[first]} times."
    )


def rows(run: Norms) -> tuple[tuple[str, ...], ...]:
    """Each method, and the choice among all: certified, shortest, alone, median and greatest k."""
    found = []
    for name in run.names:
        ks = run.certified(name)
        found.append((name, str(len(ks)), str(run.best(name)), str(run.alone(name)), *sizes(ks)))
    chosen = run.chosen
    return (*found, ("auto", str(len(chosen)), str(len(chosen)), NOTHING, *sizes(chosen)))


def sizes(ks: list[int]) -> tuple[str, str]:
    """The median and the greatest of windows."""
    half = middle(ks)
    return (NOTHING, NOTHING) if half is None else (f"{half:g}", str(ks[-1]))


def methods(run: Norms) -> Section:
    """The table, and what was not tried."""
    setting = run.setting
    remarks = [Paragraph(f"{name} was not tried: {why}.") for name, why in run.skipped.items()]
    table = Table(
        ("norm", "certifies", "shortest k", "it alone", "median k", "greatest k"),
        rows(run),
        frozenset(range(1, 6)),
        f"Of {plural(len(run.systems), 'system')}: how many a norm certifies (λ < 1), on how many "
        f"no norm has a shorter window k for ε = {setting.epsilon:g} (ties count for each), how "
        f"many no other norm certifies, and k over those that it certifies.",
    )
    return Section(
        "Which norm certifies",
        (
            Paragraph(
                "In the spectral, ∞- and 1-norms, in max |h_i|/v_i with Perron’s weights and in "
                "‖Dh‖₂ with diagonal weights one step contracts by λ, whatever slopes in [−1, 1] "
                "the activation has. The diagonal weights are sought by descent in floats, and by "
                "semidefinite programming (diagonal-sdp). The iterated norm bounds products of "
                "several steps, and makes use of the slopes of tanh being in [0, 1]. Every factor "
                "is certified afterwards, so nothing rests on how weights were found."
            ),
            table,
            *remarks,
        ),
    )


def memory(run: Norms) -> Section:
    """The certified windows of each method, sorted."""
    curves = {name: run.certified(name) for name in run.names}
    told = [(name, ks) for name, ks in curves.items() if ks]
    lines = [Line(name, range(1, len(ks) + 1), ks) for name, ks in told[-(_LINES - 1) :]]
    lines.append(Line("auto", range(1, len(run.chosen) + 1), run.chosen, "dashed"))
    blocks: list[Block] = [
        Plot(
            lines,
            "systems",
            "window k",
            f"The certified windows for ε = {run.setting.epsilon:g}, in increasing order: so many "
            f"systems are certified to remember at most k inputs. A curve ends where its norm "
            f"certifies no further system; norms that certify none have no curve.",
            log_y=True,
        )
    ]
    if len(told) >= _LINES:
        left = ", ".join(name for name, _ in told[: 1 - _LINES])
        blocks.append(Paragraph(f"Not drawn, for want of colours: {left}."))
    return Section("How much of the past matters", tuple(blocks))


def how(run: Norms) -> Section:
    """What was drawn."""
    s = run.setting
    planted = [system.planted for system in run.systems]
    return Section(
        "The systems",
        (
            Paragraph(
                f"Each is a tanh RNN without biases, {s.least} to {s.most} states, {s.inputs} "
                f"inputs, U Gaussian, ‖x_t‖₂ ≤ {s.input_bound:g}. W = D⁻¹(μM)D: M has random "
                f"singular vectors, the largest singular value 1 and the others uniform in [q, 1], "
                f"q uniform in [0, 1]; μ is uniform in [{s.rates[0]:g}, {s.rates[1]:g}]; D is "
                f"diagonal, its logarithms Gaussian with the spread for which ‖W‖₂ is what was "
                f"drawn, uniform in [{s.norms[0]:g}, {s.norms[1]:g}]. So ‖W‖₂ certifies none, and "
                f"‖D·‖₂ with the D that was planted certifies all: λ is between "
                f"{min(planted):.4f} and {up(max(planted))} there. Other systems of that norm may "
                f"be harder; how often a method succeeds on these says nothing about those."
            ),
        ),
    )


def yours(run: Norms) -> Section:
    """The command that makes this page again."""
    return again("norms", f"--seed {run.seed} --instances {len(run.systems)}")
