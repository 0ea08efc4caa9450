"""How long a model remembers, by each kind of answer, and what to do next: one face for all pages.

An answer is certified (the worst of all inputs), attacked (no k below it), near the data, seen on
them, or stated of others like them; each is named, and none takes another's place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rnnbounds.reports.pages.experiment import Block, Code, Drawing, Paragraph, Plot, Section, Table
from rnnbounds.reports.pages.figures import MOST_BARS, Bracket, Series, draw_brackets
from rnnbounds.reports.pages.model.answer import (
    epsilon_meaning,
    epsilon_share,
    output_bound,
)
from rnnbounds.reports.pages.model.vectors import vector_name, vector_symbol
from rnnbounds.reports.pages.text import NOTHING, bound_text, plain_number
from rnnbounds.reports.words import capitalise

Document = Mapping[str, Any]


@dataclass(frozen=True)
class AnswerColumn:
    """One kind of answer: the head of its column, what it says, and what it tells of each ε."""

    head: str
    note: str
    texts: Mapping[float, str]


def memory_section(certificate: Document, measurement: Document | None = None) -> Section:
    """The bracket of k as a picture, the table of k, a row an ε and a column a kind of answer, and
    the curve of the gap against k."""
    kinds = [
        *_attacked_column(certificate),
        _certified_column(certificate),
        *_data_columns(measurement or {}),
    ]
    epsilons = [row["eps"] for row in (measurement or {}).get("memory", certificate["truncation"])]
    bound = output_bound(certificate)
    shares = [] if bound is None else [f"of ‖{vector_symbol(certificate)}‖₂"]
    rows = tuple(
        (
            plain_number(eps),
            *([] if bound is None else [epsilon_share(eps, bound)]),
            *(kind.texts.get(eps, NOTHING) for kind in kinds),
        )
        for eps in epsilons
    )
    blocks: list[Block] = [
        Paragraph(
            f"A window k is long enough if the last k inputs fix the {vector_name(certificate)} to "
            f"within ε. "
            f"{epsilon_meaning(certificate)}."
        ),
        *_bracket_drawing(certificate),
        Table(
            ("ε", *shares, *(kind.head for kind in kinds)),
            rows,
            frozenset(range(1, len(rows[0]) if rows else 1)),
            " ".join(kind.note for kind in kinds if kind.note),
            "cards",
        ),
    ]
    return Section("How long it remembers", (*blocks, *gap_plots(certificate, measurement)))


def _bracket_drawing(certificate: Document) -> list[Drawing]:
    """The windows that are too short, and those that are long enough, at each ε."""
    refuted_lengths = {
        row["eps"]: row["k"] for row in (certificate.get("attacked") or {}).get("no_k_below", ())
    }
    bars = [
        Bracket(f"ε = {plain_number(row['eps'])}", refuted_lengths.get(row["eps"], 0), row["k"])
        for row in certificate["truncation"]
    ]
    bars = [bar for bar in bars if bar.refuted_below or bar.certified_from is not None][:MOST_BARS]
    if not bars:
        return []
    legend = [("enough", "certified: long enough")]
    legend = legend if any(bar.certified_from is not None for bar in bars) else []
    if any(bar.refuted_below for bar in bars):
        legend = [("short", "attacked: too short"), ("open", "not known"), *legend]
    else:
        legend = [("open", "not known"), *legend]
    return [Drawing(draw_brackets(bars), legend, "Windows k by what is proved of them.")]


def next_sections(certificate: Document, extra_lines: Sequence[str] = ()) -> list[Section]:
    """Section on next steps: those of the certificate's record, and the lines `more`; or []."""
    blocks: list[Block] = []
    advice = certificate.get("next") or {}
    if "measure" in advice:
        words = "See what it remembers of recorded inputs:"
        blocks += [Paragraph(words), Code(advice["measure"])]
    for line in (*advice.get("lines", ()), *extra_lines):
        words, _, call = line.partition(": ")
        if "rnnbounds" in call:
            blocks += [Paragraph(f"{capitalise(words)}:"), Code(call)]
        else:
            blocks.append(Paragraph(capitalise(line)))
    return [Section("What to do next", tuple(blocks))] if blocks else []


def inputs_text(certificate: Document) -> str:
    """The inputs that are spoken of."""
    input_set, bound = certificate.get("inputs") or {}, certificate.get("input_bound")
    if (
        "what" in input_set and bound is not None
    ):  # the set is what is spoken of; its ball is rounded
        return f"x in {input_set['what']}, ‖x‖₂ ≤ {bound_text(bound)}"
    parts = [f"x in {input_set['what']}"] if "what" in input_set else []
    return ", ".join([*parts, *([] if bound is None else [f"‖x‖₂ ≤ {plain_number(bound)}"])])


