"""Results of a guard for CI systems: JUnit, SARIF, Markdown.

JUnit: one test case per model, one failure with all reasons. SARIF: one result per reason, located
at the model's table in the settings.
"""

import json
from xml.etree.ElementTree import Element, SubElement, tostring

from rnnbounds.reports.errors import printable
from rnnbounds.reports.formats.sarif import SCHEMA, fingerprint, location
from rnnbounds.reports.pages.text import NOTHING, up
from rnnbounds.reports.records.changes import cut, escaped
from rnnbounds.reports.records.guarded import Guarded, lines_of

RULE = "model"


def junit(found: Guarded) -> bytes:
    """The document of one suite, UTF-8."""
    unread = sum(one.unread for one in found.outcomes)
    failing = sum(not one.passes for one in found.outcomes) - unread
    counts = {
        "tests": str(len(found.outcomes)), "failures": str(failing), "errors": str(unread)
    }  # fmt: skip
    suite = Element("testsuite", {"name": "rnnbounds", **counts, "timestamp": found.finished})
    for one in found.outcomes:
        case = SubElement(suite, "testcase", classname="rnnbounds.models", name=one.name)
        if one.passes:
            SubElement(case, "system-out").text = printable(one.line)
        else:
            kind = "error" if one.unread else "failure"
            failure = SubElement(case, kind, message=printable("; ".join(one.problems)))
            failure.text = "\n".join(map(printable, (one.line, *one.problems, *one.advice)))
    root = Element("testsuites", counts)
    root.append(suite)
    document: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def sarif(found: Guarded, file: str, settings: str) -> bytes:
    """The document, UTF-8; `file` holds the settings, relative to the folder of the run."""
    results = [
        {
            "ruleId": RULE,
            "ruleIndex": 0,
            "level": "error",
            "message": {
                "text": printable(cut("; ".join((f"{one.name}: {line}", *one.advice)), 1000))
            },
            "locations": [location(file, lines_of(settings, f"tool.rnnbounds.models.{one.name}"))],
            "partialFingerprints": {"problem/v2": fingerprint(one.name, line)},
        }
        for one in found.outcomes
        for line in one.problems
    ]
    about = {"text": "A recurrent model keeps what was asked of it"}
    rule = {"id": RULE, "shortDescription": about, "defaultConfiguration": {"level": "error"}}
    run = {
        "tool": {"driver": {"name": "rnnbounds", "rules": [rule]}},
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return (json.dumps(document, indent=1, allow_nan=False) + "\n").encode()


def markdown(found: Guarded) -> str:
    """The verdict, a row for each model, what changed and what fails."""
    lines = [
        f"## rnnbounds: {found.verdict}",
        "",
        "| model | | λ | k | answer |",
        "|---|---|---|---|---|",
    ]
    for one in found.outcomes:
        lam = NOTHING if one.lam is None else up(one.lam)
        k = NOTHING if one.k is None else str(one.k)
        mark = "passes" if one.passes else "**fails**"
        lines.append(f"| {escaped(one.name)} | {mark} | {lam} | {k} | {escaped(cut(one.line))} |")
    for one in found.outcomes:
        if one.problems or (one.changes is not None and one.changes.rows):
            lines += ["", f"### {escaped(one.name)}", ""]
            lines += [f"- {escaped(cut(line))}" for line in one.problems]
            lines += [f"- to do: {escaped(cut(line))}" for line in one.advice if one.problems]
            lines += [] if one.changes is None else ["", one.changes.markdown]
    return "\n".join((*lines, ""))
