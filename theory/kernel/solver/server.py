"""The solver's process: a query in, an answer out, each a line of JSON.

z3's own count of steps leaves out much of its algebra, but not even that can go on without an end:
the kernel ends the process where a query takes too much CPU time, and no memory is given to it
beyond its share.  Where the shell allows less (`ulimit -v`) that is its share, and a query that
needs more ends the process: only with all of its memory may z3 answer that it is out of it.  Run as
a script, with these limits; it imports nothing of this package.
"""

import json
import signal
import sys
from collections.abc import Callable, Iterable
from functools import partial
from math import ceil
from typing import IO, Any

import z3

Formula = Any  # z3 ships no types


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


def answer(script: str, terms: list[str], strategy: str, steps: int) -> dict[str, Any]:
    """The verdict on the script, in SMT-LIB: sat with the values of the terms, unsat, or unknown.

    Each query has its own context, so that the answer is the same whatever was asked before.
    """
    verdict, values, reason = "unknown", list[str](), ""
    context = z3.Context()
    tactic, share = STRATEGIES[strategy]
    steps = ceil(share * steps)
    try:
        solver = tactic(context).solver()
        solver.set("rlimit", steps)
        solver.from_string(script)
        verdict = str(solver.check())
        if verdict == "sat" and terms:
            model = solver.model()
            values = [_value(model, z3.Real(term, context)) for term in terms]
        if verdict == "unknown":
            reason = solver.reason_unknown()
            reason = f"beyond {steps} of its own steps" if reason in STOPPED else reason
    except z3.Z3Exception as error:
        verdict, reason = "unknown", _told(error)
    return {"verdict": verdict, "values": values, "reason": reason}


def _polynomials(context: z3.Context, expanded: bool = False) -> z3.Tactic:
    names = ("simplify", "propagate-values", "qfnra-nlsat")
    first, second, last = (z3.Tactic(name, ctx=context) for name in names)
    return z3.Then(z3.With(first, "som", expanded), second, z3.With(last, "inline_vars", True))


def _general(context: z3.Context) -> z3.Tactic:
    return z3.Tactic("smt", ctx=context)


# Each with its share of the steps: nearly all is decided by few of them, in one form or the other.
STRATEGIES: dict[str, tuple[Callable[[z3.Context], z3.Tactic], float]] = {
    "quick": (_polynomials, 0.03),
    "expanded": (partial(_polynomials, expanded=True), 0.2),
    "polynomials": (_polynomials, 1.0),
    "general": (_general, 1.0),
}
EXHAUSTED = "out of memory"
STOPPED = ("canceled", "max. resource limit exceeded")  # nothing but the steps can


def _told(error: z3.Z3Exception) -> str:
    message = error.value
    return message.decode() if isinstance(message, bytes) else str(message)


def _value(model: Formula, atom: Formula) -> str:
    number = model.eval(atom, model_completion=True)
    return number.as_decimal(6) if z3.is_algebraic_value(number) else str(number)


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
    too_little = bound_memory(int(sys.argv[3]))
    serve(sys.stdin.buffer, sys.stdout.buffer, int(sys.argv[1]), float(sys.argv[2]), too_little)
