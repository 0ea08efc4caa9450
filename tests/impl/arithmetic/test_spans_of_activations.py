"""What a run's function returns lies where spans have it, far to the left as well."""

import pytest
import torch

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS, LIBRARY_ACTIVATIONS
from rnnbounds.impl.arithmetic.interval_arithmetic import IntervalArithmetic, IntervalVector
from rnnbounds.impl.arithmetic.intervals import Interval
from rnnbounds.impl.arithmetic.roundings import DtypeRun
from rnnbounds.impl.models.torch_machine import keeps_to_its_model

KNOWN = ACTIVATIONS | LIBRARY_ACTIVATIONS
DTYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", KNOWN)
def test_values_of_a_run(name: str, dtype: torch.dtype, fused: bool) -> None:
    """GELU returns 0 where it is small beside its argument; erf keeps to no model in bfloat16, of
    which `step_error` knows nothing then."""
    if not keeps_to_its_model(name, dtype=str(dtype).removeprefix("torch.")):
        assert (name, dtype) == ("erf", torch.bfloat16)
        return
    near = torch.logspace(-12, 0, 25)
    z = torch.cat([torch.linspace(-42, 42, 85), near, -near]).to(dtype)[None]
    run = DtypeRun(dtype, fused)
    at = IntervalVector(Interval(z.double(), z.double()), run)
    told = IntervalArithmetic({}, run=run).activate(name, at).range
    found = KNOWN[name](z).double()
    assert bool(((told.low <= found) & (found <= told.high)).all())