def _attacked_column(certificate: Document) -> list[AnswerColumn]:
    if "attacked" not in certificate:
        return []
    refuted_rows = certificate["attacked"]["no_k_below"]
    texts = {row["eps"]: str(row["k"]) if row["k"] else NOTHING for row in refuted_rows}
    words = "No k below: some inputs are proved to be remembered for longer."
    return [AnswerColumn("no k below", words, texts)]


def _certified_column(certificate: Document) -> AnswerColumn:
    verdict = certificate["verdict"]
    texts = {
        row["eps"]: verdict if row["k"] is None else str(row["k"])
        for row in certificate["truncation"]
    }
    inputs = f"every input with {inputs_text(certificate)}"
    words = f"Certified: this k will do for {inputs}."
    if verdict != "certified":
        words = f"Of {inputs} no k is certified: {verdict}."
    return AnswerColumn("certified", words, texts)


def _data_columns(data: Document) -> list[AnswerColumn]:
    if not data:
        return []
    kinds = []
    if data.get("near"):
        texts = {row["eps"]: length_text(row["k"]) for row in data["near"]["memory"]}
        words = (
            f"Near: certified of inputs within {plain_number(data['near']['delta'])} of these "
            f"windows."
        )
        kinds.append(AnswerColumn("near your data", words, texts))
    memory = {row["eps"]: length_text(row["k"]) for row in data["memory"]}
    kinds.append(AnswerColumn("seen", "Seen: the windows of the data, the worst of them.", memory))
    lines = (data["statement"] or {"lines": []})["lines"]
    lengths = {line["eps"]: length_text(line["k"]) for line in lines}
    shares = {line["eps"]: share_text(line["share"]) for line in lines}
    words = "Stated: at least that share of windows drawn like these."
    return [*kinds, AnswerColumn("stated", words, lengths), AnswerColumn("share", "", shares)]


def gap_plots(certificate: Document, measurement: Document | None) -> list[Plot]:
    """The gap against k as it was seen, under what is certified at the k of each ε."""
    windows = [row for row in certificate["truncation"] if row["k"] is not None and row["eps"]]
    lengths, bounds = ([float(row[name]) for row in windows] for name in ("k", "eps"))
    if measurement is None:
        return _certified_plots(certificate, lengths, bounds) if windows else []
    points = measurement["forgetting"]["curve"]
    lines = [
        Series(label, [float(row["k"]) for row in points], [row[name] for row in points])
        for name, label in (("worst", "worst seen"), ("q50", "median seen"))
    ]
    if windows:
        lines.append(
            Series("certified", lengths, bounds, "points" if len(windows) < 2 else "dashed")
        )
    caption = (
        "The gap between the run over a whole window and over its last k inputs, after the last."
    )
    return [Plot(lines, "window k, steps", "gap of outputs", caption, log_y=True)]


def _certified_plots(
    certificate: Document, lengths: list[float], bounds: list[float]
) -> list[Plot]:
    """The k of each ε under the bound C λᵏ min(S/(1 − λ), R), above the gaps that were proved."""
    lines = [Series("certified: k of each ε", lengths, bounds, "points")]
    witnesses = (certificate.get("attacked") or {}).get("witnesses", ())
    if witnesses:
        attacked = [float(row["k"]) for row in witnesses]
        lines.append(
            Series("attacked: a gap that is proved", attacked, [row["gap"] for row in witnesses],
                   "points")
        )  # fmt: skip
    constants, lam = certificate.get("constants") or {}, certificate.get("lambda")
    factors: list[Any] = [constants.get(name) for name in ("equivalence", "drive", "radius")]
    if isinstance(lam, float) and 0 < lam < 1 and None not in factors:
        C, S, R = factors
        scale = C * min(S / (1 - lam), R)
        steps = [max(lengths) * i / 40 for i in range(41)]
        lines.append(Series("bound by λ alone", steps, [scale * lam**k for k in steps]))
    caption = (
        "The gap between the outputs of the whole run and of its last k inputs. The certified k "
        "follow two runs step by step, which is sharper than λᵏ alone."
    )
    return [Plot(tuple(lines), "window k, steps", "gap of outputs", caption, log_y=True)]


def share_text(share: float | None) -> str:
    """A share in four digits, rounded down."""
    return NOTHING if share is None else f"{int(Fraction(share) * 10**4) / 10**4:.4f}"


def length_text(value: int | None) -> str:
    """A k, or a dash where none is known."""
    return NOTHING if value is None else str(value)
