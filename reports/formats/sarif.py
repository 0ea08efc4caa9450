"""What fails in a run, in SARIF 2.1.0, as code hosts show it beside the code.

A rule is a claim, a result is a reason why it fails, a location is the file that states the claim.
"""

import json
from collections.abc import Mapping
from typing import Any

from reports.errors import printable
from reports.records.changes import cut
from reports.records.outcome import claim_problems, problems
from reports.records.record import ClaimRecord, Run

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
RUN = "run"  # the rule of what fails of no claim in particular
MOST = 5_000  # what a code host takes of one run
CLAIMS = "theory/claims"


def sarif(run: Run, files: Mapping[str, str]) -> bytes:
    """The document, UTF-8; `files` says where each claim is stated, relative to the source."""
    told = {claim.id: list(dict.fromkeys(claim_problems(claim))) for claim in run.claims}
    whole = [line for line in problems(run) if not _of_a_claim(line, told)]
    rules = [_rule(claim) for claim in run.claims]
    rules.append({"id": RUN, "shortDescription": {"text": "The run as a whole"}})
    results = [
        _result(index, claim, line, files.get(claim.id, CLAIMS))
        for index, claim in enumerate(run.claims)
        for line in told[claim.id]
    ]
    results += [_finding(len(run.claims), RUN, line, CLAIMS) for line in whole]
    driver = {
        "name": "rnnbounds",
        "rules": rules,
        "properties": {"profile": printable(run.profile), "seed": run.seed},
    }
    version = run.environment.versions.get("rnnbounds")
    if version:
        driver["version"] = printable(cut(version))
    document = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": driver},
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": {
                "SRCROOT": {"description": {"text": "The folder that holds the rooms"}}
            },
            "results": results[:MOST],
        }],
    }  # fmt: skip
    return (json.dumps(document, indent=1, allow_nan=False) + "\n").encode()


def _rule(claim: ClaimRecord) -> dict[str, Any]:
    statement = claim.forms[0].text if claim.forms else claim.latex
    return {
        "id": printable(cut(claim.id)),
        "shortDescription": {"text": printable(cut(claim.title)) or "A claim"},
        "fullDescription": {"text": printable(cut(f"{statement}. {claim.source}", 1000))},
        "defaultConfiguration": {"level": "error"},
    }


def _result(rule: int, claim: ClaimRecord, line: str, file: str) -> dict[str, Any]:
    found = _finding(rule, claim.id, line, file)
    replays = [printable(cut(check.replay, 2000)) for check in claim.failing[:5]]
    if replays:
        found["properties"] = {"replay": replays}
    return found


def _finding(rule: int, id: str, line: str, file: str) -> dict[str, Any]:
    place = {"uri": file, "uriBaseId": "SRCROOT"}
    return {
        "ruleId": printable(cut(id)),
        "ruleIndex": rule,
        "level": "error",
        "message": {"text": printable(cut(line if id == RUN else f"{id}: {line}", 1000))},
        "locations": [
            {"physicalLocation": {"artifactLocation": place, "region": {"startLine": 1}}}
        ],
        "partialFingerprints": {"problem/v1": printable(cut(f"{id}: {line}"))},
    }


def _of_a_claim(line: str, told: Mapping[str, list[str]]) -> bool:
    id, _, rest = line.partition(": ")
    return rest in told.get(id, ())
