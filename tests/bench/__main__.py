"""How fast it is, against what a user would write: python -m tests.bench, from a checkout.

Both sides of a row are measured in turn in one run, on one thread; figures are medians. Exit 1 if a
row misses what is asked.
"""

import argparse
import json
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parent))
from clock import REPEATS, Clock
from commands import gate, table
from rows import CUDA_ROWS, ROWS


def main(arguments: list[str]) -> int:
    """Measure the rows, print a line of Markdown for each, and write their records."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    parser.add_argument("--rows", default="", help="names, separated by commas; all by default")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--repeats", type=int, default=REPEATS, help="measurements of each side")
    parser.add_argument("--out", type=Path, help="write bench.json there")
    parser.add_argument(
        "--gate", action="store_true", help="compare units of commands with docs/records alone"
    )
    parser.add_argument(
        "--record", action="store_true", help="also print the units, as docs/records has both"
    )
    given = parser.parse_args(arguments)
    if given.gate:
        return gate()
    if given.device == "cuda" and not torch.cuda.is_available():
        parser.error("no CUDA device is available; choose --device cpu")
    rows = {row.name: row for row in (*ROWS, *(CUDA_ROWS if given.device == "cuda" else ()))}
    names = given.rows.split(",") if given.rows else list(rows)
    if unknown := set(names) - rows.keys():
        parser.error(f"unknown rows {', '.join(sorted(unknown))}; choose among {', '.join(rows)}")
    torch.set_num_threads(1)
    clock, records = Clock(given.device, given.repeats), []
    print("| row | work | ours | other | ratio | asked | |\n" + "| --- " * 7 + "|")
    for name in names:
        record = rows[name].run(clock)
        records.append(record)
        answer = {True: "met", False: "not met", None: ""}[record["met"]]
        low, high = record["spread"]
        print(
            f"| {name} | {rows[name].work} {record['note']} | {record['ours']:.3g} {record['unit']}"
            f" | {record['other']:.3g} | {record['ratio']:.3g} ({low:.3g} to {high:.3g})"
            f" | {record['asked'] or ''} | {answer} |",
            flush=True,
        )
    if given.record:
        print()
        table()
    if given.out is not None:
        given.out.mkdir(parents=True, exist_ok=True)
        (given.out / "bench.json").write_text(json.dumps(records, indent=1) + "\n", "utf-8")
    return int(any(record["met"] is False for record in records))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
