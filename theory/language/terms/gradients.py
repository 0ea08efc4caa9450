"""Formal terms of derivatives, of losses, and of weights in training."""

from functools import partial

from rnnbounds.theory.language.terms.vectors import Operator, Scalar, function

_map, _number, _operator = (
    partial(function, module=__name__),
    partial(function, base=Scalar, module=__name__),
    partial(function, base=Operator, module=__name__),
)

# Of the model's own weights or, with one argument more, of those weights.
d_state = _operator("d_state")  # d_state(h, x) = ∂φ/∂h
d_input = _operator("d_input")  # d_input(h, x) = ∂φ/∂x
d_weights = _operator("d_weights")  # d_weights(h, x) = ∂φ/∂w, from weights to states
# differentiable(h, x): 1 where φ is differentiable at (h, x), jointly in the weights
differentiable = _number("differentiable")
jacobian = _operator("jacobian")  # jacobian(x, T, t) = ∂h_T/∂x_t
activation = _map("activation")  # activation(z) = ρ(z), component by component
# slopes(a, b), the diagonal matrix of ρ's secant slopes, and of its derivatives ρ'(a) if a = b
slopes = _operator("slopes")
bends = _operator("bends")  # bends(a, b), the diagonal matrix of the secant slopes of ρ'
derivative = _number("derivative")  # derivative(z) = ρ'(z), a component
# steepness(z) = limsup |ρ(z) − ρ(y)|/|z − y| for y → z: |ρ'(z)| but at kinks, and ∞ where ρ jumps;
# curvature(z), the same of ρ'
steepness, curvature = _number("steepness"), _number("curvature")
# d_matrix(v), d_inputs(v), d_offset(v): the parts δW, δU, δb of a change v of the weights
d_matrix, d_inputs = _operator("d_matrix"), _operator("d_inputs")
d_offset = _map("d_offset")
lift = _operator("lift")  # lift(h, x), the operator δw = (δW, δU, δb) ↦ δW h + δU x + δb
sensitivity = _operator("sensitivity")  # sensitivity(x, s, j) = d state(x, s, j)/dw
# recent(x, s, j): d state(x, 0, s + j)/dw, but for the uses of w up to time s
recent = _operator("recent", defined=True)
d_loss = _operator("d_loss")  # d_loss(h) = ∂p/∂h, from states to numbers
gradient = _map("gradient")  # gradient(h) = ∇p(h), its transpose
# hessian(h) = ∇²p(h), of the norm limsup ‖∇p(h) − ∇p(g)‖/‖h − g‖ for g → h: ∞ where ∇p jumps
hessian = _operator("hessian")
# logits(j) = C_j, the row of class j; share(h, j), its softmax; top(v), bottom(v): the rows with
# the largest and the smallest product with v
logits, top, bottom = _map("logits"), _map("top"), _map("bottom")
share = _number("share")
# mass(h, j), mixture(h, v, j), first_moment(h, v, j), second_moment(h, v, j): the sums of s_i,
# s_i (C_i - v), s_i ⟨C_i, v⟩ and s_i ⟨C_i, v⟩² over the first j classes, s_i = share(h, i)
mass, mixture = _number("mass", defined=True), _map("mixture", defined=True)
first_moment = _number("first_moment", defined=True)
second_moment = _number("second_moment", defined=True)

descent = _number("descent")  # descent(j), the parameter after j steps of descent
# weights(j) and weights_hat(j): after j steps on the full and on the truncated model's loss
weights, weights_hat = _map("weights"), _map("weights_hat")
loss_gradient, truncated_gradient = _map("loss_gradient"), _map("truncated_gradient")
step_size = _number("step_size")  # step_size(j) = α_{j+1}
project = _map("project")  # Π(a)
feasible = _number("feasible")  # 1 for a point of the set Ω of weights
projects = _number("projects")  # 1 where Π(a) is nearest to a in a closed convex Ω
