"""The answer of a certificate in one sentence, of its JSON document alone: for texts and pages."""

from collections.abc import Mapping
from typing import Any, Literal

from rnnbounds.reports.pages.experiment import Verdict
from rnnbounds.reports.pages.model.vectors import vector_name, vector_symbol
from rnnbounds.reports.pages.text import bound_text, plain_number, round_up
from rnnbounds.reports.words import plural

Document = Mapping[str, Any]
Tone = Literal["good", "bad", "open"]
TONES: Mapping[str, Tone] = {"certified": "good", "refuted": "bad", "undecided": "open"}
NOTHING_PROVED = "where λ ≥ 1 the norm proves nothing: λ is an upper bound"


def document_verdict(document: Document) -> Verdict | None:
    """The verdict in its colour; None of a document that states none."""
    word = document.get("verdict")
    return None if word not in TONES else Verdict(str(word), TONES[str(word)])


def answer_sentence(document: Document, model: str) -> str:
    """The verdict in words: the memory at the first ε, the witness, or why nothing is known.

    Empty for a certified document that speaks of no window, as a unitary model's.
    """
    verdict = document.get("verdict")
    if verdict == "refuted":
        witness_text = (document.get("witness") or {}).get("text", "a witness is in the record")
        far = (document.get("witness") or {}).get("distance")
        off = "" if far is None else f", {bound_text(far)} from the nearest recorded input"
        return f"{model} does not contract: {witness_text}{off}"
    if verdict == "undecided":
        return str(
            document.get("reason")
            or f"no norm that was tried certifies {model}, which says nothing about it"
        )
    windows = [row for row in document.get("truncation") or () if row.get("k") is not None]
    if not windows:
        return ""
    precision = f"to within ε = {plain_number(windows[0]['eps'])}, however long the run"
    if not windows[0]["k"]:
        return f"{model} forgets: its output is known without any input {precision}"
    fix = "fixes" if windows[0]["k"] == 1 else "fix"
    last = "last input" if windows[0]["k"] == 1 else f"last {plural(windows[0]['k'], 'input')}"
    return f"{model} forgets: its {last} {fix} the {vector_name(document)} {precision}"


def infinite_lines(document: Document) -> list[str]:
    """Why λ = ∞ stands, a sentence for each reason with the norms that have it."""
    norms: dict[str, list[str]] = {}
    for row in document.get("norms_tried") or ():
        if row.get("reason"):
            norms.setdefault(row["reason"], []).append(row["norm"])
    return [f"λ = ∞ ({', '.join(names)}): {reason}" for reason, names in norms.items()]


def output_bound(document: Document) -> float | None:
    """The bound on the Euclidean norm of that vector: B_h, times ‖C‖₂ of a readout; None if none
    is known.

    A readout's bias moves all outputs alike, so that no distance has it.
    """
    state_bound = (document.get("constants") or {}).get("B_h")
    readout = document.get("readout")
    if not isinstance(state_bound, float) or not state_bound:
        return None
    return state_bound * (1 + 2**-50) * readout["norm"] if readout else state_bound


def epsilon_share(epsilon: float, bound: float) -> str:
    """ε as a share of that bound, in per cent, rounded up to two digits."""
    text = bound_text(100 * epsilon / bound * (1 + 2**-50), 2)
    return f"{float(text):.0f} %" if "e+" in text else f"{text} %"


def epsilon_meaning(document: Document) -> str:
    """ε in the user's units: of which distance it is a bound, and how large that can be."""
    bound, symbol = output_bound(document), vector_symbol(document)
    vectors = f"outputs {symbol}" if symbol == "h" else symbol
    meaning = f"ε bounds the Euclidean distance of two {vectors}"
    return meaning if bound is None else f"{meaning}, where ‖{symbol}‖₂ ≤ {bound_text(bound)}"


def factor_text(lam: float) -> str:
    """λ in six digits, rounded up, below 1 if it is; ∞ where nothing is known."""
    return round_up(lam, 6) if lam < float("inf") else "∞"
