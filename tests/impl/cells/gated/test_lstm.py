import pytest
from gated_draws import (
    draw,
    lstm,
)


@pytest.mark.slow
def test_better_than_the_proposition():
    """λ in the ∞-norm is at most Miller and Hardt's, and Perron's at most either."""
    for seed in range(20):
        cell = draw(lstm, 3, scale=0.5, seed=seed)
        box = cell.box(1.0)
        told, found = cell.constants(box, 1.0), cell.compare_on(box, 1.0)
        whole = told["a"] + told["f_bar"]
        published = max(whole, told["q"] + told["o_bar"] * whole)
        factors = [float(found.factor(getattr(found, name)())) for name in
                   ("infinity", "comparison", "perron")]  # fmt: skip
        assert factors[0] <= published * (1 + 1e-12)
        assert factors[2] <= min(factors[0], factors[1] * (1 + 1e-6))
        if told["theta"] < 1:
            assert factors[0] <= 1 - (1 - told["theta"]) * (1 - told["f_bar"]) + 1e-12
