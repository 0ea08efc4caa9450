"""Facts of a certificate's record, part by part: where λ comes from, constants, norms, fields."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rnnbounds.reports.pages.experiment import Block, Folded, Paragraph, Section, Table
from rnnbounds.reports.pages.model import answer
from rnnbounds.reports.text import NOTHING, bound_text, capitalise, plain_number, round_up

TITLES = {
    "lambda": "λ", "sha256": "SHA-256", "eps": "ε", "tensors": "read from", "unread": "not read",
    "rounds_to_one": "decays that may round to 1",
}  # fmt: skip
STATED_FIELDS = (
    "lambda", "norm", "input_bound", "inputs", "readout", "states", "rounding",
    "rounds_to_one", "gain", "skipped",
)  # fmt: skip
MODEL_FIELDS = (
    "model", "cell", "shape", "dtype", "tensors", "ignored", "unread",
)  # fmt: skip
DIGESTS = ("sha256", "schema")
OTHER_FIELDS = (
    "truncation", "next", "attacked", "stable", "constants", "norms_tried", "verdict", "reason",
)  # fmt: skip
GATES = "ifzorn"  # by the letters of constants, in the order of steps
MOST_UNITS = 5  # units that are listed
LETTERS = ((2, "ch"), (1, "h"))  # parts of a state of so many times n numbers


def origin_sections(document: answer.Document) -> list[Section]:
    """The layers' factors, the gates' ranges, the slowest units, and what λ would be without each
    gate's recurrent weights, where they are known; no section of cells without any of it."""
    parts = (_layer_blocks, _gate_blocks, _unit_blocks, _estimate_blocks)
    blocks = tuple(block for part in parts for block in part(document))
    return [Section("Where λ comes from", blocks)] if blocks else []


def fact_sections(document: answer.Document) -> Iterator[Section]:
    """The certificate's fields, the norms tried, and the model; the record has all else."""
    counts = document.get("rounds_to_one") or {}
    document = {**document, "rounds_to_one": {dtype: n for dtype, n in counts.items() if n}}
    fields = {name: value for name, value in document.items() if value not in (None, "", [], {})}
    scalars = [n for n, value in fields.items() if not isinstance(value, (dict, list, tuple))]
    elsewhere = {*MODEL_FIELDS, *DIGESTS, *OTHER_FIELDS}
    shown = dict.fromkeys(
        n for n in (*STATED_FIELDS, *scalars) if n in fields and n not in elsewhere
    )
    blocks: list[Block] = [_facts_table(document, shown)]
    if "constants" in fields:
        table = _constants_table(document)
        blocks.append(Folded("All constants, with their definitions", (table,)))
    yield Section("The certificate", tuple(blocks))
    if "norms_tried" in fields:
        yield Section("Norms that were tried", (norms_table(document),))
    yield model_section(document)


def model_section(document: answer.Document) -> Section:
    """The model, and the digest of its weights."""
    model, digests = (
        _facts_table(document, (n for n in names if document.get(n) not in (None, "", [], {})))
        for names in (MODEL_FIELDS, DIGESTS)
    )
    return Section("The model", (model, Folded("SHA-256 of its weights, and schema", (digests,))))


def norms_table(document: answer.Document) -> Table:
    """λ and k in every norm that was tried; a factor that is not below 1 proves nothing."""
    rows, infinity = document["norms_tried"], float("inf")
    factors = [infinity if row["lambda"] is None else row["lambda"] for row in rows]
    notes = [answer.NOTHING_PROVED] * any(not lam < 1 for lam in factors) + answer.infinite_lines(
        document
    )
    smallest = min(row["eps"] for row in document["truncation"])
    return Table(
        ("norm", "λ", f"k at ε = {plain_number(smallest)}"),
        tuple(
            (
                row["norm"],
                "not tried" if row.get("skipped") else answer.factor_text(lam),
                NOTHING if row["k"] is None else str(row["k"]),
            )
            for row, lam in zip(rows, factors, strict=True)
        ),
        frozenset((1, 2)),
        " ".join(f"{capitalise(note)}." for note in notes),
    )


def _layer_blocks(document: answer.Document) -> Iterator[Block]:
    constants = document.get("constants") or {}
    count = int(constants.get("layers") or 0)
    if not count or f"lam_l{count - 1}" not in constants:
        return
    rows = tuple(
        (str(layer + 1), *(_bound(constants.get(f"{n}_l{layer}")) for n in ("lam", "mu")))
        for layer in range(count)
    )
    yield Table(
        ("layer", "λ of the layer", "moved by the layer below"), rows, frozenset((1, 2)),
        "A stack contracts by no less than its slowest layer.",
    )  # fmt: skip


