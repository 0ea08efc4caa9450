"""The page of a model that was measured as it is run: the answer, its curve, what was run."""

from collections.abc import Sequence
from pathlib import Path

from rnnbounds.reports.files import write_all
from rnnbounds.reports.pages.experiment import (
    Page,
    Paragraph,
    Plot,
    Section,
    Table,
    render_page,
)
from rnnbounds.reports.pages.figures import Series
from rnnbounds.reports.pages.model.measured import (
    measurement_verdict,
    statement_sentence,
)
from rnnbounds.reports.pages.model.measurement import encode_document
from rnnbounds.reports.pages.model.memory import Document, length_text, share_text
from rnnbounds.reports.pages.model.observed import statement_blocks
from rnnbounds.reports.pages.text import NOTHING, plain_number, plural

FILES = ("measurement.json", "index.html")
SCOPE = "in the run as it was computed; nothing is said of real arithmetic"
GAPS = {
    "norm": "the Euclidean norm of the difference of outputs",
    "tv": "the total variation of the softmax of outputs",
    "argmax": "1 where the largest entry of the output is another, else 0",
}


def causal_page(record: Document, title: str, problems: Sequence[str] = ()) -> Page:
    """The answer, the curve of gaps, then what is stated, and what was run on which data.

    `problems` are the reasons why it is not what was asked for.
    """
    data = record["data"]
    return Page(
        title,
        (
            _answers_section(record),
            Section("Windows drawn like these", tuple(statement_blocks(record, SCOPE))),
            _model_section(record),
        ),
        lead=_sentence(record),
        verdict=measurement_verdict(record, tuple(problems)),
        kicker=f"measure, as it is · {plural(data['windows'], 'window')} of "
        f"{plural(data['length'], 'input')} from {data['source']}",
        problems=tuple(problems),
    )


def write_causal(record: Document, folder: Path, page: Page) -> None:
    """Write the record and its page into the folder, all or none; raises WriteError."""
    write_all(folder, {FILES[0]: encode_document(record), FILES[1]: render_page(page)})


def _sentence(record: Document) -> str:
    """The k of each ε on these windows, then what is stated of others."""
    same = {"norm": "the output to within {}", "tv": "the softmax to within {}",
            "argmax": "the same argmax"}[record["gap"]["name"]]  # fmt: skip
    windows = plural(record["forgetting"]["windows"], "window")
    found = [
        (
            "the last input alone gives "
            if row["k"] == 1
            else f"the last {row['k']} inputs alone give "
        )
        + same.format(plain_number(row["eps"]))
        for row in record["memory"]
        if row["k"]
    ]
    none = "no k below the whole window is enough"
    return f"On {windows}, {'; '.join(found) or none}. {statement_sentence(record)}"


def _answers_section(record: Document) -> Section:
    """The curve of gaps, then k and the share at each ε."""
    points, gap = record["forgetting"]["curve"], record["gap"]["name"]
    ks = [row["k"] for row in points]
    names = (("worst", "worst of your windows"), ("mean", "mean"), ("q50", "median"))
    lines = [
        Series(label, ks, [row[name] for row in points])
        for name, label in names
        if (gap, name) != ("argmax", "q50")
    ]
    caption = f"Gap between the output after a window and after its last k inputs: {GAPS[gap]}."
    plot = Plot(lines, "k, number of last inputs", "gap", caption, log_y=gap != "argmax")
    stated = {row["eps"]: row for row in (record["statement"] or {"lines": ()})["lines"]}
    rows = tuple(
        (
            plain_number(row["eps"]),
            length_text(row["k"]),
            length_text(stated[row["eps"]]["k"]) if stated else NOTHING,
            share_text(stated[row["eps"]]["share"]) if stated else NOTHING,
        )
        for row in record["memory"]
    )
    columns = ("ε", "your windows", "windows like these", "share")
    table = Table(columns, rows, frozenset((1, 2, 3)), "Each k with its ε.", "cards")
    meaning = Paragraph(
        "A truncated run is the model on the last k inputs as a window of their own, with nothing "
        "before them: a model with absolute positions sees other positions, too."
    )
    return Section("How long it remembers", (plot, table, meaning))


def _model_section(record: Document) -> Section:
    """Which model was run on which data, and how."""
    run, data = record["run"], record["data"]
    causal = (
        "no output changed when later inputs did"
        if run["causality"] == "tried"
        else "not tried: one output a window"
    )
    rows = (
        ("model", str(record["model"])),
        ("run", f"{run['inputs']} inputs on {run['device']}, "
                f"at most {plural(run['batch'], 'window')} at once"),
        ("outputs", f"{plural(run['outputs'], 'number')}, causality: {causal}"),
        ("data", str(data["source"])),
    )  # fmt: skip
    return Section("The model and the data", (Table(("what", "is"), rows),))
