"""The answer of a measurement: a verdict, a sentence or two, and the numbers of each kind by ε."""

from fractions import Fraction
from math import floor
from typing import Literal

from rnnbounds.reports.pages.experiment import Block, Paragraph, Plot, Section, Table, Verdict
from rnnbounds.reports.pages.figures import Series
from rnnbounds.reports.pages.model.memory import Document, inputs_text, length_text, share_text
from rnnbounds.reports.pages.model.observed import near_start_text
from rnnbounds.reports.pages.model.vectors import short_name, value_name
from rnnbounds.reports.pages.text import NOTHING, bound_text, plain_number, plural

ColumnCells = dict[float, str]


def measurement_verdict(record: Document, problems: tuple[str, ...] = ()) -> Verdict:
    """Good if k is stated of other windows at each ε, bad if something that was asked for fails or
    no k is seen at any ε, else open."""
    lines = (record["statement"] or {"lines": ()})["lines"]
    if problems:
        return Verdict("fails", "bad")
    if all(row["k"] is None for row in record["memory"]):
        return Verdict("no k found", "bad")
    if any(row["k"] is None for row in record["memory"]):
        return Verdict("k found for some ε", "open")
    stated = bool(lines) and all(line["share"] for line in lines)
    return Verdict("k found", "good") if stated else Verdict("k seen, not stated", "open")


def measurement_sentence(record: Document) -> str:
    """The k at which the output is fixed on these windows, then what is stated of others."""
    data, eps = record["data"], [row["eps"] for row in record["memory"] if row["k"] is not None]
    open_epsilons = [plain_number(row["eps"]) for row in record["memory"] if row["k"] is None]
    sentences, vector = [], short_name(record)
    if eps:
        first, *other_rows = (row for row in record["memory"] if row["k"] is not None)
        inputs = f"{first['k']} inputs fix" if first["k"] != 1 else "input fixes"
        more_text = "".join(
            f", the last {row['k']} to within {plain_number(row['eps'])}" for row in other_rows
        )
        sentences.append(
            f"On these {plural(data['windows'], 'window')} the last {inputs} the {vector} to "
            "within "
            f"{plain_number(first['eps'])}{_relative_text(record, first['eps'])}{more_text}."
        )
    if open_epsilons:
        sentences.append(
            f"No k below the whole window of {plural(data['length'], 'input')} fixes the {vector} "
            f"to within {join_words(open_epsilons, 'or')}{'' if eps else ' on all windows'}."
        )
    return " ".join((*sentences, *_near_sentences(record, vector), statement_sentence(record)))


def _near_sentences(record: Document, vector: str) -> list[str]:
    """Sentence on the inputs near the windows, if a k is certified of them."""
    near_data = record.get("near") or {"memory": ()}
    kept = [
        f"{row['k']} to within {plain_number(row['eps'])}"
        for row in near_data["memory"]
        if row["k"] is not None
    ]
    if not kept:
        return []
    return [
        f"For every input within {plain_number(near_data['delta'])} of "
        f"{plural(near_data['windows'], 'window')}, from {near_start_text(near_data)}, it is "
        f"proved that the last k fix the {vector}: k = {join_words(kept)}."
    ]


def statement_sentence(record: Document) -> str:
    """Sentence on other windows: the confidence, each k, and the least share."""
    statement = record["statement"]
    lines = [line for line in (statement or {"lines": ()})["lines"] if line["share"]]
    if not lines:
        return "Nothing is stated of other windows."
    lengths = join_words([str(line["k"]) for line in lines])
    share = percent_below(min(line["share"] for line in lines))
    inputs = "last input does" if lengths == "1" else f"last {lengths} inputs do"
    return (
        f"With confidence {plain_number(statement['confidence'])}, the {inputs} so for at least "
        f"{share} of windows drawn like these."
    )


def answers_section(record: Document, certificate: Document) -> Section:
    """The curve of gaps, then k at each ε: a column for each kind of answer."""
    largest_norm = largest_output(record)
    epsilons = [row["eps"] for row in record["memory"]]
    columns: dict[str, ColumnCells] = {}
    if largest_norm:
        columns["ε / largest"] = {eps: percent_text(eps / largest_norm) for eps in epsilons}
    columns["your windows"] = {row["eps"]: length_text(row["k"]) for row in record["memory"]}
    notes = ["Your windows: the worst of the windows in the data, computed in float64."]
    if statement := record["statement"]:
        columns["windows like these"] = {
            row["eps"]: length_text(row["k"]) for row in statement["lines"]
        }
        columns["share"] = {row["eps"]: share_text(row["share"]) for row in statement["lines"]}
        notes.append(
            f"Windows like these: with confidence {plain_number(statement['confidence'])}, at "
            f"least that share of all windows drawn alike."
        )
    if near_data := record.get("near"):
        columns["near your data"] = {
            row["eps"]: length_text(row["k"]) for row in near_data["memory"]
        }
        notes.append(
            f"Near your data: proved for inputs within {plain_number(near_data['delta'])} of them."
        )
    notes += _add_certified_columns(certificate, columns)
    blocks: list[Block] = [_gap_plot(record, certificate), *_past_plots(record)]
    rows = tuple(
        (plain_number(eps), *(c.get(eps, NOTHING) for c in columns.values())) for eps in epsilons
    )
    blocks += [
        Table(
            ("ε", *columns), rows, frozenset(range(1, len(columns) + 1)), " ".join(notes), "cards"
        ),
        Paragraph(epsilon_explanation(record)),
    ]
    return Section("How long it remembers", tuple(blocks))