def _gate_blocks(document: answer.Document) -> Iterator[Block]:
    constants, cell = document.get("constants") or {}, str(document.get("cell"))
    rows = []
    for gate in GATES:
        row_sum = constants.get(f"W_{gate}_norm")
        if row_sum is None:
            continue
        meaning = find_constant(f"W_{gate}_norm", cell).meaning
        name = meaning.partition(" of the ")[2].rpartition(" the ")[2]
        largest = constants.get(f"{gate}_bar", constants.get("nu_bar"))
        rows.append((name, _bound(largest), _bound(row_sum)))
    if rows:
        yield Table(
            ("gate", "largest value", "recurrent weights, ∞-norm"), tuple(rows), frozenset((1, 2)),
            "A gate that keeps the state lets it forget the faster the smaller its largest value; "
            "recurrent weights move gates by what the state was.",
        )  # fmt: skip


def _unit_blocks(document: answer.Document) -> Iterator[Block]:
    v, n = document.get("weights") or (), (document.get("shape") or {}).get("n", 0)
    parts = next((letters for times, letters in LETTERS if n and len(v) == times * n), "")
    are_numbers = all(isinstance(w, float) for w in v)
    if document.get("norm") != "perron" or not parts or not are_numbers:
        return
    if parts == "ch" and not str(document.get("cell")).startswith("lstm"):
        return
    largest = sorted(range(len(v)), key=lambda place: -v[place])[:MOST_UNITS]
    rows = tuple((f"{parts[at // n]}[{at % n}]", bound_text(v[at], 3)) for at in largest)
    yield Table(
        ("unit", "v"), rows, frozenset((1,)),
        "λ is a factor in max |s_j|/v_j. The units of the largest v_j forget last: two states that "
        "come together differ there the most.",
    )  # fmt: skip


def _estimate_blocks(document: answer.Document) -> Iterator[Block]:
    advice = document.get("next") or {}
    layers = advice.get("estimates_of_layers") or ()
    if len(layers) > 1:
        estimates = ", ".join(_bound(lam, 3) for lam in layers)
        yield Paragraph(f"λ of the layers, the lowest first, estimated: {estimates}.")
    parts = advice.get("estimates_without") or ()
    if parts:
        yield Table(
            ("without the recurrent weights of", "λ would be about"),
            tuple((row["part"], _bound(row["lambda"], 3)) for row in parts), frozenset((1,)),
            "Estimates of the bound on λ: the part that matters most comes first.",
        )  # fmt: skip


def _bound(value: float | None, digits: int = 6) -> str:
    return NOTHING if value is None else bound_text(value, digits)


def _constants_table(document: answer.Document) -> Table:
    cell = str(document.get("cell"))
    rows = []
    for name, value in document["constants"].items():
        definition = find_constant(name, cell)
        rounded = repr if is_lower_bound(name) else bound_text
        text = "not bounded" if value is None else rounded(value)
        rows.append((definition.symbol, name, text, definition.meaning))
    return Table(
        ("constant", "name in the record", "value", "definition"), tuple(rows), frozenset((2,)),
        "Upper bounds, rounded up; the record has all digits.",
    )  # fmt: skip


def _facts_table(values: answer.Document, names: Iterable[str]) -> Table:
    rows = tuple((_title(name), _field_text(name, values[name])) for name in names)
    return Table(("what", "is"), rows)


def _field_text(name: str, value: Any) -> str:
    """A value as text, in words of its own where it has some."""
    match name, value:
        case "lambda", float():
            return f"{round_up(value)}{'' if value < 1 else ', an upper bound that proves nothing'}"
        case "input_bound", float():
            return plain_number(value)
        case "inputs", {"what": what}:
            return str(what)
        case "tensors", dict():
            return ", ".join(sorted(map(str, value.values())))
        case "rounding", {"dtype": dtype}:
            state = value.get("state")
            reason = f": {value['reason']}" if value.get("reason") else ""
            bound = f"not bounded{reason}" if state is None else f"at most {bound_text(state, 3)}"
            return f"of {dtype}, {bound}"
        case "rounds_to_one", dict():
            return ", ".join(f"{count} in {dtype}" for dtype, count in value.items())
        case "skipped", list():
            return "; ".join(f"{entry['what']}: {entry['reason']}" for entry in value)
    return _plain_text(value)


def _title(name: str) -> str:
    return TITLES.get(name, name.replace("_", " "))


def _plain_text(item: object) -> str:
    """A value as text; of a model's path its file alone."""
    if item is None or item == "":
        return NOTHING
    if isinstance(item, bool):
        return "yes" if item else "no"
    if isinstance(item, float):
        return repr(item)
    if isinstance(item, dict):
        return ", ".join(f"{_title(str(name))} {_plain_text(one)}" for name, one in item.items())
    if isinstance(item, (list, tuple)):
        return ", ".join(map(_plain_text, item)) or NOTHING
    return str(item)


