"""Origin of λ: the layer, gate and unit that attain it, as far as a certificate's record says."""

from collections.abc import Iterator, Mapping
from typing import Any

from rnnbounds.reports.pages.experiment import Block, Paragraph, Section, Table
from rnnbounds.reports.pages.model.answer import NOTHING_PROVED, factor_text, infinite_lines
from rnnbounds.reports.pages.model.constants import find_constant
from rnnbounds.reports.pages.text import NOTHING, bound_text, plain_number

Document = Mapping[str, Any]
GATES = "ifzorn"  # by the letters of constants, in the order of steps
MOST_UNITS = 5  # units that are listed
LETTERS = ((2, "ch"), (1, "h"))  # parts of a state of so many times n numbers


def origin_sections(document: Document) -> list[Section]:
    """The layers' factors, the gates' ranges, the slowest units, and what λ would be without each
    gate's recurrent weights, where they are known; no section of cells without any of it."""
    blocks = [
        *_layer_blocks(document),
        *_gate_blocks(document),
        *_unit_blocks(document),
        *_estimate_blocks(document),
    ]
    return [Section("Where λ comes from", tuple(blocks))] if blocks else []


def norms_table(document: Document) -> Table:
    """λ and k in every norm that was tried; a factor that is not below 1 proves nothing."""
    rows = document["norms_tried"]
    unproved = any(not _or_infinity(row["lambda"]) < 1 for row in rows)
    notes = [*([NOTHING_PROVED] if unproved else []), *infinite_lines(document)]
    smallest = min(row["eps"] for row in document["truncation"])
    return Table(
        ("norm", "λ", f"k at ε = {plain_number(smallest)}"),
        tuple(
            (
                row["norm"],
                "not tried" if row.get("skipped") else factor_text(_or_infinity(row["lambda"])),
                NOTHING if row["k"] is None else str(row["k"]),
            )
            for row in rows
        ),
        frozenset((1, 2)),
        " ".join(f"{note}." for note in notes),
    )


def _layer_blocks(document: Document) -> Iterator[Block]:
    constants = document.get("constants") or {}
    count = int(constants.get("layers") or 0)
    if not count or f"lam_l{count - 1}" not in constants:
        return
    rows = [
        (
            str(layer + 1),
            *(_bound_text(constants.get(f"{name}_l{layer}")) for name in ("lam", "mu")),
        )
        for layer in range(count)
    ]
    yield Table(
        ("layer", "λ of the layer", "moved by the layer below"), tuple(rows), frozenset((1, 2)),
        "A stack contracts by no less than its slowest layer.",
    )  # fmt: skip


def _gate_blocks(document: Document) -> Iterator[Block]:
    constants, cell = document.get("constants") or {}, str(document.get("cell"))
    rows = []
    for gate in GATES:
        range_name, row_sum = f"{gate}_bar", f"W_{gate}_norm"
        if constants.get(row_sum) is None:
            continue
        name = find_constant(row_sum, cell).meaning.partition(" of the ")[2].rpartition(" the ")[2]
        rows.append(
            (
                name,
                _bound_text(constants.get(range_name, constants.get("nu_bar"))),
                _bound_text(constants[row_sum]),
            )
        )
    if rows:
        yield Table(
            ("gate", "largest value", "recurrent weights, ‖·‖_∞"), tuple(rows), frozenset((1, 2)),
            "A gate that keeps the state lets it forget the faster the smaller its largest value; "
            "recurrent weights move gates by what the state was.",
        )  # fmt: skip


def _unit_blocks(document: Document) -> Iterator[Block]:
    v, n = document.get("weights") or (), (document.get("shape") or {}).get("n", 0)
    state_parts = next((letters for times, letters in LETTERS if n and len(v) == times * n), "")
    if (
        document.get("norm") != "perron"
        or not state_parts
        or not all(isinstance(w, float) for w in v)
    ):
        return
    if state_parts == "ch" and not str(document.get("cell")).startswith("lstm"):
        return
    largest = sorted(range(len(v)), key=lambda place: -v[place])[:MOST_UNITS]
    rows = [(f"{state_parts[at // n]}[{at % n}]", bound_text(v[at], 3)) for at in largest]
    yield Table(
        ("unit", "v"), tuple(rows), frozenset((1,)),
        "λ is a factor in max |s_j|/v_j. The units of the largest v_j forget last: two states that "
        "come together differ there the most.",
    )  # fmt: skip


def _estimate_blocks(document: Document) -> Iterator[Block]:
    advice = document.get("next") or {}
    layers = advice.get("estimates_of_layers") or ()
    if len(layers) > 1:
        estimates_text = ", ".join(_estimate_text(lam) for lam in layers)
        yield Paragraph(f"λ of the layers, the lowest first, estimated: {estimates_text}.")
    rows = [
        (row["part"], _estimate_text(row["lambda"]))
        for row in advice.get("estimates_without") or ()
    ]
    if rows:
        yield Table(
            ("without the recurrent weights of", "λ would be about"), tuple(rows), frozenset((1,)),
            "Estimates of the bound on λ: the part that matters most comes first.",
        )  # fmt: skip


def _or_infinity(value: float | None) -> float:
    return float("inf") if value is None else value


def _bound_text(value: float | None) -> str:
    return NOTHING if value is None else bound_text(value)


def _estimate_text(lam: float | None) -> str:
    return NOTHING if lam is None else bound_text(lam, 3)
