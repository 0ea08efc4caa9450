"""Formal terms of networks: derivatives, losses and weights, gated cells, layers, causal models.

The state of a gated cell is s = (c, h), of a GRU its output h alone; a gate is σ or tanh, entry by
entry, of W h + U x + b.  A causal model is a chain of steps with two taps each: a convolution with
K taps and dilation d is K − 1 steps of delay d (Horner's scheme), attention over w positions w − 1
steps of delay 1 that gather them.  What is done at one time alone belongs to a step, and may differ
from time to time.  A time is a real variable there: inputs have whole ones.
"""

from functools import partial

from sympy import Expr, Integer, Symbol, tanh

from rnnbounds.theory.language.definitions import define
from rnnbounds.theory.language.law import Clause, law
from rnnbounds.theory.language.statement import eq
from rnnbounds.theory.language.terms.variables import a, b, j, operator, s, v, vector, x, z
from rnnbounds.theory.language.terms.vectors import Operator, Scalar, entry, function, norm, phi

_number, _operator = partial(function, base=Scalar), partial(function, base=Operator)

# Of the model's own weights or, with one argument more, of those weights.
d_state = _operator("d_state")  # d_state(h, x) = ∂φ/∂h
d_input = _operator("d_input")  # d_input(h, x) = ∂φ/∂x
d_weights = _operator("d_weights")  # d_weights(h, x) = ∂φ/∂w, from weights to states
# differentiable(h, x): 1 where φ is differentiable at (h, x), jointly in the weights
differentiable = _number("differentiable")
jacobian = _operator("jacobian")  # jacobian(x, T, t) = ∂h_T/∂x_t
activation = function("activation")  # activation(z) = ρ(z), component by component
# slopes(a, b), the diagonal matrix of ρ's secant slopes, and of its derivatives ρ'(a) if a = b
slopes = _operator("slopes")
bends = _operator("bends")  # bends(a, b), the diagonal matrix of the secant slopes of ρ'
derivative = _number("derivative")  # derivative(z) = ρ'(z), a component
# steepness(z) = limsup |ρ(z) − ρ(y)|/|z − y| for y → z: |ρ'(z)| but at kinks, and ∞ where ρ jumps;
# curvature(z), the same of ρ'
steepness, curvature = _number("steepness"), _number("curvature")
# d_matrix(v), d_inputs(v), d_offset(v): the parts δW, δU, δb of a change v of the weights
d_matrix, d_inputs = _operator("d_matrix"), _operator("d_inputs")
d_offset = function("d_offset")
lift = _operator("lift")  # lift(h, x), the operator δw = (δW, δU, δb) ↦ δW h + δU x + δb
sensitivity = _operator("sensitivity")  # sensitivity(x, s, j) = d state(x, s, j)/dw
# recent(x, s, j): d state(x, 0, s + j)/dw, but for the uses of w up to time s
recent = _operator("recent", defined=True)
d_loss = _operator("d_loss")  # d_loss(h) = ∂p/∂h, from states to numbers
gradient = function("gradient")  # gradient(h) = ∇p(h), its transpose
# hessian(h) = ∇²p(h), of the norm limsup ‖∇p(h) − ∇p(g)‖/‖h − g‖ for g → h: ∞ where ∇p jumps
hessian = _operator("hessian")
# logits(j) = C_j, the row of class j; share(h, j), its softmax; top(v), bottom(v): the rows with
# the largest and the smallest product with v
logits, top, bottom = function("logits"), function("top"), function("bottom")
share = _number("share")
# mass(h, j), mixture(h, v, j), first_moment(h, v, j), second_moment(h, v, j): the sums of s_i,
# s_i (C_i - v), s_i ⟨C_i, v⟩ and s_i ⟨C_i, v⟩² over the first j classes, s_i = share(h, i)
mass, mixture = _number("mass", defined=True), function("mixture", defined=True)
first_moment = _number("first_moment", defined=True)
second_moment = _number("second_moment", defined=True)

