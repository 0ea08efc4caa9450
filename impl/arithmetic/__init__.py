"""Numbers that a cell's step runs over: carriers, what a number is, and lifts, what it carries.

| lift | floats | balls, rationals | intervals | zonotopes |
|---|---|---|---|---|
| value | `base.Rows` | `entries`: `Columns`, `RationalColumns` | `IntervalVector` | |
| tangent | `derivatives.dual_numbers.Dual` | the same | | |
| slope | | | `slopes.LipschitzBounds` | |
| jet | | | `derivatives.second_order.Jets` | |
| rounding | `running.RunningError` | | `gradients.step_errors.RoundingError` | |
| secant | | | | `near.arithmetic.Tube` |

Intervals are rounded outwards, or plain and differentiable, as an arithmetic is told by its
`interval`: `certificate.plain_intervals.DifferentiableInterval`. Values of intervals may be those
of the run of a dtype.
"""
