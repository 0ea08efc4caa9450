"""Answers in sentences, of JSON documents alone: of a certificate, of a measurement.

ε bounds the error of a vector: the output h, or the linear map y of h of a readout. The code of a
model is not read, so that a readout is never called its prediction.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from rnnbounds.reports.pages.experiment import Tone, Verdict
from rnnbounds.reports.text import NOTHING, bound_text, plain_number, plural, round_up

Document = Mapping[str, Any]
TONES: Mapping[str, Tone] = {
    "certified": "good", "refuted": "bad", "undecided": "open",
    "near your data": "open", "only seen": "open",
}  # fmt: skip
STRONG_SHARE = Fraction(9, 10)  # a k that is stated of fewer windows is no memory to keep
UNDECIDED = (
    "Undecided: no bound that was tried proves a k for all inputs, and nothing refutes one. The "
    "model may well forget; all that is known of it stands above."
)
NOTHING_PROVED = "where λ ≥ 1 the norm proves nothing: λ is an upper bound"
_SAME = {"norm": "the output to within {}", "tv": "the softmax to within {}",
         "argmax": "the same argmax"}  # fmt: skip


def map_name(readout: Document) -> str:
    """The map of a readout: `linear map y = head.weight h`; its bias is not shown."""
    return f"linear map y = {readout['tensor']} h"


def vector_name(document: Document) -> str:
    """The vector of a certificate: `output h`, or the map of its readout."""
    readout = document.get("readout")
    return map_name(readout) if readout else "output h"


def vector_symbol(document: Document) -> str:
    """The vector of a certificate in formulas."""
    return "y" if document.get("readout") else "h"


def short_name(document: Document) -> str:
    """The vector in a sentence: `output`, or `linear map of h`."""
    return "linear map of h" if document.get("readout") else "output"


def value_name(document: Document, plural: str = "") -> str:
    """One vector of many, or many of them: `output`, `value of this linear map of h`."""
    short = short_name(document)
    return f"value{plural} of this {short}" if document.get("readout") else f"{short}{plural}"


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
        witness = document.get("witness") or {}
        witness_text, far = (
            witness.get("text", "a witness is in the record"),
            witness.get("distance"),
        )
        off = "" if far is None else f", {bound_text(far)} from the nearest recorded input"
        return f"{model} does not contract: {witness_text}{off}"
    if verdict == "undecided":
        known = _lower_bound(document)
        nothing = known or "which says nothing about it"
        reason = document.get("reason")
        if reason is None:
            return f"no norm that was tried certifies {model}, {nothing}"
        return f"{reason}; {known}" if known else str(reason)
    windows = [row for row in document.get("truncation") or () if row.get("k") is not None]
    if not windows:
        return ""
    precision = f"to within ε = {plain_number(windows[0]['eps'])}, however long the run"
    if not windows[0]["k"]:
        return f"{model} forgets: its output is known without any input {precision}"
    fix = _inputs_that_fix(windows[0]["k"])
    return f"{model} forgets: its {fix} the {vector_name(document)} {precision}"


def _inputs_that_fix(k: int) -> str:
    return "last input fixes" if k == 1 else f"last {plural(k, 'input')} fix"


def on_data_sentences(document: Document) -> str:
    """Sentences on a k that is known of recorded inputs alone."""
    (row,), data = document["truncation"], document["data"]
    windows = f"{data['windows']} of the {plural(data['of'], 'window')}"
    windows += f" of {plural(data['length'], 'input')} from {Path(data['source']).name}"
    fix = f"the {_inputs_that_fix(row['k'])} the {vector_name(document)} after the last input to "
    fix += f"within ε = {plain_number(row['eps'])}, from the zero state"
    if "delta" in document:
        near = f"every input within {plain_number(document['delta'])} of {windows}"
        return f"Proved near your data, for {near}: {fix}. Nothing is proved of other inputs."
    return f"Only seen, nothing proved: on {windows} {fix}."


def witness_meaning(document: Document) -> str:
    """The consequence of a refuted model's witness for two of its states; "" without a witness."""
    witness = document.get("witness")
    if not witness:
        return ""
    if witness["kind"] == "eigenvalue":
        return "a difference of states along its eigenvector stays, whatever the inputs are"
    consequence = {
        "two-orbits": "a difference of states can stay for ever",
        "unstable-orbit": "a difference of states, however small, can grow",
        "growth": "two runs can stay apart for ever and never come nearer",
    }[witness["kind"]]
    constant = "that constant input" if any(witness["input"]) else "the constant input 0"
    return f"under {constant} {consequence}; on your data this need not be so: measure it"


def _lower_bound(document: Document) -> str:
    """The lower bound on the memory that an attack proved at the first ε of which it did; "" for
    none."""
    for row in (document.get("attacked") or {}).get("no_k_below") or ():
        if row["k"]:
            return f"but at ε = {plain_number(row['eps'])} no k below {row['k']} will do"
    return ""


