"""The answer of a certificate in a sentence, and ε in the units of the output."""

from fractions import Fraction

from rnnbounds.reports.pages.model.answer import (
    epsilon_meaning,
    epsilon_share,
    factor_text,
    output_bound,
)

CERTIFIED = {
    "verdict": "certified",
    "truncation": [{"eps": 0.1, "k": 23}, {"eps": 0.01, "k": 35}],
    "constants": {"B_h": 1.4375},
    "readout": None,
}


def test_epsilon_in_units() -> None:
    """Of the output, or of a readout's predictions; nothing is said of what is not bounded."""
    assert epsilon_meaning(CERTIFIED) == (
        "ε bounds the Euclidean distance of two outputs h, where ‖h‖₂ ≤ 1.4375"
    )
    read = CERTIFIED | {"readout": {"tensor": "head.weight", "norm": 3.0}}
    assert Fraction(output_bound(read)) >= Fraction(3 * 1.4375)
    assert epsilon_meaning(read).endswith("distance of two y, where ‖y‖₂ ≤ 4.31251")
    assert output_bound(CERTIFIED | {"constants": {"B_h": None}}) is None
    assert "where" not in epsilon_meaning(CERTIFIED | {"constants": {}})


def test_shares_are_rounded_up() -> None:
    """ε looks no smaller than it is."""
    assert epsilon_share(0.1, 1.4375) == "7.0 %"
    for epsilon, whole in ((0.1, 3.0), (1e-9, 7.0), (2.0, 3.0)):
        assert Fraction(epsilon_share(epsilon, whole).split()[0]) >= 100 * Fraction(epsilon) / 3 / (
            Fraction(whole) / 3
        )


def test_factors() -> None:
    """Rounded up, below 1 where they are; infinite ones as a sign."""
    assert factor_text(0.1234564) == "0.123457"
    assert factor_text(1 - 2.0**-53) == "0.99999999999999989"
    assert factor_text(float("inf")) == "∞"
