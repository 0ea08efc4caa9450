"""What the experiments found, as text."""

from __future__ import annotations

from reports.pages.text import ratio
from rnnbounds.experiments import Record
from rnnbounds.experiments.digits.record import Digits
from rnnbounds.experiments.gradients.curves import mean, power
from rnnbounds.experiments.gradients.page import verdict
from rnnbounds.experiments.gradients.record import Closeness
from rnnbounds.experiments.norms import page as norms
from rnnbounds.experiments.norms.record import Norms
from rnnbounds.experiments.students import KINDS
from rnnbounds.experiments.sunspots.record import Sunspots
from rnnbounds.experiments.urnn import page as urnn
from rnnbounds.experiments.urnn.record import Unitary
from rnnbounds.output import echo, print_table


def print_record(record: Record) -> None:
    """The tables of any experiment."""
    match record:
        case Sunspots():
            print_sunspots(record)
        case Closeness():
            print_closeness(record)
        case Unitary():
            print_unitary(record)
        case Digits():
            print_digits(record)
        case Norms():
            print_norms(record)


def print_unitary(record: Unitary) -> None:
    """Mean R² against hidden units for each SNR, and what it says of URNNs."""
    for snr, ceiling in zip(record.setting.snr, record.ceilings, strict=True):
        curves = [record.curve(kind, snr) for kind in KINDS]
        rows = [
            (str(n), *(f"{c.mean[i]:.4f} ± {c.spread[i]:.4f}" for c in curves))
            for i, n in enumerate(record.setting.hidden)
        ]
        print_table((f"units, {snr:g} dB (≤ {ceiling:.4f})", *KINDS), rows)
    echo(urnn.outcome(record.comparisons))


def print_digits(record: Digits) -> None:
    """Test accuracies after the last epoch."""
    print_table(
        ("network", "test accuracy", "least", "greatest"),
        [
            (
                told.kind,
                f"{told.mean[-1]:.1%} ± {told.spread[-1]:.1%}",
                f"{min(told.accuracy[-1]):.1%}",
                f"{max(told.accuracy[-1]):.1%}",
            )
            for told in record.learned
        ],
    )


def print_norms(record: Norms) -> None:
    """How many systems each norm certifies, and with which windows."""
    heads = ("norm", "certifies", "shortest k", "it alone", "median k", "greatest k")
    print_table(heads, list(norms.rows(record)))
    for name, reason in record.skipped.items():
        echo(f"{name}: not tried: {reason}")
    echo(norms.outcome(record))


def print_sunspots(record: Sunspots) -> None:
    """The networks and the truncations as text."""
    print_table(
        ("network", "verdict", "λ", "norm", "held-out error"),
        [
            (
                told.name,
                told.verdict,
                f"{told.certificate['lambda']:.6g}",
                told.certificate["norm"],
                f"{told.error:.2f} sunspots",
            )
            for told in (record.stable, record.unconstrained)
        ],
    )
    if record.truncations:
        print_table(
            ("ε", "k", "‖h − hᵏ‖₂ observed", "forecasts observed", "certified"),
            [
                (
                    f"{cut.epsilon:g}",
                    cut.k,
                    f"{cut.gap:.2g}",
                    f"{cut.forecast_gap:.2g}",
                    f"{cut.forecast_bound:.3g}",
                )
                for cut in record.truncations
            ],
        )


def print_closeness(record: Closeness) -> None:
    """Mean gaps of gradients and weights against k, each beside its bound, as text."""
    curves = {"gradients": record.gradients}
    curves |= {f"weights, steps {told.name}": told.weights for told in record.descents}
    rows = zip(
        record.setting.windows,
        *(
            column
            for curve in curves.values()
            for column in (
                [ratio(gap) for gap in mean(curve)],
                [power(max(bounds)) for bounds in zip(*curve.log10_bound, strict=True)],
            )
        ),
        strict=True,
    )
    names = [head for name in curves for head in (name, "certified")]
    print_table(("k", *names), list(rows))
    for told in record.descents:
        echo(verdict(record, told))
