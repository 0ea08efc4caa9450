"""``rnnbounds doctor``: what this machine can do, and whether its arithmetic keeps its promises."""

from __future__ import annotations

from rnnbounds.commands.options import Device, FormatOption
from rnnbounds.impl.models.device import check_device
from rnnbounds.properties.doctor import examine_device
from rnnbounds.shell.output import Format, print_json, print_table


def doctor(device: Device = "cpu", format: FormatOption = Format.text) -> int:
    """Check the arithmetic that verdicts rest on, on a device; exit 1 if a check fails."""
    findings = examine_device(check_device(device))
    if format is Format.json:
        print_json([{"check": f.check, "found": f.found, "ok": f.ok} for f in findings])
    else:
        print_table(
            ("check", "found", "ok"),
            [(f.check, f.found, "yes" if f.ok else "NO") for f in findings],
        )
    return int(not all(finding.ok for finding in findings))