_LAYER = re.compile(r"_l(\d+)$")
_GATES = {
    "i": "input gate", "f": "forget gate", "o": "output gate", "z": "candidate",
    "r": "reset gate", "n": "candidate",
}  # fmt: skip


@dataclass(frozen=True)
class Constant:
    """A constant's symbol and its definition."""

    symbol: str
    meaning: str


def _gate_constants() -> dict[str, Constant]:
    bars = {"i": "ī", "f": "f̄", "o": "ō", "z": "z̄", "r": "r̄"}
    bounds = {
        f"{gate}_bar": Constant(bar, f"the largest value of the {_GATES[gate]}, in modulus")
        for gate, bar in bars.items()
    }
    return bounds | {
        f"W_{gate}_norm": Constant(f"‖W_{gate}‖_∞", f"of the recurrent matrix of the {name}")
        for gate, name in _GATES.items()
    }


CONSTANTS: Mapping[str, Constant] = {
    "gain": Constant("gain", "inputs δ apart drive outputs at most gain · δ apart, from one state"),
    "B_x": Constant("B_x", "bound on an input, ‖x_t‖₂"),
    "B_h": Constant("B_h", "bound on the output, ‖h_t‖₂ for all t"),
    "S_0": Constant("S_0", "the drive in the Euclidean norm, sup ‖φ(0, x)‖₂"),
    "drive": Constant("S", "the drive in the norm of the certificate, sup ‖φ(0, x)‖"),
    "radius": Constant("R", "bound on a state in that norm that needs no contraction"),
    "equivalence": Constant("C", "‖h‖₂ ≤ C‖s‖: the norm of the certificate against the Euclidean"),
    "reach": Constant("c", "‖s‖ ≤ c‖s‖₂: the Euclidean norm against that of the certificate"),
    "L_rho": Constant("L_ρ", "the largest slope of the activation"),
    "M_rho": Constant("M_ρ", "the largest value of the activation, in modulus"),
    "W_norm": Constant("‖W‖₂", "spectral norm of the recurrent matrix"),
    "U_norm": Constant("‖U‖₂", "spectral norm of the input matrix"),
    "L_x": Constant("L_x", "Lipschitz constant of a step in its input"),
    "layers": Constant("L", "number of layers"),
    "lam": Constant("λ", "factor of the layer"),
    "mu": Constant("μ", "how far the layer below moves it, a unit in its norm"),
    "t": Constant("t", "its weight in the norm of the stack"),
    "depth": Constant("depth", "transitions a step"),
    "leak_low": Constant("a", "the least leak"),
    "leak_high": Constant("ā", "the largest leak"),
    "B_c": Constant("B_c", "bound on the cells, |c_j|"),
    "h_bar": Constant("h̄", "bound on the outputs, |h_j|"),
    "tau": Constant("τ", "tanh B_c"),
    "a": Constant("a", "¼‖W_i‖z̄ + ī‖W_z‖ + ¼‖W_f‖B_c in ∞-norms: by how much h moves c"),
    "q": Constant("q", "¼‖W_o‖_∞ τ: by how much h moves h through the output gate"),
    "theta": Constant("θ", "Miller and Hardt's: below 1, λ ≤ 1 − (1 − θ)(1 − f̄) in the ∞-norm"),
    "z_low": Constant("z", "the least value of the update gate"),
    "nu_bar": Constant("ν̄", "the largest value of the candidate, in modulus"),
    "kappa": Constant("κ", "Lipschitz constant of the candidate in the state, in the ∞-norm"),
    **_gate_constants(),
}  # fmt: skip


def find_constant(name: str, cell: str) -> Constant:
    """A constant by its name in the certificate of such a cell, with its layer if it is of one.

    A name that is not in the table, as of a cell of one's own, stands for itself.
    """
    layer = _LAYER.search(name)
    base_name = _LAYER.sub("", name)
    definition = CONSTANTS.get(base_name, Constant(base_name, ""))
    if "gru" in cell and base_name in ("z_bar", "W_z_norm"):  # of an LSTM z is the candidate
        definition = Constant(
            definition.symbol, definition.meaning.replace("candidate", "update gate")
        )
    if layer is None:
        return definition
    return Constant(f"{definition.symbol}, layer {int(layer[1]) + 1}", definition.meaning)


def is_lower_bound(name: str) -> bool:
    """True of the few that are bounds from below."""
    return _LAYER.sub("", name).endswith("_low")
