"""Origin of λ: the layer, gate and unit that attain it, as far as a certificate's record says."""

from collections.abc import Iterator, Mapping
from typing import Any

from rnnbounds.reports.pages.answer import NOTHING_PROVED, factor
from rnnbounds.reports.pages.constants import constant
from rnnbounds.reports.pages.experiment import Block, Paragraph, Section, Table
from rnnbounds.reports.pages.text import NOTHING, above, typed

Document = Mapping[str, Any]
GATES = "ifzorn"  # by the letters of constants, in the order of steps
SLOWEST = 5  # units that are listed
LETTERS = ((2, "ch"), (1, "h"))  # parts of a state of so many times n numbers


def origin(document: Document) -> list[Section]:
    """The layers' factors, the gates' ranges, the slowest units, and what λ would be without each
    gate's recurrent weights, where they are known; no section of cells without any of it."""
    blocks = [*_layers(document), *_gates(document), *_units(document), *_estimates(document)]
    return [Section("Where λ comes from", tuple(blocks))] if blocks else []


def tried(document: Document) -> Table:
    """λ and k in every norm that was tried; a factor that is not below 1 proves nothing."""
    rows = document["norms_tried"]
    smallest = min(row["eps"] for row in document["truncation"])
    return Table(
        ("norm", "λ", f"k at ε = {typed(smallest)}"),
        tuple(
            (
                row["norm"],
                "not tried" if row.get("skipped") else factor(_number(row["lambda"])),
                NOTHING if row["k"] is None else str(row["k"]),
            )
            for row in rows
        ),
        frozenset((1, 2)),
        f"{NOTHING_PROVED}." if any(not _number(row["lambda"]) < 1 for row in rows) else "",
    )


def _layers(document: Document) -> Iterator[Block]:
    known = document.get("constants") or {}
    count = int(known.get("layers") or 0)
    if not count or f"lam_l{count - 1}" not in known:
        return
    rows = [
        (str(layer + 1), *(_bound(known.get(f"{name}_l{layer}")) for name in ("lam", "mu")))
        for layer in range(count)
    ]
    yield Table(
        ("layer", "λ of the layer", "moved by the layer below"), tuple(rows), frozenset((1, 2)),
        "A stack contracts by no less than its slowest layer.",
    )  # fmt: skip


def _gates(document: Document) -> Iterator[Block]:
    known, cell = document.get("constants") or {}, str(document.get("cell"))
    rows = []
    for gate in GATES:
        bar, row_sum = f"{gate}_bar", f"W_{gate}_norm"
        if known.get(row_sum) is None:
            continue
        name = constant(row_sum, cell).meaning.partition(" of the ")[2].rpartition(" the ")[2]
        rows.append((name, _bound(known.get(bar, known.get("nu_bar"))), _bound(known[row_sum])))
    if rows:
        yield Table(
            ("gate", "largest value", "recurrent weights, ‖·‖_∞"), tuple(rows), frozenset((1, 2)),
            "A gate that keeps the state lets it forget the faster the smaller its largest value; "
            "recurrent weights move gates by what the state was.",
        )  # fmt: skip


def _units(document: Document) -> Iterator[Block]:
    v, n = document.get("weights") or (), (document.get("shape") or {}).get("n", 0)
    parts = next((letters for times, letters in LETTERS if n and len(v) == times * n), "")
    if document.get("norm") != "perron" or not parts or not all(isinstance(w, float) for w in v):
        return
    if parts == "ch" and not str(document.get("cell")).startswith("lstm"):
        return
    largest = sorted(range(len(v)), key=lambda place: -v[place])[:SLOWEST]
    rows = [(f"{parts[at // n]}[{at % n}]", above(v[at], 3)) for at in largest]
    yield Table(
        ("unit", "v"), tuple(rows), frozenset((1,)),
        "λ is a factor in max |s_j|/v_j. The units of the largest v_j forget last: two states that "
        "come together differ there the most.",
    )  # fmt: skip


def _estimates(document: Document) -> Iterator[Block]:
    advice = document.get("next") or {}
    layers = advice.get("estimates_of_layers") or ()
    if len(layers) > 1:
        told = ", ".join(_estimate(lam) for lam in layers)
        yield Paragraph(f"λ of the layers, the lowest first, estimated: {told}.")
    rows = [
        (row["part"], _estimate(row["lambda"])) for row in advice.get("estimates_without") or ()
    ]
    if rows:
        yield Table(
            ("without the recurrent weights of", "λ would be about"), tuple(rows), frozenset((1,)),
            "Estimates of the bound on λ: the part that matters most comes first.",
        )  # fmt: skip


def _number(value: float | None) -> float:
    return float("inf") if value is None else value


def _bound(value: float | None) -> str:
    return NOTHING if value is None else above(value)


def _estimate(lam: float | None) -> str:
    return NOTHING if lam is None else above(lam, 3)
