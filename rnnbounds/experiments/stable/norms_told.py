"""Conclusion of ``rnnbounds experiment norms``: which norm, and which published condition,
certifies how many networks, and with how long a memory."""

from collections.abc import Callable, Sequence
from statistics import median

from rnnbounds.experiments.engine.record import Outcome, Record, Run
from rnnbounds.experiments.engine.scores import select_runs
from rnnbounds.experiments.stable.published import BOUNDED, CONDITIONS, DIAGONAL
from rnnbounds.reports.pages.experiment import Block, Paragraph, Plot, Section, Table
from rnnbounds.reports.pages.figures.plot import Series as Line
from rnnbounds.reports.pages.text import NOTHING, round_up

RNNS, LSTMS, GRUS = "random networks", "LSTM", "GRU"
AUTO, NORM, PLANTED = "auto", "‖W‖₂", "λ, planted"
PUBLISHED = (DIAGONAL, *(one.name for some in CONDITIONS.values() for one in some))
_MOST_LINES = 6


def lengths_by_norm(run: Run) -> dict[str, float]:
    """The k of the norms and conditions that certify, the choice left out."""
    lengths = {name.removeprefix("k, "): k for name, k in run.figures.items() if name[:3] == "k, "}
    return {name: k for name, k in lengths.items() if k is not None and name != AUTO}


def norm_names(runs: Sequence[Run]) -> list[str]:
    """The norms, in the order in which they are tried, and then the conditions."""
    figure_names = dict.fromkeys(name for run in runs for name in run.figures if name[:3] == "k, ")
    norm_names = [name[3:] for name in figure_names if name != f"k, {AUTO}"]
    return sorted(norm_names, key=lambda name: name in PUBLISHED)


def sorted_lengths(runs: Sequence[Run], name: str) -> list[float]:
    """The k of the systems that a norm certifies, in increasing order."""
    return sorted(k for run in runs if (k := run.figures.get(f"k, {name}")) is not None)


def count_wins(
    runs: Sequence[Run], name: str, compares: Callable[[float, list[float]], bool]
) -> int:
    """On how many systems the k of a norm stands so to those of the others."""
    count = 0
    for run in runs:
        lengths = lengths_by_norm(run)
        k = lengths.pop(name, None)
        count += k is not None and compares(k, list(lengths.values()))
    return count


def judge_runs(runs: Sequence[Run], norms: tuple[float, float]) -> Outcome:
    """Judge whether the spectral norm certifies no RNN and `auto` all of them, and count what
    published conditions certify. ‖W‖₂ of the RNNs is between `norms`."""
    random, failures, sentences = select_runs(runs, task=RNNS), find_problems(runs, norms), []
    counts = {name: len(sorted_lengths(random, name)) for name in norm_names(random)}
    chosen = len(sorted_lengths(random, AUTO))
    opening = f"Of {len(random)} networks with ‖W‖₂ ≥ {norms[0]:g} auto certifies {chosen}: "
    sentences.append(opening + ", ".join(f"the {name} norm {n}" for name, n in counts.items()
                                 if name != DIAGONAL) + ".")  # fmt: skip
    for task in (LSTMS, GRUS):
        if some := select_runs(runs, task=task):
            published = [name for name in norm_names(some) if name in PUBLISHED]
            opening = f"Of {len(some)} {task}s it certifies {len(sorted_lengths(some, AUTO))}: "
            sentences.append(
                opening + "; ".join(f"{one} {len(sorted_lengths(some, one))}" for one in published)
            )
            sentences[-1] += "."
    holds = counts.get("spectral") == 0 and chosen == len(random) and not failures
    return Outcome("holds" if holds else "does not hold", " ".join(sentences), failures)


def find_problems(runs: Sequence[Run], norms: tuple[float, float]) -> tuple[str, ...]:
    """A system that is not what it should be, a choice that is not the best."""
    lines = []
    low, high = norms
    for run in runs:
        label, lengths, k = (
            f"{run.task} {run.seed}",
            lengths_by_norm(run),
            run.figures[f"k, {AUTO}"],
        )
        if run.task == RNNS:
            size, planted = run.figures[NORM], run.figures[PLANTED]
            if size is None or not low <= size <= high * (1 + 1e-9):
                lines.append(f"{label}: ‖W‖₂ = {size} is not in [{low:g}, {high:g}]")
            if planted is None or not planted < 1:
                lines.append(f"{label}: its planted factor {planted} is not below 1")
        if lengths and (k is None or k > min(lengths.values())):
            best = min(lengths, key=lambda norm: lengths[norm])
            lines.append(f"{label}: k = {k}, but {lengths[best]:g} by {best}")
        for name in PUBLISHED if k is None and not lengths else ():
            if (lam := run.figures.get(f"λ, {name}")) is not None and lam < 1:
                lines.append(f"{label}: not certified, but λ = {round_up(lam)} by {name}")
    return tuple(lines)


