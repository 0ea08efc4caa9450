"""Bounds over at most T steps, of models whose states may grow for ever.

From s_0 = 0 under ‖x_t‖₂ ≤ B every s_t with t ≤ T lies in |s_i| ≤ r_T,i, where r_0 = 0 and

    r_{t+1} = max(r_t, sup {|φ(s, x)| : |s| ≤ r_t, ‖x‖₂ ≤ B})    unit by unit, rounded up.

Of an LSTM whose forget gate reaches 1 this is |c_T| ≤ T ī z̄ at most, with the gates' bounds on r_T.
Source: Moore, Kearfott & Cloud, Introduction to Interval Analysis.
"""

import math
from dataclasses import dataclass
from typing import Any

import torch

from rnnbounds.impl.arithmetic.inputs.sets import InputSet, bound_of
from rnnbounds.impl.arithmetic.interval_arithmetic import IntervalArithmetic, step_bounds
from rnnbounds.impl.errors import RangeError, at_least
from rnnbounds.impl.memory.runs import Runner
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.models.surroundings import isolated
from rnnbounds.impl.numbers.json_values import finite_or_none
from rnnbounds.impl.numbers.outward import norm_up

MOST = 10_000  # steps


@dataclass(frozen=True)
class Horizon:
    """Upper bounds of all runs of at most `steps` steps from zero: |s_t,i| ≤ states_i, ‖h_t‖₂ ≤
    output. Infinite where a bound overflows."""

    steps: int
    states: tuple[float, ...]
    output: float

    def line(self) -> str:
        """The bounds in a sentence."""
        scope = f"over at most {self.steps} steps from the zero state"
        largest = max(range(len(self.states)), key=self.states.__getitem__)
        if math.isinf(self.states[largest]):
            return f"{scope}: no bound, s_{largest + 1} may grow beyond all numbers of float64"
        return (
            f"{scope}: ‖h‖₂ ≤ {at_least(self.output)}, and of all |s_i| the largest is "
            f"|s_{largest + 1}| ≤ {at_least(self.states[largest])}"
        )

    def to_json(self) -> dict[str, Any]:
        """As plain JSON data; what is infinite is null."""
        return {
            "steps": self.steps,
            "states": list(map(finite_or_none, self.states)),
            "output": finite_or_none(self.output),
        }


@isolated()
def horizon(model: LoadedModel[Any], input_bound: float | InputSet, steps: int) -> Horizon:
    """Bound all runs of a model of at most so many steps from the zero state, ‖x_t‖₂ ≤ B or x_t in
    a set, in real arithmetic of the weights as stored. Raises RangeError for no number of steps."""
    if type(steps) is not int or not 0 < steps <= MOST:
        raise RangeError("the horizon", steps, f"a whole number of steps from 1 to {MOST}")
    B, runner, d = bound_of(input_bound), Runner.of(model), model.d
    with torch.no_grad():
        box = torch.zeros(1, runner.states, dtype=torch.float64)
        step = step_bounds(runner.program, IntervalArithmetic(runner.parameters), box, B, d)
        for _ in range(steps):
            before, box = box, torch.maximum(box, step(box).nan_to_num(torch.inf, torch.inf))
            if torch.equal(box, before):
                break
    output = norm_up(box[:, runner.states - runner.n :])
    return Horizon(steps, tuple(box[0].tolist()), float(output))
