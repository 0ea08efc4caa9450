"""How fast it is: one table of rows, each a measurement of ours against another way."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from rnnbounds.bench import models, process, serving, vanilla
from rnnbounds.bench.clock import SYSTEM_FACTOR
from rnnbounds.bench.models import LAYERS, LENGTH, LONG, MODULES, WINDOW
from rnnbounds.bench.row import BenchRow as Row
from rnnbounds.impl.errors import InputError, UnknownNameError

SIZE = "n = 16, d = 4, T = 100, K = 32, tanh"
LOOPS, SLOPE, DGEMM = "by loops over t and k", "slope of the logarithms", "of one large product"
FASTER, RATE, PAIR = "times faster", "of dgemm's rate", "µs a (system, sequence)"
PROVED, PLAIN, MATRIX = "a proof that ‖W‖₂ < s", "by svdvals, without a proof", "µs a matrix"
PRODUCTS = "products of the truncation gaps"
CUDNN = "by cuDNN without TF32"
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
          partial(models.time_inference, name, 64, 1, LONG), asked=7 if name == "RNN" else None)
      for name in MODULES),
    *(Row(f"inference-{kind}-{name.lower()}", f"a truncated {name}{told}, k = {WINDOW}, sequences "
          f"of {LENGTH}, float32", f"by torch.nn.{name}", "ms", FASTER,
          partial(models.inference_grid, name, layers=layers), asked=0.95)
      for kind, told, layers in (("grid", "", 1), ("stack", f" of {LAYERS} layers", LAYERS))
      for name in MODULES),
    *(Row(f"serve-{cell}{suffix}", f"a truncated {cell}{told}, k = {serving.WINDOW}, d = "
          f"{serving.CHANNELS}, {len(serving.GRID)} sizes, float32, the least of them", CUDNN, "µs",
          "of what is asked", partial(serving.measure_sizes, cell, layers, serving.GRID), asked=1,
          on_device=True, on_cuda_alone=True)
      for layers, suffix, told in ((1, "", ""), (2, "-stack", " in two layers"))
      for cell in serving.GATES),
    *(Row(f"length-{cell}", f"a truncated {cell}, k = {serving.WINDOW}, n = 64, one sequence of "
          f"{serving.BY_LENGTH[0].length} to {serving.BY_LENGTH[-1].length}, float32", CUDNN, "µs",
          "of what is asked", partial(serving.measure_sizes, cell, 1, serving.BY_LENGTH), asked=1,
          on_device=True, on_cuda_alone=True)
      for cell in ("rnn-tanh", "lstm", "gru")),
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


def select_rows(names: Iterable[str] | None = None, device: str = "cpu") -> tuple[Row, ...]:
    """The rows of these names in the table's order; by default all that the device can measure.

    Raises UnknownNameError for a name that no row has, InputError for a row that needs CUDA.
    """
    available = {name for name, row in ROWS.items() if device != "cpu" or not row.on_cuda_alone}
    selected = set(available if names is None else names)
    for name in sorted(selected - ROWS.keys()):
        raise UnknownNameError("row", name, ROWS)
    for name in sorted(selected - available):
        raise InputError(f"the row {name} compares with cuDNN; add --device cuda, or leave it out")
    return tuple(row for row in ROWS.values() if row.name in selected)