def _add_certified_columns(certificate: Document, columns: dict[str, ColumnCells]) -> list[str]:
    """Adds the columns of what is proved of all inputs; what they mean."""
    verdict_word, windows = certificate["verdict"], certificate.get("truncation", ())
    columns["every input"] = {
        row["eps"]: verdict_word if row["k"] is None else str(row["k"]) for row in windows
    }
    input_set = inputs_text(certificate)
    notes = [f"Every input: proved for every input with {input_set}."]
    if verdict_word != "certified":
        notes = [
            f"Every input: no k is certified for every input with {input_set}: {verdict_word}."
        ]
    if "attacked" in certificate:
        refuted_rows = certificate["attacked"]["no_k_below"]
        columns["at least"] = {
            row["eps"]: str(row["k"]) if row["k"] else NOTHING for row in refuted_rows
        }
        notes.append("At least: no smaller k does for every input; a pair of inputs proves it.")
    return notes


def _gap_plot(record: Document, certificate: Document) -> Plot:
    """The distance against k: the worst and the median of the windows, and what is certified."""
    points = record["forgetting"]["curve"]
    ks = [row["k"] for row in points]
    curve_names = (("worst", "worst of your windows"), ("q50", "median of your windows"))
    lines = [Series(label, ks, [row[name] for row in points]) for name, label in curve_names]
    if windows := [row for row in certificate.get("truncation", ()) if row["k"] and row["eps"]]:
        at, eps = ([row[name] for row in windows] for name in ("k", "eps"))
        style: Literal["points", "dashed"] = "points" if len(windows) < 2 else "dashed"
        lines.append(Series("certified for every input", at, eps, style))
    if not (record.get("near") or {"pasts": 0})["pasts"]:
        lines += _near_points(record)
    caption = (
        f"Distance between the {short_name(record)} of the whole window and of its last k inputs "
        f"alone."
    )
    return Plot(lines, "k, number of last inputs", "distance", caption, log_y=True)


def _near_points(record: Document) -> list[Series]:
    """The distances that are certified near the data, against k."""
    rows = [row for row in (record.get("near") or {"gaps": ()})["gaps"] if row["gap"] is not None]
    at, gaps = ([row[name] for row in rows] for name in ("k", "gap"))
    return [Series("certified near your data", at, gaps, "points")] if rows else []


def _past_plots(record: Document) -> list[Plot]:
    """Distances that are certified near the data after recorded pasts."""
    if not (record.get("near") or {"pasts": 0})["pasts"] or not (lines := _near_points(record)):
        return []
    caption = (
        f"Largest distance between the {short_name(record)} after a recorded past and of the run "
        f"from zero, from k inputs on."
    )
    return [Plot(lines, "k, number of inputs", "distance", caption, log_y=True)]


def epsilon_explanation(record: Document) -> str:
    """Sentences that explain k and ε, with the largest norm of an output in these windows."""
    definition = (
        f"k is the number of last inputs. ε bounds the Euclidean distance between the "
        f"{short_name(record)} of the model that reads the whole window and of the model that "
        f"reads the last k inputs alone, from the zero state."
    )
    largest = largest_output(record)
    size = (
        f" The largest {value_name(record)} seen has norm {bound_text(largest, 3)}."
        if largest
        else ""
    )
    return definition + size


def largest_output(record: Document) -> float | None:
    """The largest norm of an output after the last input: the gap to the zero state, which is the
    truncation to k = 0. None if it is zero or not in the record."""
    first = record["forgetting"]["curve"][0]
    return first["worst"] if first["k"] == 0 and first["worst"] else None


def _relative_text(record: Document, eps: float) -> str:
    largest = largest_output(record)
    return (
        f" ({percent_text(eps / largest)} of the largest {value_name(record)} seen)"
        if largest
        else ""
    )


def percent_text(ratio: float) -> str:
    """A ratio in two digits: 7 %, 0.0007 %, 120 %."""
    short = f"{100 * ratio:.2g}"
    return f"{float(short):.0f} %" if abs(float(short)) >= 10 else f"{short} %"


def percent_below(share: float) -> str:
    """A share in per cent with two decimals, rounded down."""
    return f"{floor(Fraction(share) * 10**4) / 100:g} %"


def join_words(words: list[str], last: str = "and") -> str:
    """a, b and c."""
    *first, final = words
    return f"{', '.join(first)} {last} {final}" if first else final