def ladder_lines(certificate: Document, measurement: Document | None = None) -> list[str]:
    """Lines on k at each ε, a rung for each kind of answer, that of all inputs last; the ε whose
    rungs are the same share a line."""
    ladders: dict[str, list[str]] = {}
    for row in certificate["truncation"]:
        rungs = " · ".join(_rungs(row["eps"], row["k"], certificate, measurement))
        ladders.setdefault(rungs, []).append(plain_number(row["eps"]))
    return [f"k at ε = {join_words(epsilons)}: {rungs}" for rungs, epsilons in ladders.items()]


def _rungs(
    eps: float, certified: int | None, certificate: Document, measurement: Document | None
) -> Iterator[str]:
    if refuted := lengths((certificate.get("attacked") or {}).get("no_k_below", ())).get(eps):
        yield f"≥ {refuted} for some inputs"
    if measurement is not None:
        seen = lengths(measurement["memory"]).get(eps)
        beyond = f"longer than windows of {measurement['data']['length']} inputs can show"
        yield beyond if seen is None else f"{seen} seen"
        for line in (measurement["statement"] or {"lines": ()})["lines"]:
            if line["eps"] == eps and line["share"]:
                share = percent_below(line["share"])
                yield f"{line['k']} stated of {share} of windows like these"
        near = measurement.get("near")
        if near is not None:
            k = lengths(near["memory"]).get(eps)
            near_windows = near_windows_text(measurement)
            yield f"{'undecided' if k is None else f'{k} proved'} near {near_windows}"
    verdict = "undecided" if certificate["verdict"] == "undecided" else "not certified"
    yield f"{verdict if certified is None else f'{certified} proved'} for all inputs"


def lengths(rows: Iterable[Document]) -> dict[float, int | None]:
    """The k of each ε."""
    return {row["eps"]: row["k"] for row in rows}


def size_line(measurement: Document) -> str:
    """Each ε beside the largest output that was seen; "" where it is zero or not in the record."""
    epsilons, largest = [row["eps"] for row in measurement["memory"]], largest_output(measurement)
    if largest is None:
        return ""
    symbol = vector_symbol(measurement)
    size = "‖h_T‖₂" if symbol == "h" else f"‖{symbol}_T − {symbol}_T^0‖₂"
    shares = join_words([percent_text(eps / largest) for eps in epsilons])
    return (
        f"ε = {join_words([plain_number(eps) for eps in epsilons])} "
        f"{'is' if len(epsilons) == 1 else 'are'} {shares} of the largest {size} seen, "
        f"{largest:.3g}, of the {vector_name(measurement)}"
    )


def next_steps(
    document: Document, call_lines: Sequence[str] = (), measured: bool = False
) -> list[str]:
    """Next steps, lines `words: command`, the one that helps most first: to measure the model,
    unless it was, then what its call suggests, then the advice of its certificate."""
    advice = document.get("next") or {}
    steps = [*call_lines, *advice.get("lines", ())]
    if "measure" in advice and not measured:
        steps.insert(0, f"see what it remembers of recorded inputs: {advice['measure']}")
    return steps


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


def inputs_text(certificate: Document) -> str:
    """The inputs that are spoken of."""
    input_set, bound = certificate.get("inputs") or {}, certificate.get("input_bound")
    if (
        "what" in input_set and bound is not None
    ):  # the set is what is spoken of; its ball is rounded
        return f"x in {input_set['what']}, ‖x‖₂ ≤ {bound_text(bound)}"
    parts = [f"x in {input_set['what']}"] if "what" in input_set else []
    return ", ".join([*parts, *([] if bound is None else [f"‖x‖₂ ≤ {plain_number(bound)}"])])


def factor_text(lam: float) -> str:
    """λ in six digits, rounded up, below 1 if it is; ∞ where nothing is known."""
    return round_up(lam, 6) if lam < float("inf") else "∞"


def measurement_verdict(record: Document, problems: Iterable[str] = ()) -> Verdict:
    """Good if k is stated of most other windows at each ε, bad if something that was asked for
    fails or no k is seen at any ε, else open."""
    found = [row["k"] is not None for row in record["memory"]]
    if any(problems):
        return Verdict("fails", "bad")
    if not any(found):
        return Verdict("no k found", "bad")
    if not all(found):
        return Verdict("k found for some ε", "open")
    lines = (record["statement"] or {"lines": ()})["lines"]
    if not lines or not all(line["share"] for line in lines):
        return Verdict("k seen, not stated", "open")
    if not all(line["share"] >= STRONG_SHARE for line in lines):
        return Verdict("k stated of few windows", "open")
    return Verdict("k found", "good")