def extra_sections(record: Record) -> Sequence[Section]:
    """Of each kind of networks: each norm and condition, and the choice among all norms."""
    words = {
        RNNS: "In the spectral, ∞- and 1-norms, in max |h_i|/v_i with Perron’s weights and in "
        "‖Dh‖₂ with diagonal weights one step contracts by λ, whatever slopes in [−1, 1] the "
        "activation has. Diagonal weights are sought by descent in floats and by semidefinite "
        "programming. The iterated norm bounds products of several steps, and uses that slopes of "
        f"tanh are in [0, 1]. Every factor is certified afterwards. {DIAGONAL}: with the diagonal "
        "that was planted, in floats.",
        LSTMS: "Conditions of the control literature, each re-derived and evaluated in floats, "
        "beside norms that are certified: for inputs in [−1, 1] a channel.",
        GRUS: "Of GRUs in torch’s convention and in Cho’s; the conditions as above.",
    }
    titles = {RNNS: "Which norm certifies", LSTMS: "LSTMs: what others certify",
              GRUS: "GRUs: what others certify"}  # fmt: skip
    found = []
    for task, title in titles.items():
        if runs := select_runs(record.runs, task=task):
            blocks: list[Block] = [lengths_plot(runs), Paragraph(words[task]), norms_table(runs)]
            if task == LSTMS:
                blocks.append(Paragraph(_bounded_text(runs)))
            found.append(Section(title, tuple(blocks)))
    return found


def norms_table(runs: Sequence[Run]) -> Table:
    """Certified, shortest, alone, median and greatest k; and the choice's on the same networks."""
    rows = []
    for name in (*norm_names(runs), AUTO):
        ks, cells = sorted_lengths(runs, name), [NOTHING] * 4
        if name != AUTO:
            pairs = [(k, run.figures[f"k, {AUTO}"]) for run in runs
                    if (k := run.figures.get(f"k, {name}")) is not None]  # fmt: skip
            chosen = [best for _, best in pairs if best is not None]
            cells = [
                str(count_wins(runs, name, lambda k, others: k <= min(others, default=k))),
                str(count_wins(runs, name, lambda k, others: not others)),
                f"{median(chosen):g}" if chosen else NOTHING,
                str(sum(best is not None and best < k for k, best in pairs)),
            ]
        sizes = (f"{median(ks):g}", f"{ks[-1]:g}") if ks else (NOTHING, NOTHING)
        rows.append((name, str(len(ks)), *cells[:2], *sizes, *cells[2:]))
    return Table(
        ("norm", "certifies", "shortest k", "it alone", "median k", "greatest k",
         "auto’s median there", "auto shorter"),
        tuple(rows),
        frozenset(range(1, 8)),
        f"Of {len(runs)} networks: how many a norm or a condition certifies (λ < 1), on how many "
        f"none has a shorter k (ties count for each), how many no other certifies, and k over "
        f"those that it certifies; auto’s k on these, and on how many it is shorter.",
    )  # fmt: skip


def lengths_plot(runs: Sequence[Run]) -> Plot | Paragraph:
    """The windows in increasing order, or that there are none."""
    by_norm = [(name, ks) for name in norm_names(runs) if (ks := sorted_lengths(runs, name))]
    lines = [Line(name, range(1, len(ks) + 1), ks) for name, ks in by_norm[1 - _MOST_LINES :]]
    chosen = sorted_lengths(runs, AUTO)
    if not (by_norm or chosen):
        return Paragraph("No network is certified in any norm, so that there is no k to draw.")
    lines.append(Line(AUTO, range(1, len(chosen) + 1), chosen, "dashed"))
    return Plot(
        lines,
        "networks",
        "window k",
        "The windows in increasing order: so many networks are certified to remember at most k "
        "inputs. A curve ends where its norm certifies no further one.",
        log_y=True,
    )


def _bounded_text(runs: Sequence[Run]) -> str:
    """Count the verdicts of the networks whose states a published condition bounds, in words."""
    bounded_runs = [
        run for run in runs if (size := run.figures.get(BOUNDED)) is not None and size < 1
    ]
    verdicts = [run.certificate.verdict for run in bounded_runs if run.certificate is not None]
    counts = ", ".join(f"{verdicts.count(verdict)} {verdict}"
                       for verdict in ("certified", "undecided", "refuted"))  # fmt: skip
    return (
        f"{BOUNDED} bounds the states of {len(bounded_runs)} of them, which is no statement about "
        f"memory: of these {counts}. An LSTM with two stable states may satisfy it."
    )
