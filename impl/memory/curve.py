"""The forgetting curve: gaps between full and truncated runs, for each length of truncation."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

QUANTILES = (0.5, 0.9, 0.99)

CurveRow = dict[str, float]


def forgetting_curve(ks: Sequence[int], gaps: Tensor) -> list[CurveRow]:
    """The curve's rows: for each k the quantiles 0.5, 0.9 and 0.99 of gaps (M, len(ks)), and the
    largest."""
    quantiles = torch.quantile(gaps, gaps.new_tensor(QUANTILES), dim=0)
    names = [f"q{100 * q:g}" for q in QUANTILES]
    return [
        {"k": k, **dict(zip(names, quantiles[:, i].tolist(), strict=True)),
         "worst": float(gaps[:, i].amax())}
        for i, k in enumerate(ks)
    ]  # fmt: skip


def draw_curve(axes: Any, rows: Sequence[CurveRow], eps: Sequence[float], title: str) -> None:
    """Draw the curve and each ε on axes of matplotlib."""
    for name in rows[0].keys() - {"k"}:
        axes.plot([row["k"] for row in rows], [row[name] for row in rows], label=name)
    for epsilon in eps:
        axes.axhline(epsilon, linestyle=":", color="grey")
    axes.set(yscale="log", xlabel="k", ylabel="gap of outputs", title=title)
    axes.legend()
