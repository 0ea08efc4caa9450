"""A solver's process: a query in, an answer out, each a line of JSON.

z3's own count of steps leaves out much of its algebra, but not even that can go on without an end:
the kernel ends the process where a query takes too much CPU time, and no memory is given to it
beyond its share.  Where the shell allows less (`ulimit -v`) that is its share, and a query that
needs more ends the process: only with all of its memory may z3 answer that it is out of it.  Run as
a script, with the solver's name and these limits; it imports nothing of this package.
"""

import json
import signal
import sys
from collections.abc import Iterable
from importlib import import_module
from math import ceil
from typing import IO, Any

# z3's tactics, each with its share of the steps: nearly all is decided by few of them, in one form
# or the other.
POLYNOMIALS = "simplify", "propagate-values", "qfnra-nlsat"
STRATEGIES: dict[str, tuple[tuple[str, ...], float]] = {
    "quick": (POLYNOMIALS, 0.03),
    "expanded": (POLYNOMIALS, 0.2),
    "polynomials": (POLYNOMIALS, 1.0),
    "general": (("smt",), 1.0),
}
EXHAUSTED = "out of memory"
STOPPED = ("canceled", "max. resource limit exceeded")  # nothing but the steps can


def serve(
    queries: Iterable[bytes], answers: IO[bytes], steps: int, seconds: float, short: bool = False
) -> None:
    """Answer one query after the other; SIGPROF, which nothing handles, ends the process.

    `short` of memory, it exits where z3 is out of it: elsewhere z3 might have answered.
    """
    for line in queries:
        _time(seconds)
        found = answer(steps=steps, **json.loads(line))
        _time(0)
        if short and found["reason"] == EXHAUSTED:
            sys.exit(f"z3 is {EXHAUSTED}")
        answers.write(json.dumps(found).encode() + b"\n")
        answers.flush()


def answer(text: str, terms: list[str], strategy: str, steps: int) -> dict[str, Any]:
    """The verdict on a closed text in SMT-LIB: sat with the values of the terms, unsat, or unknown.

    Each query has its own context, so that the answer is the same whatever was asked before.
    """
    if strategy == "cvc5":
        return {"verdict": _by_cvc5(text), "values": [], "reason": ""}
    import z3

    verdict, values, reason = "unknown", list[str](), ""
    context = z3.Context()
    names, share = STRATEGIES[strategy]
    steps = ceil(share * steps)
    options = {"simplify": ("som", strategy == "expanded"), "qfnra-nlsat": ("inline_vars", True)}
    try:
        tactics = [z3.Tactic(name, ctx=context) for name in names]
        chosen = (
            z3.With(tactic, *options[name]) if name in options else tactic
            for name, tactic in zip(names, tactics, strict=True)
        )
        solver = (z3.Then(*chosen) if len(names) > 1 else tactics[0]).solver()
        solver.set("rlimit", steps)
        solver.from_string(text)
        verdict = str(solver.check())
        if verdict == "sat" and terms:
            model = solver.model()
            found = (model.eval(z3.Real(t, context), model_completion=True) for t in terms)
            values = [v.as_decimal(6) if z3.is_algebraic_value(v) else str(v) for v in found]
        if verdict == "unknown":
            reason = solver.reason_unknown()
            reason = f"beyond {steps} of its own steps" if reason in STOPPED else reason
    except z3.Z3Exception as error:
        said = error.value
        verdict, reason = "unknown", said.decode() if isinstance(said, bytes) else str(said)
    return {"verdict": verdict, "values": values, "reason": reason}


def _by_cvc5(text: str) -> str:
    """The answers of cvc5 to the text, command by command: of a refutation `unsat` alone."""
    import cvc5

    solver = cvc5.Solver()
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "")
    said = ""
    while not (command := parser.nextCommand()).isNull():
        said += str(command.invoke(solver, parser.getSymbolManager()))
    return said.strip() if said.strip() in ("sat", "unsat") else "unknown"


def _time(seconds: float) -> None:
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_PROF, seconds)


def bound_memory(limit: int) -> bool:
    """Limit the addresses of this process to so many bytes, or to the fewer that it may have as it
    is; returns True if they are fewer."""
    if sys.platform == "win32":
        return False
    import resource

    allowed, _ = resource.getrlimit(resource.RLIMIT_AS)
    short = allowed != resource.RLIM_INFINITY and allowed < limit
    share = allowed if short else limit
    resource.setrlimit(resource.RLIMIT_AS, (share, share))
    return short


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asks ends this process
    if sys.platform != "win32":
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # or was ended, and nobody reads
    import_module(sys.argv[1])  # its libraries are no part of what a query may need
    too_little = bound_memory(int(sys.argv[4]))
    serve(sys.stdin.buffer, sys.stdout.buffer, int(sys.argv[2]), float(sys.argv[3]), too_little)
