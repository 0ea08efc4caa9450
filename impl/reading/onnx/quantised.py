"""Dequantised weights of onnxruntime's DynamicQuantizeLSTM.

The node holds 8-bit integers q (D, d, 4 n), transposed against ONNX's LSTM, and scales and zero
points by direction, (D,), or by column too, (D, 4 n): a weight is s (q − z), exact in float64, for
q − z has at most 9 bits and s 24. The node also quantises x and h, at each step and over the whole
batch, which no weight says. Source: onnxruntime's contributed operators.
"""

from typing import Any

import numpy as np

from rnnbounds.impl.reading.onnx.folding import Array

QUANTISED = "DynamicQuantizeLSTM"
DOMAIN = "com.microsoft"
_PLAIN = 8  # inputs that an LSTM has too
WITHOUT = "weights dequantised, without the quantisation of x and h"


def as_lstm(node: Any) -> Any:
    """The LSTM of ONNX with the attributes of the node, which `onnx` knows how to check."""
    from onnx.helper import make_node

    plain = make_node("LSTM", node.input[:_PLAIN], node.output, name=node.name)
    plain.attribute.extend(node.attribute)
    return plain


def dequantised(q: Array, scale: Array, zero: Array) -> Array | None:
    """The weights (D, 4 n, d) in float64; None if shapes or types are not those of the node."""
    whole = q.dtype.name in ("int8", "uint8") and zero.dtype == q.dtype
    shapes = (q.shape[:1], (*q.shape[:1], *q.shape[2:]))
    if not whole or scale.dtype.name != "float32" or scale.shape not in shapes or q.ndim != 3:
        return None
    if zero.shape != scale.shape:
        return None
    s, z = (one.reshape(len(q), 1, -1) for one in (scale, zero))
    return ((q.astype("int64") - z) * widened(s)).swapaxes(1, 2)


def widened(array: Array) -> Array:
    """The float64 of a float32, NaN too."""
    with np.errstate(invalid="ignore"):
        return array.astype("float64")
