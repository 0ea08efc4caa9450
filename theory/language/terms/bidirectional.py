"""Formal terms of models in both directions: runs forward and back, and a second layer on both.

One layer runs φ_f forward and φ_r back over the inputs x_1, …, x_{2T}; the upper layer reads both
its states at each input. In a window of the inputs s + 1, …, m all runs start from zero at its
ends.
"""

from rnnbounds.theory.language.definitions import define
from rnnbounds.theory.language.statement import eq
from rnnbounds.theory.language.terms.variables import j, m, s, x
from rnnbounds.theory.language.terms.vectors import Norm, Scalar, entry, function

# One step of each cell: ahead(h, x), back(h, x); of the upper layer with both states below
ahead, back = (function(name, module=__name__) for name in ("ahead", "back"))
top_ahead, top_back = (function(name, module=__name__) for name in ("top_ahead", "top_back"))
# ahead_run(x, s, j): after j steps from zero on x_{s+1}, …, x_{s+j}; back_run(x, m, j): on x_m, …,
# x_{m−j+1}
ahead_run = function("ahead_run", module=__name__, defined=True)
back_run = function("back_run", module=__name__, defined=True)
# top_ahead_run(x, s, m, j) and top_back_run(x, s, m, j): of the upper layer after j steps from the
# left and from the right end of the window s + 1, …, m
top_ahead_run = function("top_ahead_run", module=__name__, defined=True)
top_back_run = function("top_back_run", module=__name__, defined=True)
# The norms in which the cells contract, as their certificates print them
ahead_norm, back_norm = (function(name, Norm, __name__) for name in ("ahead_norm", "back_norm"))
top_ahead_norm, top_back_norm = (
    function(name, Norm, __name__) for name in ("top_ahead_norm", "top_back_norm")
)
# What is known of a printed certificate: left_ahead(j), left_back(j), what a cell keeps of its
# start after j steps; top_ahead_left(i, j), top_back_left(i, j), how far the upper layer's states
# in a window of i + j inputs are from those of the whole run after j steps
left_ahead, left_back = (function(name, Scalar, __name__) for name in ("left_ahead", "left_back"))
top_ahead_left, top_back_left = (
    function(name, Scalar, __name__) for name in ("top_ahead_left", "top_back_left")
)

BOTH_RUNS = define(
    "runs in both directions",
    (x, s, m, j),
    eq(ahead_run(x, s, 0), 0),
    eq(ahead_run(x, s, j + 1), ahead(ahead_run(x, s, j), entry(x, s + j + 1))),
    eq(back_run(x, m, 0), 0),
    eq(back_run(x, m, j + 1), back(back_run(x, m, j), entry(x, m - j))),
)
TOP_RUNS = define(
    "runs of the upper layer",
    (x, s, m, j),
    eq(top_ahead_run(x, s, m, 0), 0),
    eq(
        top_ahead_run(x, s, m, j + 1),
        top_ahead(top_ahead_run(x, s, m, j), ahead_run(x, s, j + 1), back_run(x, m, m - s - j)),
    ),
    eq(top_back_run(x, s, m, 0), 0),
    eq(
        top_back_run(x, s, m, j + 1),
        top_back(top_back_run(x, s, m, j), ahead_run(x, s, m - s - j), back_run(x, m, j + 1)),
    ),
)
