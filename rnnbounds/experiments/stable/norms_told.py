"""Conclusion of ``rnnbounds experiment norms``: which norm, and which published condition,
certifies how many networks, and with how long a memory."""

from collections.abc import Callable, Sequence
from statistics import median

from rnnbounds.experiments.engine.record import Outcome, Record, Run
from rnnbounds.experiments.engine.scores import picked
from rnnbounds.experiments.stable.published import BOUNDED, CONDITIONS, DIAGONAL
from rnnbounds.reports.pages.experiment import Block, Paragraph, Plot, Section, Table
from rnnbounds.reports.pages.figures.plot import Series as Line
from rnnbounds.reports.pages.text import NOTHING, round_up

RNNS, LSTMS, GRUS = "random networks", "LSTM", "GRU"
AUTO, NORM, PLANTED = "auto", "‖W‖₂", "λ, planted"
PUBLISHED = (DIAGONAL, *(one.name for some in CONDITIONS.values() for one in some))
_LINES = 6


def windows(run: Run) -> dict[str, float]:
    """The k of the norms and conditions that certify, the choice left out."""
    told = {name.removeprefix("k, "): k for name, k in run.figures.items() if name[:3] == "k, "}
    return {name: k for name, k in told.items() if k is not None and name != AUTO}


def names(runs: Sequence[Run]) -> list[str]:
    """The norms, in the order in which they are tried, and then the conditions."""
    told = dict.fromkeys(name for run in runs for name in run.figures if name[:3] == "k, ")
    known = [name[3:] for name in told if name != f"k, {AUTO}"]
    return sorted(known, key=lambda name: name in PUBLISHED)


def of_norm(runs: Sequence[Run], name: str) -> list[float]:
    """The k of the systems that a norm certifies, in increasing order."""
    return sorted(k for run in runs if (k := run.figures.get(f"k, {name}")) is not None)


def wins(runs: Sequence[Run], name: str, how: Callable[[float, list[float]], bool]) -> int:
    """On how many systems the k of a norm stands so to those of the others."""
    count = 0
    for run in runs:
        known = windows(run)
        k = known.pop(name, None)
        count += k is not None and how(k, list(known.values()))
    return count


def judge(runs: Sequence[Run], norms: tuple[float, float]) -> Outcome:
    """Judge whether the spectral norm certifies no RNN and `auto` all of them, and count what
    published conditions certify. ‖W‖₂ of the RNNs is between `norms`."""
    random, found, told = picked(runs, task=RNNS), problems(runs, norms), []
    counts = {name: len(of_norm(random, name)) for name in names(random)}
    chosen = len(of_norm(random, AUTO))
    said = f"Of {len(random)} networks with ‖W‖₂ ≥ {norms[0]:g} auto certifies {chosen}: "
    told.append(said + ", ".join(f"the {name} norm {n}" for name, n in counts.items()
                                 if name != DIAGONAL) + ".")  # fmt: skip
    for task in (LSTMS, GRUS):
        if some := picked(runs, task=task):
            published = [name for name in names(some) if name in PUBLISHED]
            said = f"Of {len(some)} {task}s it certifies {len(of_norm(some, AUTO))}: "
            told.append(said + "; ".join(f"{one} {len(of_norm(some, one))}" for one in published))
            told[-1] += "."
    holds = counts.get("spectral") == 0 and chosen == len(random) and not found
    return Outcome("holds" if holds else "does not hold", " ".join(told), found)


def problems(runs: Sequence[Run], norms: tuple[float, float]) -> tuple[str, ...]:
    """A system that is not what it should be, a choice that is not the best."""
    found = []
    low, high = norms
    for run in runs:
        who, known, k = f"{run.task} {run.seed}", windows(run), run.figures[f"k, {AUTO}"]
        if run.task == RNNS:
            size, planted = run.figures[NORM], run.figures[PLANTED]
            if size is None or not low <= size <= high * (1 + 1e-9):
                found.append(f"{who}: ‖W‖₂ = {size} is not in [{low:g}, {high:g}]")
            if planted is None or not planted < 1:
                found.append(f"{who}: its planted factor {planted} is not below 1")
        if known and (k is None or k > min(known.values())):
            best = min(known, key=lambda norm: known[norm])
            found.append(f"{who}: k = {k}, but {known[best]:g} by {best}")
        for name in PUBLISHED if k is None and not known else ():
            if (lam := run.figures.get(f"λ, {name}")) is not None and lam < 1:
                found.append(f"{who}: not certified, but λ = {round_up(lam)} by {name}")
    return tuple(found)


def sections(record: Record) -> Sequence[Section]:
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
        if runs := picked(record.runs, task=task):
            blocks: list[Block] = [plot(runs), Paragraph(words[task]), table(runs)]
            if task == LSTMS:
                blocks.append(Paragraph(_bounded(runs)))
            found.append(Section(title, tuple(blocks)))
    return found


def table(runs: Sequence[Run]) -> Table:
    """Certified, shortest, alone, median and greatest k; and the choice's on the same networks."""
    rows = []
    for name in (*names(runs), AUTO):
        ks, told = of_norm(runs, name), [NOTHING] * 4
        if name != AUTO:
            both = [(k, run.figures[f"k, {AUTO}"]) for run in runs
                    if (k := run.figures.get(f"k, {name}")) is not None]  # fmt: skip
            chosen = [best for _, best in both if best is not None]
            told = [
                str(wins(runs, name, lambda k, others: k <= min(others, default=k))),
                str(wins(runs, name, lambda k, others: not others)),
                f"{median(chosen):g}" if chosen else NOTHING,
                str(sum(best is not None and best < k for k, best in both)),
            ]
        sizes = (f"{median(ks):g}", f"{ks[-1]:g}") if ks else (NOTHING, NOTHING)
        rows.append((name, str(len(ks)), *told[:2], *sizes, *told[2:]))
    return Table(
        ("norm", "certifies", "shortest k", "it alone", "median k", "greatest k",
         "auto’s median there", "auto shorter"),
        tuple(rows),
        frozenset(range(1, 8)),
        f"Of {len(runs)} networks: how many a norm or a condition certifies (λ < 1), on how many "
        f"none has a shorter k (ties count for each), how many no other certifies, and k over "
        f"those that it certifies; auto’s k on these, and on how many it is shorter.",
    )  # fmt: skip


def plot(runs: Sequence[Run]) -> Plot | Paragraph:
    """The windows in increasing order, or that there are none."""
    known = [(name, ks) for name in names(runs) if (ks := of_norm(runs, name))]
    lines = [Line(name, range(1, len(ks) + 1), ks) for name, ks in known[1 - _LINES :]]
    chosen = of_norm(runs, AUTO)
    if not (known or chosen):
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


def _bounded(runs: Sequence[Run]) -> str:
    """Count the verdicts of the networks whose states a published condition bounds, in words."""
    held = [run for run in runs if (size := run.figures.get(BOUNDED)) is not None and size < 1]
    verdicts = [run.certificate.verdict for run in held if run.certificate is not None]
    counts = ", ".join(f"{verdicts.count(one)} {one}"
                       for one in ("certified", "undecided", "refuted"))  # fmt: skip
    return (
        f"{BOUNDED} bounds the states of {len(held)} of them, which is no statement about memory: "
        f"of these {counts}. An LSTM with two stable states may satisfy it."
    )
