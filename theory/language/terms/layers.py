"""Formal terms of deep transitions: the layers of one step, and the product of their factors."""

from rnnbounds.theory.language.terms.vectors import Operator, Scalar, function

# layer(h, x, j) = u_j: u_0 = h and u_{j+1} = ρ(W_{j+1} u_j + o_{j+1}), with layer_matrix(j) = W_j
# and layer_offset(x, j) = o_j, the bias and, in the first layer, what the input adds
layer = function("layer", module=__name__)
layer_matrix = function("layer_matrix", Operator, __name__)
layer_offset = function("layer_offset", module=__name__)
# layer_product(j), the product of the factors of the first j layers
layer_product = function("layer_product", Scalar, __name__)
