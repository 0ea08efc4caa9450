"""How long a model remembers, by each kind of answer, and what to do next: one face for all pages.

An answer is certified (the worst of all inputs), attacked (no k below it), near the data, seen on
them, or stated of others like them; each is named, and none takes another's place.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rnnbounds.reports.pages.experiment import (
    Block,
    Code,
    Drawing,
    Folded,
    Paragraph,
    Plot,
    Section,
    Table,
)
from rnnbounds.reports.pages.figures import MOST_BARS, Bracket, Series, draw_brackets
from rnnbounds.reports.pages.model import answer
from rnnbounds.reports.text import (
    NOTHING,
    ROUNDING,
    capitalise,
    plain_number,
)

GAPS = {
    "norm": "the Euclidean norm of the difference of outputs",
    "tv": "the total variation of the softmax of outputs",
    "argmax": "1 where the largest entry of the output is another, else 0",
}


@dataclass(frozen=True)
class AnswerColumn:
    """One kind of answer: the head of its column, what it says, and what it tells of each ε."""

    head: str
    note: str
    texts: Mapping[float, str]


def memory_section(
    certificate: answer.Document | None, measurement: answer.Document | None = None
) -> Section:
    """The bracket of k as a picture, the table of k, a row an ε and a column a kind of answer, and
    the curve of the gap against k; of a certificate, a measurement, or both."""
    columns = [
        *([] if certificate is None else _certified_columns(certificate)),
        *([] if measurement is None else _data_columns(measurement)),
    ]
    answers = (certificate or {})["truncation"] if measurement is None else measurement["memory"]
    epsilons = [row["eps"] for row in answers]
    shares = _share_column(certificate or {}, measurement, epsilons)
    columns = [*shares, *(one for one in columns if {*one.texts.values()} - {NOTHING})]
    rows = tuple(
        (plain_number(eps), *(one.texts.get(eps, NOTHING) for one in columns)) for eps in epsilons
    )
    table = Table(
        ("ε", *(one.head for one in columns)), rows, frozenset(range(1, len(columns) + 1)),
        " ".join(one.note for one in columns if one.note), "cards",
    )  # fmt: skip
    blocks: list[Block] = [Paragraph(_meaning(certificate, measurement))]
    if certificate is not None:
        if certificate["verdict"] != "certified" and (measurement or "attacked" in certificate):
            blocks += map(Paragraph, answer.ladder_lines(certificate, measurement))
        blocks += _bracket_drawing(certificate, measurement)
    return Section(
        "How long it remembers", (*blocks, *_gap_plots(certificate or {}, measurement), table)
    )


def _meaning(certificate: answer.Document | None, measurement: answer.Document | None) -> str:
    """The meaning of k and ε in this section."""
    if certificate is not None:
        return (
            f"A window k is long enough if the last k inputs fix the "
            f"{answer.vector_name(certificate)} to within ε. {answer.epsilon_meaning(certificate)}."
        )
    assert measurement is not None
    return (
        f"A truncated run is the model on the last k inputs as a window of their own, with nothing "
        f"before them: a model with absolute positions sees other positions, too. The gap is "
        f"{GAPS[measurement['gap']['name']]}."
    )


def _share_column(
    certificate: answer.Document, measurement: answer.Document | None, epsilons: Sequence[float]
) -> list[AnswerColumn]:
    """ε as a share of the bound on the output, else of the largest output that was seen."""
    bound = answer.output_bound(certificate)
    if bound is not None:
        head = f"of the bound on ‖{answer.vector_symbol(certificate)}‖₂"
        return [AnswerColumn(head, "", {eps: answer.epsilon_share(eps, bound) for eps in epsilons})]
    largest = None if measurement is None else answer.largest_output(measurement)
    if largest is None or "gap" in (measurement or {}):
        return []
    shares = {eps: answer.percent_text(eps / largest) for eps in epsilons}
    return [AnswerColumn("of the largest seen", "", shares)]


def _bracket_drawing(
    certificate: answer.Document, measurement: answer.Document | None
) -> list[Drawing]:
    """The windows that are too short, and those that are long enough, at each ε, with the k that
    was seen and the one that is proved near the data."""
    data = measurement or {}
    refuted, seen, near = (
        answer.lengths((record or {}).get(name, ()))
        for record, name in (
            (certificate.get("attacked"), "no_k_below"), (data, "memory"),
            (data.get("near"), "memory"),
        )
    )  # fmt: skip
    near_data = answer.near_windows_text(data) if near else ""
    bars = [
        Bracket(
            f"ε = {plain_number(eps)}", refuted.get(eps) or 0, certified, seen.get(eps),
            near.get(eps), near_data,
        )
        for eps, certified in answer.lengths(certificate["truncation"]).items()
    ]  # fmt: skip
    bars = [bar for bar in bars if bar.enough][:MOST_BARS]  # else the table has all that is known
    looks = {
        "short": ("too short for some inputs", any(bar.refuted_below for bar in bars)),
        "open": ("not known", True),
        "seen": ("seen", any(bar.seen is not None for bar in bars)),
        "near": (f"proved near {near_data}", any(bar.near is not None for bar in bars)),
        "enough": ("certified: long enough", any(bar.certified_from is not None for bar in bars)),
    }
    legend = [(look, label) for look, (label, drawn) in looks.items() if drawn]
    caption = "Windows k by what is known of them."
    return [Drawing(draw_brackets(bars), legend, caption)] if bars else []


def next_sections(
    certificate: answer.Document, call_lines: Sequence[str] = (), measured: bool = False
) -> list[Section]:
    """Section on next steps, as `answer.next_steps`; [] without any. Of an undecided model it says
    what that means, then the one step that helps most; the others are folded."""
    steps = [_step_blocks(line) for line in answer.next_steps(certificate, call_lines, measured)]
    blocks: list[Block] = [block for step in steps for block in step]
    if steps and certificate.get("verdict") == "undecided":
        others = tuple(blocks[len(steps[0]) :])
        blocks = [Paragraph(answer.UNDECIDED), *steps[0]]
        blocks += [Folded("Other steps, and what λ is made of", others)] if others else []
    return [Section("What to do next", tuple(blocks))] if blocks else []


def _step_blocks(line: str) -> list[Block]:
    """A line `words: command` as a paragraph and its command; any other as a paragraph."""
    words, _, call = line.partition(": ")
    if "rnnbounds" in call:
        return [Paragraph(f"{capitalise(words)}:"), Code(call)]
    return [Paragraph(capitalise(line))]


def _certified_columns(certificate: answer.Document) -> Iterator[AnswerColumn]:
    if "attacked" in certificate:
        refuted = certificate["attacked"]["no_k_below"]
        yield AnswerColumn(
            "no k below", "No k below: some inputs are proved to be remembered for longer.",
            {row["eps"]: str(row["k"]) if row["k"] else NOTHING for row in refuted},
        )  # fmt: skip
    verdict, inputs = certificate["verdict"], f"every input with {answer.inputs_text(certificate)}"
    words = f"Certified: this k will do for {inputs}."
    if verdict != "certified":
        words = f"Of {inputs} no k is certified: {verdict}."
    rows = certificate.get("truncation", ())
    texts = {eps: verdict if k is None else str(k) for eps, k in answer.lengths(rows).items()}
    yield AnswerColumn("certified" if verdict == "certified" else "for all inputs", words, texts)


def _data_columns(data: answer.Document) -> Iterator[AnswerColumn]:
    if near := data.get("near"):
        windows = answer.near_windows_text(data)
        words = f"Near: certified of inputs within {plain_number(near['delta'])} of these windows."
        yield AnswerColumn(f"near {windows}", words, _lengths(near["memory"]))
    words = "Seen: the windows of the data, the worst of them."
    yield AnswerColumn("seen", words, _lengths(data["memory"]))
    lines = (data["statement"] or {"lines": []})["lines"]
    words = "Stated: at least that share of windows drawn like these."
    yield AnswerColumn("stated", words, _lengths(lines))
    yield AnswerColumn(
        "share", "", {line["eps"]: answer.percent_below(line["share"]) for line in lines}
    )


def _lengths(rows: Sequence[answer.Document]) -> dict[float, str]:
    return {row["eps"]: length_text(row["k"]) for row in rows}


def _gap_plots(certificate: answer.Document, measurement: answer.Document | None) -> list[Plot]:
    """The gap against k: as it was seen, and the certified bound if it gives the k of each ε; with
    neither the bars show all that is known."""
    data = measurement or {"forgetting": {"curve": ()}}
    points, gap = data["forgetting"]["curve"], data.get("gap", {}).get("name")
    styles: dict[str, tuple[str, Literal["line", "dashed"], str]] = {
        "worst": ("worst seen", "line", "seen"),
        "mean": ("mean", "dashed", "typical"),
        "q50": ("median seen", "line", "typical"),
    }
    if gap == "argmax":  # a median of 0 and 1 says nothing
        del styles["q50"]
    lines = [
        Series(label, _numbers(points, "k"), _numbers(points, name), style, colour)
        for name, (label, style, colour) in styles.items()
        if points and name in points[0]
    ]
    near_data = data.get("near") or {"pasts": 0, "gaps": ()}
    rows = [row for row in near_data["gaps"] if row["gap"] is not None]
    near = Series(
        "certified near your data", _numbers(rows, "k"), _numbers(rows, "gap"), "points", "near"
    )
    lines += [near] * (bool(rows) and not near_data["pasts"])
    windows = [row for row in certificate.get("truncation", ()) if row["k"] is not None]
    bound = _certified_bound(certificate, windows)
    if not lines and not bound:
        return []
    lines += bound or _points("certified: k of each ε", windows, "eps", "enough")
    witnesses = (certificate.get("attacked") or {}).get("witnesses", ())
    lines += _points("attacked: a gap that is proved", witnesses, "gap", "short")
    answers = data.get("memory") or certificate["truncation"]
    epsilons = _epsilon_line(answers, max(x for line in lines for x in line.x))
    caption = "The gap between the outputs of a whole run and of its last k inputs."
    axes = {"x_label": "window k, steps", "y_label": "gap of outputs"}
    plots = [Plot([*lines, epsilons], **axes, caption=caption, log_y=gap != "argmax")]
    if near_data["pasts"] and rows:
        caption = (
            f"Largest distance between the {answer.short_name(data)} after a recorded past and of "
            f"the run from zero, from k inputs on."
        )
        plots.append(Plot([near, epsilons], **axes, caption=caption, log_y=True))
    return plots


def _numbers(rows: Sequence[answer.Document], name: str) -> list[float]:
    return [float(row[name]) for row in rows]


def _points(label: str, rows: Sequence[answer.Document], name: str, colour: str) -> list[Series]:
    """The rows at their k, no line between them; [] without any."""
    known = Series(label, _numbers(rows, "k"), _numbers(rows, name), "points", colour)
    return [known] * bool(rows)


def _certified_bound(
    certificate: answer.Document, windows: Sequence[answer.Document]
) -> list[Series]:
    """The bound C λᵏ min(S/(1 − λ), R) up to the largest certified k; [] unless it gives each k, as
    those of two runs that were followed step by step do not."""
    constants, lam = certificate.get("constants") or {}, certificate.get("lambda")
    factors: list[Any] = [constants.get(name) for name in ("equivalence", "drive", "radius")]
    if not windows or not isinstance(lam, float) or not 0 < lam < 1 or None in factors:
        return []
    C, S, R = factors
    scale = C * min(S / (1 - lam), R)
    if not all(_gives(scale, lam, row) for row in windows):
        return []
    steps = [max(_numbers(windows, "k")) * i / 40 for i in range(41)]
    bounds = [scale * lam**k for k in steps]
    return [Series("certified: C λᵏ min(S/(1 − λ), R)", steps, bounds, colour="enough")]


def _gives(scale: float, lam: float, window: answer.Document) -> bool:
    """True if this k is the least with scale λᵏ ≤ ε, but for rounding."""
    k, eps = window["k"], window["eps"]
    before = k == 0 or scale * lam ** (k - 1) >= eps * (1 - ROUNDING)
    return bool(scale * lam**k <= eps * (1 + ROUNDING) and before)


def _epsilon_line(answers: Sequence[answer.Document], end: float) -> Series:
    """The ε of each answer from k = 0 to the end, as one series with gaps."""
    xs = [x for _ in answers for x in (0.0, end or 1.0, math.nan)]
    ys = [y for row in answers for y in (row["eps"], row["eps"], math.nan)]
    return Series("ε", xs, ys, "dashed", "epsilon")


def length_text(value: int | None) -> str:
    """A k, or a dash where none is known."""
    return NOTHING if value is None else str(value)
