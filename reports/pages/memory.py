"""How long a model remembers, by each kind of answer, and what to do next: one face for all pages.

An answer is certified (the worst of all inputs), attacked (no k below it), near the data, seen on
them, or stated of others like them; each is named, and none takes another's place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rnnbounds.reports.pages.answer import about_epsilon, output, share, size
from rnnbounds.reports.pages.experiment import Block, Code, Drawing, Paragraph, Plot, Section, Table
from rnnbounds.reports.pages.figures.bracket import ROWS, Bracket, bracket
from rnnbounds.reports.pages.figures.plot import Series
from rnnbounds.reports.pages.text import NOTHING, above, typed
from rnnbounds.reports.redact import redacted_call

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Kind:
    """One kind of answer: the head of its column, what it says, and what it tells of each ε."""

    head: str
    words: str
    told: Mapping[float, str]


def remembers(certificate: Document, seen: Document | None = None) -> Section:
    """The bracket of k as a picture, the table of k, a row an ε and a column a kind of answer, and
    the curve of the gap against k."""
    kinds = [*_attacked(certificate), _certified(certificate), *_on_data(seen or {})]
    epsilons = [row["eps"] for row in (seen or {}).get("memory", certificate["truncation"])]
    whole = size(certificate)
    shares = [] if whole is None else [f"of ‖{output(certificate).split(' ', 1)[1]}‖₂"]
    rows = tuple(
        (
            typed(eps),
            *([] if whole is None else [share(eps, whole)]),
            *(kind.told.get(eps, NOTHING) for kind in kinds),
        )
        for eps in epsilons
    )
    blocks: list[Block] = [
        Paragraph(
            f"A window k is long enough if the last k inputs fix the {output(certificate)} to "
            f"within ε. "
            f"{about_epsilon(certificate)}."
        ),
        *_bracket(certificate),
        Table(
            ("ε", *shares, *(kind.head for kind in kinds)),
            rows,
            frozenset(range(1, len(rows[0]) if rows else 1)),
            " ".join(kind.words for kind in kinds if kind.words),
            "cards",
        ),
    ]
    return Section("How long it remembers", (*blocks, *curve(certificate, seen)))


def _bracket(certificate: Document) -> list[Drawing]:
    """The windows that are too short, and those that are long enough, at each ε."""
    least = {
        row["eps"]: row["k"] for row in (certificate.get("attacked") or {}).get("no_k_below", ())
    }
    bars = [
        Bracket(f"ε = {typed(row['eps'])}", least.get(row["eps"], 0), row["k"])
        for row in certificate["truncation"]
    ]
    bars = [bar for bar in bars if bar.least or bar.enough is not None][:ROWS]
    if not bars:
        return []
    legend = [("enough", "certified: long enough")]
    legend = legend if any(bar.enough is not None for bar in bars) else []
    if any(bar.least for bar in bars):
        legend = [("short", "attacked: too short"), ("open", "not known"), *legend]
    else:
        legend = [("open", "not known"), *legend]
    return [Drawing(bracket(bars), legend, "Windows k by what is proved of them.")]


def next_steps(certificate: Document, more: Sequence[str] = ()) -> list[Section]:
    """Section on next steps: those of the certificate's record, and the lines `more`; or []."""
    blocks: list[Block] = []
    told = certificate.get("next") or {}
    if "measure" in told:
        words = "See what it remembers of recorded inputs:"
        blocks += [Paragraph(words), Code(redacted_call(told["measure"]))]
    for line in (*told.get("lines", ()), *more):
        words, _, call = line.partition(": ")
        if "rnnbounds" in call:
            said = words[:1].upper() + words[1:]
            blocks += [Paragraph(f"{said}:"), Code(redacted_call(call))]
        else:
            blocks.append(Paragraph(line))
    return [Section("What to do next", tuple(blocks))] if blocks else []


def within(certificate: Document) -> str:
    """The inputs that are spoken of."""
    among, bound = certificate.get("inputs") or {}, certificate.get("input_bound")
    if "what" in among and bound is not None:  # the set is what is spoken of; its ball is rounded
        return f"x in {among['what']}, ‖x‖₂ ≤ {above(bound)}"
    told = [f"x in {among['what']}"] if "what" in among else []
    return ", ".join([*told, *([] if bound is None else [f"‖x‖₂ ≤ {typed(bound)}"])])