descent = _number("descent")  # descent(j), the parameter after j steps of descent
# weights(j) and weights_hat(j): after j steps on the full and on the truncated model's loss
weights, weights_hat = function("weights"), function("weights_hat")
loss_gradient, truncated_gradient = function("loss_gradient"), function("truncated_gradient")
step_size = _number("step_size")  # step_size(j) = α_{j+1}
project = function("project")  # Π(a)
feasible = _number("feasible")  # 1 for a point of the set Ω of weights
projects = _number("projects")  # 1 where Π(a) is nearest to a in a closed convex Ω

# boxed(v), the state of the box nearest to v: each state of the box is one, boxed(v) = v
boxed = function("boxed")
in_box = function("in_box", Scalar)  # in_box(v): 1 in an invariant set in the box
# gated_run(v, x, j), after j steps from v
gated_run = function("gated_run", defined=True)
# Unit by unit: the box |c_i| ≤ cell_box(i), |h_i| ≤ output_box(i).
cell_box = function("cell_box", Scalar)
output_box = function("output_box", Scalar)

to_cell, to_output = operator("P_c"), operator("P_h")  # c = P_c s and h = P_h s
unit_weights = operator("V_unit")  # diag(1/v) over the whole state


def sigmoid(z: Expr) -> Expr:
    """σ(z) = 1/(1 + exp(−z))."""
    return (1 + tanh(z / 2)) / 2


GATED_RUN = define(
    "run from a state",
    (v, x, j),
    eq(gated_run(v, x, 0), v),
    eq(gated_run(v, x, j + 1), phi(gated_run(v, x, j), entry(x, j + 1))),
)

# layer(h, x, j) = u_j: u_0 = h and u_{j+1} = ρ(W_{j+1} u_j + o_{j+1}), with layer_matrix(j) = W_j
# and layer_offset(x, j) = o_j, the bias and, in the first layer, what the input adds
layer = function("layer")
layer_matrix = function("layer_matrix", Operator)
layer_offset = function("layer_offset")
# layer_product(j), the product of the factors of the first j layers
layer_product = function("layer_product", Scalar)

lower, upper = function("lower"), function("upper_layer")
# lower_run(v, x, s, j) and upper_run(v, p, x, s, j): after j steps from the states v and p at s
lower_run = function("lower_run", defined=True)
upper_run = function("upper_run", defined=True)
p, q = vector("p"), vector("q")  # states of the upper layer

_now = entry(x, s + j + 1)
STACK_RUN = define(
    "run of a stack",
    (v, p, x, s, j),
    eq(lower_run(v, x, s, 0), v),
    eq(lower_run(v, x, s, j + 1), lower(lower_run(v, x, s, j), _now)),
    eq(upper_run(v, p, x, s, 0), p),
    eq(upper_run(v, p, x, s, j + 1), upper(upper_run(v, p, x, s, j), lower_run(v, x, s, j + 1))),
)


def states(start: Expr, top: Expr, first: Expr, steps: Expr) -> tuple[Expr, Expr]:
    """Both layers after some steps on the given inputs from a first one on."""
    return lower_run(start, x, first, steps), upper_run(start, top, x, first, steps)


# tap(x, j, t), what step j has gathered at time t
tap = function("tap", defined=True)
delay = function("delay", Scalar)  # delay(j), from the new tap of step j to the old one
# delays(j), the delays of the first j steps together
delays = function("delays", Scalar, defined=True)
J = Symbol("J_steps", integer=True)  # how many steps there are: y_t = tap(x, J, t)


def apart(one: Expr, two: Expr, step: Expr, time: Expr) -> Expr:
    """How far apart two input sequences take a step at one time."""
    return norm(tap(one, step, time) - tap(two, step, time))


INPUTS = define("inputs are the first tap", (a, z), eq(tap(a, 0, z), entry(a, z)))
REACH = define(
    "delays add up", (j,), eq(delays(0), Integer(0)), eq(delays(j + 1), delays(j) + delay(j))
)
TWO_TAPS = law(
    "two taps",
    (a, b, j, z),
    Clause(
        eq(apart(a, b, j + 1, z), Integer(0)),
        (eq(apart(a, b, j, z), Integer(0)), eq(apart(a, b, j, z - delay(j)), Integer(0))),
    ),
)
