"""How fast it is: one table of rows, each a measurement of ours against another way."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from rnnbounds.bench import models, process, vanilla
from rnnbounds.bench.clock import SYSTEM_FACTOR
from rnnbounds.bench.models import LAYERS, LENGTH, LONG, MODULES, WINDOW
from rnnbounds.bench.row import BenchRow as Row
from rnnbounds.impl.errors import UnknownNameError

SIZE = "n = 16, d = 4, T = 100, K = 32, tanh"
LOOPS, SLOPE, DGEMM = "by loops over t and k", "slope of the logarithms", "of one large product"
FASTER, RATE, PAIR = "times faster", "of dgemm's rate", "µs a (system, sequence)"
PROVED, PLAIN, MATRIX = "a proof that ‖W‖₂ < s", "by svdvals, without a proof", "µs a matrix"
PRODUCTS = "products of the truncation gaps"
QUICK = f"verify {process.PROFILED} --profile quick"
TABLE = (
    Row("truncation", f"truncation gaps of all k ≤ K, {SIZE}", LOOPS, PAIR, FASTER,
        vanilla.truncation_sides, asked=300, on_device=True),
    Row("gradient", f"gradient gaps of all k ≤ K, {SIZE}", f"{LOOPS}, autograd", PAIR, FASTER,
        vanilla.gradient_sides, asked=250, on_device=True),
    Row("rate-16", f"{PRODUCTS}, {SIZE}", DGEMM, "GFLOP/s", RATE,
        partial(vanilla.product_rate, 16, 64), asked=0.12, on_device=True, share=True),
    Row("rate-64", f"{PRODUCTS}, the same but n = 64", DGEMM, "GFLOP/s", RATE,
        partial(vanilla.product_rate, 64, 16), asked=0.4, on_device=True, share=True),
    Row("growth-T", "seconds of the truncated states as T grows, K = 32", SLOPE, "", "slope",
        partial(vanilla.growth, (50, 100, 200, 400, 800), vanilla.growing_length), asked=0.05,
        sense="≤", on_device=True),
    Row("growth-K", "seconds of all truncations as K = T grows", SLOPE, "", "slope",
        partial(vanilla.growth, (8, 16, 32, 64), vanilla.growing_windows), asked=2.1, sense="≤",
        on_device=True),
    Row("growth-systems", f"seconds of the truncation gaps as systems grow, {SIZE}", SLOPE, "",
        "slope", partial(vanilla.growth, (16, 32, 64, 128, 256), vanilla.growing_systems),
        asked=1.0, sense="≤", on_device=True),
    Row("campaign", f"drawn by Hypothesis, built and judged: truncation, {SIZE}, "
        f"{vanilla.SYSTEMS} systems (on CUDA {SYSTEM_FACTOR} times as many) of {vanilla.SEQUENCES} "
        "sequences an example", f"one system an example, {LOOPS}", PAIR, FASTER,
        vanilla.campaign_sides, asked=250, on_device=True),
    Row("descent", "projected descent, N = 10 steps of size 0.01/t in a ball 5 % wider than ‖W‖₂, "
        "n = 16, d = 4, T = 100, tanh", "by a loop over t, autograd and an SVD a step",
        "µs a system", FASTER, vanilla.descent_sides, asked=60, on_device=True),
    *(Row(f"norm-{n}", f"{PROVED}, n = {n}", PLAIN, MATRIX, "of the time",
          partial(models.norm_proof, n), asked=0.3, sense="≤")
      for n in (16, 32, 64, 128, 256)),
    *(Row(f"norm-balls-{n}", f"{PROVED}, n = {n}", "in ball arithmetic", MATRIX, FASTER,
          partial(models.ball_proof, n), asked=50)
      for n in (16, 64)),
    Row("norm-found-16", "the least bound on ‖W‖₂ that is proved, n = 16", PLAIN, MATRIX,
        "of the time", partial(models.least_bound, 16)),
    *(Row(f"inference-{name.lower()}", f"a truncated {name}, k = {WINDOW}, n = 64, one sequence "
          f"of {LONG}, float32", f"by torch.nn.{name}", "ms", FASTER,
          partial(models.time_inference, name, 64, 1, LONG), asked=7 if name == "RNN" else None,
          on_device=True)
      for name in MODULES),
    *(Row(f"inference-{kind}-{name.lower()}", f"a truncated {name}{told}, k = {WINDOW}, sequences "
          f"of {LENGTH}, float32", f"by torch.nn.{name}", "ms", FASTER,
          partial(models.inference_grid, name, layers=layers), asked=0.95, on_device=True)
      for kind, told, layers in (("grid", "", 1), ("stack", f" of {LAYERS} layers", LAYERS))
      for name in MODULES),
    *(Row(f"certify-{cell}", f"certify a {cell} cell, n = {models.N}, d = {models.D}",
          f"by one inference over T = {models.T}", "ms", "inferences",
          partial(models.certify_cost, cell), on_device=True)
      for cell in models.CERTIFIED_CELLS),
    Row("import", "import rnnbounds", "import torch", "ms", FASTER,
        partial(process.startup_cost, process.IMPORT)),
    Row("help", "rnnbounds --help", "import torch", "ms", FASTER,
        partial(process.startup_cost, process.HELP)),
    Row("quick", f"{QUICK}: proof, all attacks, false variants", f"{LOOPS}, the gaps alone", PAIR,
        FASTER, process.quick_profile),
    Row("memory", f"peak memory of {QUICK}", "at most", "GiB", "of the limit", process.peak_memory,
        asked=1.0, sense="≤"),
)  # fmt: skip
ROWS: dict[str, Row] = {row.name: row for row in TABLE}


def select_rows(names: Iterable[str] | None = None) -> tuple[Row, ...]:
    """The rows of these names in the table's order; all of them by default.

    Raises UnknownNameError for a name that no row has.
    """
    selected = set(ROWS if names is None else names)
    for name in sorted(selected - ROWS.keys()):
        raise UnknownNameError("row", name, ROWS)
    return tuple(row for row in ROWS.values() if row.name in selected)
