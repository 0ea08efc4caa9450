"""The answer of a certificate in one sentence, of its JSON document alone: for texts and pages."""

from collections.abc import Mapping
from typing import Any, Literal

from rnnbounds.reports.pages.experiment import Verdict
from rnnbounds.reports.pages.text import above, typed, up
from rnnbounds.reports.words import plural

Document = Mapping[str, Any]
Tone = Literal["good", "bad", "open"]
TONES: Mapping[str, Tone] = {"certified": "good", "refuted": "bad", "undecided": "open"}
NOTHING_PROVED = "where λ ≥ 1 the norm proves nothing: λ is an upper bound"


def verdict_of(document: Document) -> Verdict | None:
    """The verdict in its colour; None of a document that states none."""
    word = document.get("verdict")
    return None if word not in TONES else Verdict(str(word), TONES[str(word)])


def sentence(document: Document, model: str) -> str:
    """The verdict in words: the memory at the first ε, the witness, or why nothing is known.

    Empty for a certified document that speaks of no window, as a unitary model's.
    """
    verdict = document.get("verdict")
    if verdict == "refuted":
        why = (document.get("witness") or {}).get("text", "a witness is in the record")
        return f"{model} does not contract: {why}"
    if verdict == "undecided":
        return str(
            document.get("reason")
            or f"no norm that was tried certifies {model}, which says nothing about it"
        )
    known = [row for row in document.get("truncation") or () if row.get("k") is not None]
    if not known:
        return ""
    within = f"to within ε = {typed(known[0]['eps'])}, however long the run"
    if not known[0]["k"]:
        return f"{model} forgets: its output is known without any input {within}"
    fix = "fixes" if known[0]["k"] == 1 else "fix"
    last = "last input" if known[0]["k"] == 1 else f"last {plural(known[0]['k'], 'input')}"
    return f"{model} forgets: its {last} {fix} the {output(document)} {within}"


def output(document: Document) -> str:
    """Name of the vector whose error ε bounds: the output h, or the prediction C h of a readout."""
    read = document.get("readout")
    return f"prediction {read['tensor']} h" if read else "output h"


def size(document: Document) -> float | None:
    """The bound on the Euclidean norm of that: B_h, times ‖C‖₂ of a readout; None if none is known.

    A readout's bias moves all predictions alike, so that no distance has it.
    """
    known = (document.get("constants") or {}).get("B_h")
    read = document.get("readout")
    if not isinstance(known, float) or not known:
        return None
    return known * (1 + 2**-50) * read["norm"] if read else known


def share(epsilon: float, whole: float) -> str:
    """ε as a share of that bound, in per cent, rounded up to two digits."""
    return f"{above(100 * epsilon / whole * (1 + 2**-50), 2)} %"


def about_epsilon(document: Document) -> str:
    """ε in the user's units: of which distance it is a bound, and how large that can be."""
    known, what = size(document), output(document)
    told = f"ε bounds the Euclidean distance of two {what.replace(' ', 's ', 1)}"
    return told if known is None else f"{told}, where ‖{what.split(' ', 1)[1]}‖₂ ≤ {above(known)}"


def factor(lam: float) -> str:
    """λ in six digits, rounded up, below 1 if it is; ∞ where nothing is known."""
    return up(lam, 6) if lam < float("inf") else "∞"
