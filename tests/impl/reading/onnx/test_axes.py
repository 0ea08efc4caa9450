"""Axes that are followed are those of NumPy: moved, split, joined, left out or put in."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rnnbounds.impl.reading.onnx.axes import (
    REST,
    output_axes,
    reshaped,
    squeezed,
    transposed,
    unsqueezed,
    without_units,
)

SIZES = st.fixed_dictionaries({factor: st.integers(1, 4) for factor in "TDNF"})


def moved(data, axes, array, size):
    """One operator on the axes and on the array."""
    op, rank = data.draw(st.sampled_from(["move", "out", "in", "shape", "keep"])), array.ndim
    if op == "move":
        perm = data.draw(st.none() | st.permutations(range(rank)))
        return transposed(axes, perm), array.transpose(perm)
    if op == "out":
        ones = [i - rank * data.draw(st.booleans()) for i in range(rank) if array.shape[i] == 1]
        cut = data.draw(st.lists(st.sampled_from(ones), unique=True)) if ones else []
        return squeezed(axes, cut), array.squeeze(tuple(cut))
    if op == "in":
        places = data.draw(st.lists(st.integers(-rank - 1, rank), max_size=1))
        return unsqueezed(axes, places), np.expand_dims(array, tuple(places))
    target = regrouped(data, array.shape)
    sizes = [(one, "") for one in target]
    place = data.draw(st.integers(0, len(target) - 1))
    if data.draw(st.booleans()):
        sizes[place] = REST
    elif op == "keep" and place < len(axes) and array.shape[place] == target[place]:
        sizes[place] = (0, "")
    return reshaped(axes, sizes, size, copy_zero=True), array.reshape(target)


def regrouped(data, shape):
    """Sizes of the same product, of three axes or four."""
    left = math.prod(shape)
    parts = []
    for _ in range(data.draw(st.integers(2, 3))):
        parts.append(data.draw(st.sampled_from([k for k in range(1, left + 1) if left % k == 0])))
        left //= parts[-1]
    return [*parts, left]


@given(SIZES, st.sets(st.sampled_from("TNF")), st.integers(0, 1), st.data())
def test_axes_are_those_of_numpy(known, unknown, layout, data):
    """What is claimed of the axes holds of an array whose entries are all different, also where
    sizes are not known."""
    axes = output_axes(layout)
    whole = np.arange(math.prod(known.values())).reshape([known[factor] for factor in axes])
    array, first = whole, axes

    def size(factor):
        return (1, factor) if factor in unknown else (known[factor], "")

    axes = without_units(axes, size)
    for _ in range(data.draw(st.integers(1, 4))):
        axes, array = moved(data, axes, array, size)
        if axes is None:
            return
        order = [factor for factor in first if factor not in "".join(axes)]
        order += "".join(axes)
        sizes = [math.prod(known[factor] for factor in axis) for axis in axes]
        expected = whole.transpose([first.index(factor) for factor in order]).reshape(sizes)
        assert np.array_equal(array, expected)
