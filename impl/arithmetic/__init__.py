"""Numbers that a cell's step runs over: carriers, what a number is, and lifts, what it carries.

| lift | over floats | over balls, rationals | over intervals | near a run |
|---|---|---|---|---|
| value | `base.Rows` | `entries.balls.Columns`, `entries.rationals.Ratios` | `spans.Spans` | |
| tangent | `derivatives.dual_numbers.Dual` | the same | | |
| slope | the same over plain intervals | | `slopes.Slopes` | |
| jet | | | `derivatives.second_order.Jets` | |
| rounding | `memory.running.Near` | | `spans.Spans` of a run, `gradients.step_errors.Off` | |
| secant | | | | `memory.tube.arithmetic.Tube` |

Intervals are rounded outwards, or plain and differentiable: `certificate.plain_slopes.Plain`.
"""
