"""Plant every fault of the list in a copy of the code, and see who convicts it: `tox -e planted`.

    python tests/planted/planted_run.py [ID…] [--jobs N]

A line for each fault: the claim that convicted it, by which attack, and after how long; at the end
the counts. Exit 1 if fewer than 90 % of those that claims may judge are convicted by one, or one
that was listed as caught by a unit test is not; 2 if the list itself is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from time import perf_counter

from planted_faults import ROOT, Fault, FaultError, check, listed, plant, pristine

LEAST = 0.9  # of the faults that claims may judge, convicted by a claim
TIMEOUT = 600  # seconds, far above what any attack takes: a fault may make one endless
ATTACK = Path(__file__).with_name("planted_attack.py")


@dataclass(frozen=True)
class Outcome:
    """Who convicted a fault: a claim, a unit test, or nobody."""

    fault: Fault
    by: str  # "claim", "test" or "nobody"
    told: str
    seconds: float

    @property
    def line(self) -> str:
        """One line of the output."""
        sign = {"claim": "convicted", "test": "by a test", "nobody": "SURVIVED"}[self.by]
        return f"{sign:9}  {self.fault.id:32} {self.told}  ({self.seconds:.1f} s)"


def judged(fault: Fault, copy: Path) -> Outcome:
    """Plant a fault in a copy of what `pristine` made, and run what is to convict it."""
    start = perf_counter()
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        home = Path(folder, "code")
        plant(fault, copy, home)
        by, told = attacked(fault, home) if fault.claims else tested(fault, home)
    return Outcome(fault, by, told, perf_counter() - start)


def ran(command: Sequence[str], home: Path) -> subprocess.CompletedProcess[str] | None:
    """A command beside the planted code, None if it did not end."""
    told = {"PYTHONPATH": str(home), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    try:
        return subprocess.run(
            [sys.executable, *command], cwd=home, env=os.environ | told, text=True,
            capture_output=True, timeout=TIMEOUT, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None


def attacked(fault: Fault, home: Path) -> tuple[str, str]:
    """What the claims say."""
    asked = {"home": str(home)} | {
        name: getattr(fault, name) for name in ("claims", "attacks", "kinds")
    }
    done = ran([str(ATTACK), json.dumps(asked)], home)
    if done is None:
        return "nobody", f"the attack did not end in {TIMEOUT} s"
    if done.returncode not in (0, 1) or not done.stdout:
        last = (done.stderr.strip().splitlines() or ["no word"])[-1]
        return "nobody", f"the attack broke: {last[:160]}"
    found = json.loads(done.stdout.splitlines()[-1])
    who = f"{found['claim']} {found['form']}".strip()
    if done.returncode == 1:
        return "claim", f"{who}: {found['verdict']}, {found['attack']}"
    tried = f"{', '.join(fault.claims)}: {', '.join(fault.attacks)}"
    return "nobody", f"{found['verdict']} ({tried})"


def tested(fault: Fault, home: Path) -> tuple[str, str]:
    """What the unit test says: only a test that fails convicts, none that cannot be run."""
    place = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT), str(ROOT / fault.test)]
    done = ran(["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *place], home)
    failed = done is not None and done.returncode == 1
    return ("test" if failed else "nobody"), fault.test


def chosen(faults: Sequence[Fault], ids: Sequence[str]) -> list[Fault]:
    """The faults of these ids, all for none; raises FaultError for an unknown one."""
    if unknown := sorted(set(ids) - {fault.id for fault in faults}):
        raise FaultError(f"no fault is named {unknown[0]}; see tests/planted/faults")
    return [fault for fault in faults if not ids or fault.id in ids]


def summary(outcomes: Sequence[Outcome]) -> tuple[str, int]:
    """The counts in words, and the exit code."""
    count = Counter(outcome.by for outcome in outcomes)
    apart = [outcome.by for outcome in outcomes if outcome.fault.judged]
    share = apart.count("claim") / max(1, len(apart))
    lost = [one.fault.id for one in outcomes if one.by == "nobody" and one.fault.test]
    told = (
        f"{len(outcomes)} faults: {count['claim']} convicted by a claim ({100 * share:.0f} % of "
        f"the {len(apart)} that claims may judge), {count['test']} by a unit test, "
        f"{count['nobody']} by nobody"
    )
    return told, int(share < LEAST or bool(lost))


def main(arguments: Sequence[str]) -> int:
    """Run the list; see the module."""
    parser = argparse.ArgumentParser(description="Plant faults and see who convicts them.")
    parser.add_argument("ids", nargs="*", metavar="ID", help="faults; all by default")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    asked = parser.parse_args(arguments)
    try:
        faults = chosen(listed(), asked.ids)
        check(faults)
    except FaultError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    start, real = perf_counter(), [fault for fault in faults if not fault.benign]
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        copy = Path(folder, "code")
        pristine(copy)
        outcomes = []
        with ThreadPoolExecutor(asked.jobs) as pool:
            for done in as_completed([pool.submit(judged, fault, copy) for fault in real]):
                outcomes.append(done.result())
                print(outcomes[-1].line, flush=True)
    for fault in faults:
        if fault.benign:
            print(f"benign     {fault.id:32} {fault.benign}")
    claims = Counter(o.told.split(" ")[0].rstrip(":") for o in outcomes if o.by == "claim")
    if claims:
        print("claims that convicted: " + ", ".join(f"{k} {v}" for k, v in claims.most_common()))
    told, code = summary(outcomes)
    spent = getrusage(RUSAGE_CHILDREN)
    cpu = (spent.ru_utime + spent.ru_stime) / 60
    print(f"{told}; {(perf_counter() - start) / 60:.1f} min, {cpu:.1f} min of CPU time")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