def measurement_sentence(record: Document) -> str:
    """The k at which the output is fixed on these windows, then what is stated of others."""
    data, vector = record["data"], short_name(record)
    fixed = [row for row in record["memory"] if row["k"] is not None]
    missing = [plain_number(row["eps"]) for row in record["memory"] if row["k"] is None]
    sentences = []
    if fixed:
        first, *others = fixed
        inputs = f"{first['k']} inputs fix" if first["k"] != 1 else "input fixes"
        more = (f", the last {row['k']} to within {plain_number(row['eps'])}" for row in others)
        largest = largest_output(record)
        share = f" ({percent_text(first['eps'] / largest)} of the largest seen)" if largest else ""
        sentences.append(
            f"On these {plural(data['windows'], 'window')} the last {inputs} the {vector} to "
            f"within {plain_number(first['eps'])}{share}{''.join(more)}."
        )
    if missing:
        sentences.append(
            f"No k below the whole window of {plural(data['length'], 'input')} fixes the {vector} "
            f"to within {join_words(missing, 'or')}{'' if fixed else ' on all windows'}."
        )
    near = record.get("near") or {"memory": ()}
    kept = [
        f"{row['k']} to within {plain_number(row['eps'])}"
        for row in near["memory"]
        if row["k"] is not None
    ]
    if kept:
        sentences.append(
            f"For every input within {plain_number(near['delta'])} of "
            f"{near_windows_text(record)}, from {near_start_text(near)}, it is "
            f"proved that the last k fix the {vector}: k = {join_words(kept)}."
        )
    return " ".join((*sentences, statement_sentence(record)))


def causal_sentence(record: Document) -> str:
    """The k of each ε on these windows of a model that was run as it is, then what is stated."""
    same = _SAME[record["gap"]["name"]]
    found = [
        ("the last input alone gives " if row["k"] == 1
         else f"the last {row['k']} inputs alone give ")
        + same.format(plain_number(row["eps"]))
        for row in record["memory"]
        if row["k"]
    ]  # fmt: skip
    windows = plural(record["forgetting"]["windows"], "window")
    none = "no k below the whole window is enough"
    return f"On {windows}, {'; '.join(found) or none}. {statement_sentence(record)}"


def statement_sentence(record: Document) -> str:
    """Sentence on other windows: the confidence, each k, and the least share."""
    statement = record["statement"]
    lines = [line for line in (statement or {"lines": ()})["lines"] if line["share"]]
    if not lines:
        return "Nothing is stated of other windows."
    lengths = join_words([str(line["k"]) for line in lines])
    share = percent_below(min(line["share"] for line in lines))
    inputs = "last input does" if lengths == "1" else f"last {lengths} inputs do"
    needed, held_out = _most_needed(statement), statement["windows"]["held_out"]
    few = f"; {held_out} held-out windows say no more, a share of 0.9 takes {needed}"
    return (
        f"With confidence {plain_number(statement['confidence'])}, the {inputs} so for at least "
        f"{share} of windows drawn like these{few * (held_out < needed)}."
    )


def near_windows_text(measurement: Document) -> str:
    """How many of the windows a k near the data is about: `7 of the 500 windows`."""
    windows = plural(measurement["data"]["windows"], "window")
    return f"{measurement['near']['windows']} of the {windows}"


def near_start_text(near_data: Document) -> str:
    """The states that certified runs near the data start from, in words."""
    if not near_data["pasts"]:
        return "the zero state"
    pasts = plural(near_data["pasts"], "recorded end state")
    within = f"within {plain_number(near_data['share'])} of the range of each entry"
    return f"each of {pasts} {within}, against the run from zero"


def largest_output(record: Document) -> float | None:
    """The largest norm of an output after the last input: the gap to the zero state, which is the
    truncation to k = 0. None if it is zero or not in the record."""
    first = record["forgetting"]["curve"][0]
    return first["worst"] if first["k"] == 0 and first["worst"] else None


def percent_text(ratio: float) -> str:
    """A ratio in two digits: 7 %, 0.0007 %, 120 %."""
    short = f"{100 * ratio:.2g}"
    return f"{float(short):.0f} %" if abs(float(short)) >= 10 else f"{short} %"


def percent_below(share: float | None) -> str:
    """A share in per cent, rounded down to two digits of what it lacks: 56 %, 99.82 %; a dash where
    none is stated."""
    if share is None:
        return NOTHING
    lacks = 1 - Fraction(share)
    up = Context(prec=2, rounding=ROUND_CEILING)
    per_cent = 100 - 100 * up.divide(Decimal(lacks.numerator), Decimal(lacks.denominator))
    return f"{per_cent.normalize():f} %"


def needed_text(statement: Document) -> str:
    """How many windows the share aimed at takes, and where less is stated a share of 0.9."""
    lines, aim = statement["lines"], statement["share"]
    takes = f"a share of {plain_number(aim)} takes {statement['held_out_needed']}"
    if aim > STRONG_SHARE and any((line["share"] or 0) < STRONG_SHARE for line in lines):
        most = f"a share of 0.9 takes {_most_needed(statement)}"
        takes = f"{most} and {takes.replace('a share', 'one')}"
    return f"{takes} held-out windows, none of them beyond ε"


def _most_needed(statement: Document) -> int:
    """How many held-out windows a share of 0.9 takes if none is beyond ε: the least n with
    0.9ⁿ ≤ (1 − confidence)/(number of ε)."""
    alpha, n = (1 - Fraction(str(statement["confidence"]))) / len(statement["lines"]), 1
    while STRONG_SHARE**n > alpha:
        n += 1
    return n


def join_words(words: list[str], last: str = "and") -> str:
    """a, b and c."""
    *first, final = words
    return f"{', '.join(first)} {last} {final}" if first else final
