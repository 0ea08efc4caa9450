"""The answer of a measurement: a verdict, a sentence or two, and the numbers of each kind by ε."""

from fractions import Fraction
from math import floor
from typing import Literal

from rnnbounds.reports.pages.experiment import Block, Paragraph, Plot, Section, Table, Verdict
from rnnbounds.reports.pages.figures.plot import Series
from rnnbounds.reports.pages.memory import Document, k_of, share_of, within
from rnnbounds.reports.pages.text import NOTHING, above, plural, typed

Cells = dict[float, str]


def verdict(seen: Document, problems: tuple[str, ...] = ()) -> Verdict:
    """Good if k is stated of other windows at each ε, bad if something that was asked for fails or
    no k is seen at any ε, else open."""
    lines = (seen["statement"] or {"lines": ()})["lines"]
    if problems:
        return Verdict("fails", "bad")
    if all(row["k"] is None for row in seen["memory"]):
        return Verdict("no k found", "bad")
    if any(row["k"] is None for row in seen["memory"]):
        return Verdict("k found for some ε", "open")
    stated = bool(lines) and all(line["share"] for line in lines)
    return Verdict("k found", "good") if stated else Verdict("k seen, not stated", "open")


def sentence(seen: Document) -> str:
    """The k at which the output is fixed on these windows, then what is stated of others."""
    data, eps = seen["data"], [row["eps"] for row in seen["memory"] if row["k"] is not None]
    open_ = [typed(row["eps"]) for row in seen["memory"] if row["k"] is None]
    told, what = [], _output(seen)
    if eps:
        first, *rest = (row for row in seen["memory"] if row["k"] is not None)
        last = f"{first['k']} inputs fix" if first["k"] != 1 else "input fixes"
        more = "".join(f", the last {row['k']} to within {typed(row['eps'])}" for row in rest)
        told.append(
            f"On these {plural(data['windows'], 'window')} the last {last} the {what} to within "
            f"{typed(first['eps'])}{_relative(seen, first['eps'])}{more}."
        )
    if open_:
        told.append(
            f"No k below the whole window of {plural(data['length'], 'input')} fixes the {what} to "
            f"within {listed(open_, 'or')}{'' if eps else ' on all windows'}."
        )
    return " ".join((*told, _stated(seen)))


def _stated(seen: Document) -> str:
    stated = seen["statement"]
    lines = [line for line in (stated or {"lines": ()})["lines"] if line["share"]]
    if not lines:
        return "Nothing is stated of other windows."
    ks = listed([str(line["k"]) for line in lines])
    least = percent_below(min(line["share"] for line in lines))
    last = "last input does" if ks == "1" else f"last {ks} inputs do"
    return (
        f"With confidence {typed(stated['confidence'])}, the {last} so for at least {least} "
        f"of windows drawn like these."
    )


def answers(seen: Document, certificate: Document) -> Section:
    """The curve of gaps, then k at each ε: a column for each kind of answer."""
    largest = largest_output(seen)
    memory = [row["eps"] for row in seen["memory"]]
    columns: dict[str, Cells] = {}
    if largest:
        columns["ε / largest"] = {eps: percent(eps / largest) for eps in memory}
    columns["your windows"] = {row["eps"]: k_of(row["k"]) for row in seen["memory"]}
    words = ["Your windows: the worst of the windows in the data, computed in float64."]
    if stated := seen["statement"]:
        columns["windows like these"] = {row["eps"]: k_of(row["k"]) for row in stated["lines"]}
        columns["share"] = {row["eps"]: share_of(row["share"]) for row in stated["lines"]}
        words.append(
            f"Windows like these: with confidence {typed(stated['confidence'])}, at least that "
            f"share of all windows drawn alike."
        )
    if near := seen.get("near"):
        columns["near your data"] = {row["eps"]: k_of(row["k"]) for row in near["memory"]}
        words.append(f"Near your data: proved for inputs within {typed(near['delta'])} of them.")
    words += _of_every_input(certificate, columns)
    blocks: list[Block] = [_figure(seen, certificate)]
    rows = tuple((typed(eps), *(c.get(eps, NOTHING) for c in columns.values())) for eps in memory)
    blocks += [
        Table(
            ("ε", *columns), rows, frozenset(range(1, len(columns) + 1)), " ".join(words), "cards"
        ),
        Paragraph(meaning(seen)),
    ]
    return Section("How long it remembers", tuple(blocks))


