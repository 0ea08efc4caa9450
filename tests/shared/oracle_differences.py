"""Differences between two answers of the project, one line each: of any JSON, and of records."""

import json
import re
from collections.abc import Iterator
from itertools import takewhile
from math import isclose, isnan
from typing import Any

SHOWN = 60  # characters of a text that differs
REFEREED = 1.1  # times as many checks may go to exact arithmetic


def plain(text: str) -> str:
    """The text without what may change: where modules are, dates, times and versions."""
    text = re.sub(r"\brnnbounds[./](?=(theory|impl|properties|reports)[./])", "", text)
    text = re.sub(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?(\+\d\d:\d\d)?)?", "DATE", text)
    return re.sub(r"(?<=rnnbounds )\d+\.\d+\.\d+\w*", "VERSION", text)


def read(page: str) -> str:
    """The text of a page, without its markup, styles and scripts."""
    page = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


def differences(before: Any, after: Any, at: str, within: float = 0.0) -> Iterator[str]:
    """One line for each leaf of two JSON values that differs; numbers by more than a ratio."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before | after:
            here, there = before.get(key, "nothing"), after.get(key, "nothing")
            yield from differences(here, there, f"{at} {key}", within)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (here, there) in enumerate(zip(before, after, strict=True)):
            yield from differences(here, there, f"{at} {number}", within)
    elif isinstance(before, float) and isinstance(after, float):
        same = isclose(before, after, rel_tol=within) or (isnan(before) and isnan(after))
        if not same:
            yield f"{at}: {before!r} before, {after!r} now"
    elif isinstance(before, str) and isinstance(after, str):
        here, there = plain(before), plain(after)
        if here != there:
            same = takewhile(lambda pair: pair[0] == pair[1], zip(here, there, strict=False))
            start = max(sum(1 for _ in same) - SHOWN // 2, 0)
            here, there = here[start : start + SHOWN], there[start : start + SHOWN]
            yield f"{at}: {here!r} before, {there!r} now"
    elif before != after or type(before) is not type(after):
        yield f"{at}: {json.dumps(before)[:SHOWN]} before, {json.dumps(after)[:SHOWN]} now"


def run_differences(before: Any, after: Any) -> Iterator[str]:
    """What a later record has lost or changed; claims that are new are none."""
    now = {claim["id"]: claim for claim in after["claims"]}
    for claim in before["claims"]:
        name = claim["id"]
        if (found := now.get(name)) is None:
            yield f"{name}: gone"
            continue
        yield from _tallied(name, claim, found)
        for kind, key, fields in (
            ("form", "forms", ("name", "latex")),
            ("ledger", "ledgers", ("form", "proved", "argued", "basis", "human", "met")),
            ("variant", "variants", ("id", "convicted", "ledger_fails")),
        ):
            later = {one[fields[0]]: one for one in found[key]}
            for one in claim[key]:
                same = later.get(one[fields[0]], dict.fromkeys(fields, "gone"))
                for field in fields:
                    at = f"{name}, {kind} {one[fields[0]]}: {field}"
                    yield from differences(one[field], same[field], at)
                if "tally" in one and "tally" in same:
                    yield from _tallied(f"{name}, form {one['name']}", one, same)
    standing = {(e["claim"], e["column"]): e["standing"] for e in after["matrix"]["entries"]}
    for entry in before["matrix"]["entries"]:
        place = entry["claim"], entry["column"]
        yield from differences(entry["standing"], standing.get(place), f"matrix {place}")
    yield from differences([], after["missing_parts"], "missing parts")
    kept = [claim for claim in before["claims"] if claim["id"] in now]
    decided = sum(now[claim["id"]]["escalated"] for claim in kept)
    if decided > REFEREED * (then := sum(claim["escalated"] for claim in kept)):
        yield f"{decided} checks were decided exactly, {then} before"


def _tallied(name: str, before: Any, after: Any) -> Iterator[str]:
    """Fewer pairs, systems or holding checks, or more of the other verdicts; of vacuous ones more
    than there are more checks."""
    for what in ("pairs", "systems"):
        if what in before and after[what] < before[what]:
            yield f"{name}: {after[what]} {what}, {before[what]} before"
    grown = sum(after["tally"].values()) - sum(before["tally"].values())
    for verdict, count in before["tally"].items():
        more = after["tally"][verdict] - count
        if more < 0 if verdict == "holds" else more > (grown if verdict == "vacuous" else 0):
            yield f"{name}: {count + more} {verdict}, {count} before"
