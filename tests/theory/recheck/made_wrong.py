"""Documents of shipped proofs, and changes that make them wrong, each for its reason."""

import json
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from typing import Any

from rnnbounds.theory import CLAIMS
from rnnbounds.theory.axioms.base import AXIOMS
from rnnbounds.theory.language.definitions import REGISTRY
from rnnbounds.theory.proof.export import law_document, proof_document
from rnnbounds.theory.recheck import unsettled

Json = dict[str, Any]
FORMS = {f"{claim.id}/{form.name}": (claim, form) for claim in CLAIMS for form in claim.forms}
DIRECT = ("smt", "identity")


@cache
def laws() -> Json:
    """The laws that are trusted."""
    return law_document([*AXIOMS, *REGISTRY.values()])


@cache
def document(name: str) -> Json:
    """The proof of a shipped form."""
    _, form = FORMS[name]
    return proof_document(form.proof, form.statement, form.assumptions)


def leaves(method: Json) -> Iterator[Json]:
    """The direct methods of a method."""
    parts = [method[part] for part in ("base", "step") if part in method]
    yield from (leaf for part in parts for leaf in leaves(part)) if parts else [method]


def settled(name: str, document: Json) -> Iterator[int]:
    """The steps of the form's own proof that the checker settles."""
    for index, step in enumerate(document["proofs"][-1]["steps"]):
        if step["id"] not in unsettled()[name]:
            yield index


def term(document: Json, *row: int | str) -> int:
    """A new term, at the end of the table."""
    document["terms"].append(list(row))
    return len(document["terms"]) - 1


def head(document: Json, kind: str) -> int:
    """The head of sums or of products."""
    row = {"name": kind, "kind": kind, "range": "real", "least": None, "stored": False}
    document["heads"].append({**row, "interval": None, "mark": 0})
    return len(document["heads"]) - 1


def use_dropped(name: str, old: Json) -> Iterator[Json]:
    """No shipped step lists a use that it does not need: z3 has a counter-model without it."""
    for index in settled(name, old):
        new = deepcopy(old)
        for leaf in leaves(new["proofs"][-1]["steps"][index]["method"]):
            for place in range(len(leaf.get("uses", ())) if leaf["rule"] in DIRECT else 0):
                use = leaf["uses"].pop(place)
                yield new
                leaf["uses"].insert(place, use)


def sign(name: str, old: Json) -> Iterator[Json]:
    """An axiom with -1 times its right side is none of the textbooks'; nor is a goal the last
    step's conclusion."""
    rows = [c for row in old["laws"] for c in row.get("clauses", ())]
    for index in range(len(rows) + 1):
        new = deepcopy(old)
        goal = new["proofs"][-1]["goal"]
        changed = [c["conclusion"] for row in new["laws"] for c in row.get("clauses", ())] + [goal]
        side = 2 if new["terms"][changed[index][2]] != ["0"] else 0
        factor = term(new, "-1")
        changed[index][side] = term(new, head(new, "product"), factor, changed[index][side])
        yield new


def relation(name: str, old: Json) -> Iterator[Json]:
    """With its sides exchanged the goal is false of some system, or is not what is concluded."""
    new = deepcopy(old)
    goal = new["proofs"][-1]["goal"]
    goal[0], goal[2] = goal[2], goal[0]
    if goal[0] != goal[2]:
        yield new


def sort(name: str, old: Json) -> Iterator[Json]:
    """Variables of an axiom over another sort: that is no axiom of the list."""
    bound = [v for row in old["laws"] if "clauses" in row for v in row["variables"]]
    for variable in dict.fromkeys(bound):
        new = deepcopy(old)
        row = new["heads"][new["terms"][variable][0]]
        row["range"] = "operator" if row["range"] != "operator" else "vector"
        row["least"] = None
        yield new


def index(name: str, old: Json) -> Iterator[Json]:
    """An index 0, or one that is free and bounded by no premise, less 1 is no natural number."""
    rows = old["proofs"][-1]["steps"]
    for place in settled(name, old):
        free = () if rows[place]["given"] or rows[place]["method"]["rule"] == "induction" else (
            rows[place]["forall"]
        )  # fmt: skip
        new = deepcopy(old)
        leaf = new["proofs"][-1]["steps"][place]["method"]
        for use in leaf.get("uses", ()) if leaf["rule"] in DIRECT else ():
            row = None if isinstance(use, str) or isinstance(use["law"], str) else use["law"]
            for slot, variable in enumerate(
                new["laws"][row]["variables"] if row is not None else ()
            ):
                over = new["heads"][new["terms"][variable][0]]["range"]
                given = use["terms"][slot]
                if over == "natural" and (new["terms"][given] == ["0"] or given in free):
                    use["terms"][slot] = term(new, head(new, "sum"), term(new, "-1"), given)
                    yield new
                    use["terms"][slot] = given


def domain(name: str, old: Json) -> Iterator[Json]:
    """An axiom without a premise, or without what it requires, is none of the list's; a step that
    lists no premise has none to use."""
    for number, row in enumerate(old["laws"]):
        for place, clause in enumerate(row.get("clauses", ())):
            if clause["given"]:
                new = deepcopy(old)
                new["laws"][number]["clauses"][place]["given"].pop()
                yield new
        if row.get("requires"):
            new = deepcopy(old)
            new["laws"][number]["requires"] = []
            yield new
    for place, step in enumerate(old["proofs"][-1]["steps"]):
        if "given 1" in [use for leaf in leaves(step["method"]) for use in leaf.get("uses", ())]:
            new = deepcopy(old)
            new["proofs"][-1]["steps"][place]["given"] = []
            yield new


def constant(name: str, old: Json) -> Iterator[Json]:
    """A step for all values of what a condition is of: λ < 1 may hold of one alone."""
    for assumed in old["proofs"][-1]["assumptions"]:
        if assumed["condition"] is None:
            continue
        for variable in (assumed["condition"][0], assumed["condition"][2]):
            row = old["terms"][variable]
            if row[0] != str(row[0]) and old["heads"][row[0]]["kind"] == "variable":
                new = deepcopy(old)
                new["proofs"][-1]["steps"][0]["forall"].append(variable)
                yield new


def order(name: str, old: Json) -> Iterator[Json]:
    """A step after one that uses it."""
    steps = old["proofs"][-1]["steps"]
    for place, step in enumerate(steps):
        for later in range(place + 1, len(steps)):
            text = json.dumps(steps[later]["method"])
            if json.dumps(step["id"]) in text and steps[later]["id"] not in unsettled()[name]:
                new = deepcopy(old)
                moved = new["proofs"][-1]["steps"]
                moved.insert(later, moved.pop(place))
                yield new
                break


def ending(name: str, old: Json) -> Iterator[Json]:
    """No last step, one in prose, and one under a name that is taken."""
    new = deepcopy(old)
    last = new["proofs"][-1]["steps"].pop()
    if last["conclusion"] not in [step["conclusion"] for step in new["proofs"][-1]["steps"]]:
        yield new
    new = deepcopy(old)
    new["proofs"][-1]["steps"][-1]["method"] = {"rule": "prose"}
    yield new
    if old["proofs"][-1]["assumptions"]:
        new = deepcopy(old)
        new["proofs"][-1]["steps"][-1]["id"] = old["proofs"][-1]["assumptions"][0]["id"]
        yield new