def _attacked(certificate: Document) -> list[Kind]:
    if "attacked" not in certificate:
        return []
    found = certificate["attacked"]["no_k_below"]
    told = {row["eps"]: str(row["k"]) if row["k"] else NOTHING for row in found}
    words = "No k below: some inputs are proved to be remembered for longer."
    return [Kind("no k below", words, told)]


def _certified(certificate: Document) -> Kind:
    verdict = certificate["verdict"]
    told = {
        row["eps"]: verdict if row["k"] is None else str(row["k"])
        for row in certificate["truncation"]
    }
    among = f"every input with {within(certificate)}"
    words = f"Certified: this k will do for {among}."
    if verdict != "certified":
        words = f"Of {among} no k is certified: {verdict}."
    return Kind("certified", words, told)


def _on_data(seen: Document) -> list[Kind]:
    if not seen:
        return []
    found = []
    if seen.get("near"):
        told = {row["eps"]: k_of(row["k"]) for row in seen["near"]["memory"]}
        words = f"Near: certified of inputs within {typed(seen['near']['delta'])} of these windows."
        found.append(Kind("near your data", words, told))
    memory = {row["eps"]: k_of(row["k"]) for row in seen["memory"]}
    found.append(Kind("seen", "Seen: the windows of the data, the worst of them.", memory))
    lines = (seen["statement"] or {"lines": []})["lines"]
    ks = {line["eps"]: k_of(line["k"]) for line in lines}
    shares = {line["eps"]: share_of(line["share"]) for line in lines}
    words = "Stated: at least that share of windows drawn like these."
    return [*found, Kind("stated", words, ks), Kind("share", "", shares)]


def curve(certificate: Document, seen: Document | None) -> list[Plot]:
    """The gap against k as it was seen, under what is certified at the k of each ε."""
    known = [row for row in certificate["truncation"] if row["k"] is not None and row["eps"]]
    ks, bounds = ([float(row[name]) for row in known] for name in ("k", "eps"))
    if seen is None:
        return _certified_curve(certificate, ks, bounds) if known else []
    points = seen["forgetting"]["curve"]
    lines = [
        Series(label, [float(row["k"]) for row in points], [row[name] for row in points])
        for name, label in (("worst", "worst seen"), ("q50", "median seen"))
    ]
    if known:
        lines.append(Series("certified", ks, bounds, "points" if len(known) < 2 else "dashed"))
    told = "The gap between the run over a whole window and over its last k inputs, after the last."
    return [Plot(lines, "window k, steps", "gap of outputs", told, log_y=True)]


def _certified_curve(certificate: Document, ks: list[float], bounds: list[float]) -> list[Plot]:
    """The k of each ε under the bound C λᵏ min(S/(1 − λ), R), above the gaps that were proved."""
    lines = [Series("certified: k of each ε", ks, bounds, "points")]
    found = (certificate.get("attacked") or {}).get("witnesses", ())
    if found:
        attacked = [float(row["k"]) for row in found]
        lines.append(
            Series("attacked: a gap that is proved", attacked, [row["gap"] for row in found],
                   "points")
        )  # fmt: skip
    constants, lam = certificate.get("constants") or {}, certificate.get("lambda")
    sizes: list[Any] = [constants.get(name) for name in ("equivalence", "drive", "radius")]
    if isinstance(lam, float) and 0 < lam < 1 and None not in sizes:
        C, S, R = sizes
        most = C * min(S / (1 - lam), R)
        steps = [max(ks) * i / 40 for i in range(41)]
        lines.append(Series("bound by λ alone", steps, [most * lam**k for k in steps]))
    told = (
        "The gap between the outputs of the whole run and of its last k inputs. The certified k "
        "follow two runs step by step, which is sharper than λᵏ alone."
    )
    return [Plot(tuple(lines), "window k, steps", "gap of outputs", told, log_y=True)]


def share_of(share: float | None) -> str:
    """A share in four digits, rounded down."""
    return NOTHING if share is None else f"{int(Fraction(share) * 10**4) / 10**4:.4f}"


def k_of(value: int | None) -> str:
    """A k, or a dash where none is known."""
    return NOTHING if value is None else str(value)
