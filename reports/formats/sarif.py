"""Failures of a run in SARIF 2.1.0, as code hosts show them beside the code.

A rule is a claim, a result is one reason why it fails, and a location is a file that the reader
has: the one that states the claim, in a checkout, or one of the reader's project. A code host
rejects the document if a result has no location, and shows nothing if the file does not exist.
"""

import json
import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from rnnbounds.reports.errors import printable
from rnnbounds.reports.records.changes import shorten
from rnnbounds.reports.records.outcome import claim_problems, run_problems
from rnnbounds.reports.records.record import ClaimRecord, Run

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
RUN = "run"  # the rule of what fails of no claim in particular
MOST = 5_000  # what a code host takes of one run
_COUNTED = re.compile(r"(?<!\S)[\d,./]+(?!\S)(?: (\w+?)s?\b)?")  # as `plural` tells it


def sarif(run: Run, files: Mapping[str, str], default_file: str = "") -> bytes:
    """The document, UTF-8; `files` says where claims are stated, `own` is the file that all else is
    shown at, both relative to the folder of the run. Without either a result has no location."""
    claim_lines = {claim.id: list(dict.fromkeys(claim_problems(claim))) for claim in run.claims}
    run_lines = [line for line in run_problems(run) if not _is_claim_line(line, claim_lines)]
    rules = [_rule(claim) for claim in run.claims]
    rules.append({"id": RUN, "shortDescription": {"text": "The run as a whole"}})
    results = [
        _result(index, claim, line, files.get(claim.id, default_file))
        for index, claim in enumerate(run.claims)
        for line in claim_lines[claim.id]
    ]
    results += [_finding(len(run.claims), RUN, line, default_file) for line in run_lines]
    driver = {
        "name": "rnnbounds",
        "rules": rules,
        "properties": {"profile": printable(run.profile), "seed": run.seed},
    }
    version = run.environment.versions.get("rnnbounds")
    if version:
        driver["version"] = printable(shorten(version))
    document = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": driver},
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": {
                "SRCROOT": {"description": {"text": "The folder that the run began in"}}
            },
            "results": results[:MOST],
        }],
    }  # fmt: skip
    return (json.dumps(document, indent=1, allow_nan=False) + "\n").encode()


def _rule(claim: ClaimRecord) -> dict[str, Any]:
    statement = claim.forms[0].text if claim.forms else claim.latex
    return {
        "id": printable(shorten(claim.id)),
        "shortDescription": {"text": printable(shorten(claim.title)) or "A claim"},
        "fullDescription": {"text": printable(shorten(f"{statement}. {claim.source}", 1000))},
        "defaultConfiguration": {"level": "error"},
    }


def _result(rule: int, claim: ClaimRecord, line: str, file: str) -> dict[str, Any]:
    finding = _finding(rule, claim.id, line, file)
    replays = [printable(shorten(check.replay, 2000)) for check in claim.failing[:5]]
    if replays:
        finding["properties"] = {"replay": replays}
    return finding


def _finding(rule: int, id: str, line: str, file: str) -> dict[str, Any]:
    return {
        "ruleId": printable(shorten(id)),
        "ruleIndex": rule,
        "level": "error",
        "message": {"text": printable(shorten(line if id == RUN else f"{id}: {line}", 1000))},
        "locations": [location(file)] if file else [],
        "partialFingerprints": {"problem/v2": fingerprint(id, line)},
    }


def location(file: str, line: int = 1) -> dict[str, Any]:
    """A line of a file, relative to the folder of the run."""
    place = {"uri": quote(file), "uriBaseId": "SRCROOT"}
    return {"physicalLocation": {"artifactLocation": place, "region": {"startLine": line}}}


def fingerprint(id: str, line: str) -> str:
    """Fingerprint of a claim's problem, equal for all seeds: a SHA-256 in 32 hex digits of its line
    without counts and plurals."""
    uncounted = _COUNTED.sub(lambda match: match[1] or "", line)
    return sha256(f"{id}: {uncounted}".encode(errors="backslashreplace")).hexdigest()[:32]


def _is_claim_line(line: str, claim_lines: Mapping[str, list[str]]) -> bool:
    id, _, problem = line.partition(": ")
    return problem in claim_lines.get(id, ())
