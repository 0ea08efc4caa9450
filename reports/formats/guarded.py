"""Results of a guard for CI systems: JUnit, SARIF, Markdown.

JUnit: one test case per model, one failure with all reasons. SARIF: one result per reason, located
at the model's table in the settings.
"""

import json
from xml.etree.ElementTree import Element, SubElement, tostring

from rnnbounds.reports.errors import printable
from rnnbounds.reports.formats.sarif import SCHEMA, fingerprint, location
from rnnbounds.reports.pages.text import NOTHING, round_up
from rnnbounds.reports.records.changes import escape_markdown, shorten
from rnnbounds.reports.records.guarded import GuardResults, table_line

RULE = "model"


def junit(results: GuardResults) -> bytes:
    """The document of one suite, UTF-8."""
    unread = sum(model.unread for model in results.outcomes)
    failing = sum(not model.passes for model in results.outcomes) - unread
    counts = {
        "tests": str(len(results.outcomes)), "failures": str(failing), "errors": str(unread)
    }  # fmt: skip
    suite = Element("testsuite", {"name": "rnnbounds", **counts, "timestamp": results.finished})
    for model in results.outcomes:
        case = SubElement(suite, "testcase", classname="rnnbounds.models", name=model.name)
        if model.passes:
            SubElement(case, "system-out").text = printable(model.line)
        else:
            kind = "error" if model.unread else "failure"
            failure = SubElement(case, kind, message=printable("; ".join(model.problems)))
            failure.text = "\n".join(map(printable, (model.line, *model.problems, *model.advice)))
    root = Element("testsuites", counts)
    root.append(suite)
    document: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def sarif(guard_results: GuardResults, file: str, settings: str) -> bytes:
    """The document, UTF-8; `file` holds the settings, relative to the folder of the run."""
    results = [
        {
            "ruleId": RULE,
            "ruleIndex": 0,
            "level": "error",
            "message": {
                "text": printable(
                    shorten("; ".join((f"{model.name}: {line}", *model.advice)), 1000)
                )
            },
            "locations": [
                location(file, table_line(settings, f"tool.rnnbounds.models.{model.name}"))
            ],
            "partialFingerprints": {"problem/v2": fingerprint(model.name, line)},
        }
        for model in guard_results.outcomes
        for line in model.problems
    ]
    description = {"text": "A recurrent model keeps what was asked of it"}
    rule = {"id": RULE, "shortDescription": description, "defaultConfiguration": {"level": "error"}}
    run = {
        "tool": {"driver": {"name": "rnnbounds", "rules": [rule]}},
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return (json.dumps(document, indent=1, allow_nan=False) + "\n").encode()


def markdown(results: GuardResults) -> str:
    """The verdict, a row for each model, what changed and what fails."""
    lines = [
        f"## rnnbounds: {results.verdict}",
        "",
        "| model | | λ | k | answer |",
        "|---|---|---|---|---|",
    ]
    for model in results.outcomes:
        lam = NOTHING if model.lam is None else round_up(model.lam)
        k = NOTHING if model.k is None else str(model.k)
        mark = "passes" if model.passes else "**fails**"
        lines.append(
            f"| {escape_markdown(model.name)} | {mark} | {lam} | {k} | "
            f"{escape_markdown(shorten(model.line))} |"
        )
    for model in results.outcomes:
        if model.problems or (model.changes is not None and model.changes.rows):
            lines += ["", f"### {escape_markdown(model.name)}", ""]
            lines += [f"- {escape_markdown(shorten(line))}" for line in model.problems]
            lines += [
                f"- to do: {escape_markdown(shorten(line))}"
                for line in model.advice
                if model.problems
            ]
            lines += [] if model.changes is None else ["", model.changes.markdown]
    return "\n".join((*lines, ""))
