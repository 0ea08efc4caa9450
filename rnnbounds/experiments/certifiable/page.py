"""The page of the experiment, made from its record alone."""

from reports.pages.experiment import Code, Page, Paragraph, Section, Table
from reports.pages.summary import environment_items
from reports.pages.text import NOTHING, plural
from rnnbounds.experiments.certifiable.record import Certifiable
from rnnbounds.experiments.common import again

SNIPPET = """\
penalty = torch.relu(rnnbounds.contraction(rnn, input_bound) - 0.92)
(loss + 0.2 * penalty).backward()
optimiser.step()
rnnbounds.stable_(rnn, 0.92, input_bound)  # or this, in place of the penalty
rnnbounds.certify(rnn, input_bound)"""


def page(run: Certifiable) -> Page:
    """What is told of a run; it fails unmistakably if the run has problems."""
    return Page(
        "What a certified memory costs",
        (
            *(section(run, task) for task in run.units),
            Section("How", (Paragraph(how(run)), Code(SNIPPET))),
            again(
                "certifiable",
                f"--seed {run.seed} --epochs {run.setting.steps} --instances {run.setting.starts}",
            ),
        ),
        lead=lead(run),
        kicker=f"experiment certifiable · seed {run.seed} · {plural(run.setting.starts, 'start')}",
        problems=run.problems,
        environment=environment_items(run.environment),
    )


def lead(run: Certifiable) -> str:
    """What was reached, task by task."""
    told = []
    for task in run.units:
        for cell in dict.fromkeys(one.cell for one in run.networks if one.cell != "RNN"):
            known = [
                (run.dearer(task, cell, training), training)
                for training in ("penalised", "projected")
                if run.longest(task, cell, training) is not None
            ]
            if known:
                cost, training = min(known)
                k = run.longest(task, cell, training)
                told.append(
                    f"the {training} {cell} loses {100 * cost:+.1f} % against the free one on "
                    f"{task}, with k = {k} certified at most"
                )
            else:
                told.append(f"no {cell} is certified from every start on {task}")
    return f"Of {run.setting.states} units: {'; '.join(told)}."


def section(run: Certifiable, task: str) -> Section:
    """One task: a row for each cell and way of training."""
    rows = []
    for cell, training in dict.fromkeys((one.cell, one.training) for one in run.networks):
        found = run.of(task, cell, training)
        losses = sorted(one.loss for one in found)
        certified = [one for one in found if one.verdict == "certified"]
        lams = [one.lam for one in certified if one.lam is not None]
        k = run.longest(task, cell, training)
        rows.append(
            (
                cell,
                training,
                f"{run.loss(task, cell, training):.4g} ({losses[0]:.4g} to {losses[-1]:.4g})",
                f"{100 * run.dearer(task, cell, training):+.1f} %",
                f"{len(certified)} of {len(found)}",
                f"{max(lams):.4f}" if lams else NOTHING,
                NOTHING if k is None else str(k),
            )
        )
    caption = (
        f"Held-out loss in {run.units[task]}: the mean over the starts, the least and the "
        f"greatest. λ and k at ε = {run.setting.epsilon:g} are the largest that are certified, for "
        f"every sequence with ‖x_t‖₂ ≤ {run.bounds[task]:.6g}."
    )
    columns = ("cell", "training", "held-out loss", "against free", "certified", "λ", "k")
    return Section(task.capitalize(), (Table(columns, tuple(rows), frozenset({3, 5, 6}), caption),))


def how(run: Certifiable) -> str:
    """What was done."""
    s = run.setting
    return (
        f"Each network has {s.states} units and a linear readout and takes {s.steps} steps of "
        f"Adam; the weights that did best on validation data are kept. Penalised: {s.weight:g} "
        f"times the excess of the estimated factor over {s.lam:g} is added to the loss. Projected: "
        f"after each step the weights go to the nearest ones with λ ≤ {s.lam:g}. Both begin with "
        f"recurrent weights a quarter of torch’s. Which loses less is an observation of these "
        f"runs, not a claim."
    )