def _of_every_input(certificate: Document, columns: dict[str, Cells]) -> list[str]:
    """Adds the columns of what is proved of all inputs; what they mean."""
    verdict_, found = certificate["verdict"], certificate.get("truncation", ())
    columns["every input"] = {
        row["eps"]: verdict_ if row["k"] is None else str(row["k"]) for row in found
    }
    among = within(certificate)
    words = [f"Every input: proved for every input with {among}."]
    if verdict_ != "certified":
        words = [f"Every input: no k is certified for every input with {among}: {verdict_}."]
    if "attacked" in certificate:
        least = certificate["attacked"]["no_k_below"]
        columns["at least"] = {row["eps"]: str(row["k"]) if row["k"] else NOTHING for row in least}
        words.append("At least: no smaller k does for every input; a pair of inputs proves it.")
    return words


def _figure(seen: Document, certificate: Document) -> Plot:
    """The distance against k: the worst and the median of the windows, and what is certified."""
    points = seen["forgetting"]["curve"]
    ks = [row["k"] for row in points]
    named = (("worst", "worst of your windows"), ("q50", "median of your windows"))
    lines = [Series(label, ks, [row[name] for row in points]) for name, label in named]
    if known := [row for row in certificate.get("truncation", ()) if row["k"] and row["eps"]]:
        at, eps = ([row[name] for row in known] for name in ("k", "eps"))
        style: Literal["points", "dashed"] = "points" if len(known) < 2 else "dashed"
        lines.append(Series("certified for every input", at, eps, style))
    told = (
        f"Distance between the {_output(seen)} of the whole window and of its last k inputs alone."
    )
    return Plot(lines, "k, number of last inputs", "distance", told, log_y=True)


def meaning(seen: Document) -> str:
    """Sentences that explain k and ε, with the largest norm of an output in these windows."""
    told = (
        f"k is the number of last inputs. ε bounds the Euclidean distance between the "
        f"{_output(seen)} of the model that reads the whole window and of the model that reads the "
        f"last k inputs alone, from the zero state."
    )
    largest = largest_output(seen)
    more = f" The largest {_output(seen)} seen has norm {above(largest, 3)}." if largest else ""
    return told + more


def largest_output(seen: Document) -> float | None:
    """The largest norm of an output after the last input: the gap to the zero state, which is the
    truncation to k = 0. None if it is zero or not in the record."""
    first = seen["forgetting"]["curve"][0]
    return first["worst"] if first["k"] == 0 and first["worst"] else None


def _relative(seen: Document, eps: float) -> str:
    largest = largest_output(seen)
    return f" ({percent(eps / largest)} of the largest {_output(seen)} seen)" if largest else ""


def _output(seen: Document) -> str:
    return "prediction" if "readout" in seen else "output"


def percent(ratio: float) -> str:
    """A ratio in two digits: 7 %, 0.0007 %, 120 %."""
    short = f"{100 * ratio:.2g}"
    return f"{float(short):.0f} %" if abs(float(short)) >= 10 else f"{short} %"


def percent_below(share: float) -> str:
    """A share in per cent with two decimals, rounded down."""
    return f"{floor(Fraction(share) * 10**4) / 100:g} %"


def listed(words: list[str], last: str = "and") -> str:
    """a, b and c."""
    *first, final = words
    return f"{', '.join(first)} {last} {final}" if first else final
