"""Random ONNX graphs of recurrent nodes with all kinds of nodes between them, by a seed."""

import math
from dataclasses import dataclass, field

import numpy as np
from onnx import TensorProto, helper, numpy_helper

GATES = {"RNN": 1, "LSTM": 4, "GRU": 3}
RELAYS = ("torch", "tf", "exporter", "identity")


@dataclass
class Drawn:
    """A graph that is drawn; layers: (name, X, Y, layout); joined: which were to be one stack."""

    rng: np.random.Generator
    nodes: list = field(default_factory=list)
    constants: list = field(default_factory=list)
    layers: list = field(default_factory=list)
    joined: list = field(default_factory=list)
    reset: int = 0
    varies: bool = False
    activations: dict = field(default_factory=dict)

    def add(self, op, inputs, **attributes):
        """A node of one output, by its name."""
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=f"n{name}", **attributes))
        return name

    def constant(self, array):
        """A stored tensor, by its name."""
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def pick(self, *options):
        """One of these."""
        return options[self.rng.integers(len(options))]


def drawn_graph(seed):
    """A model, its shape (T, N, d), and what `Drawn` says of it."""
    rng = np.random.default_rng(seed)
    made = Drawn(rng)
    T, N, d = (int(one) for one in rng.integers(1, 4, 3))
    made.reset, made.varies = made.pick(0, 1), made.pick(True, False)
    op, ways = made.pick(*GATES), made.pick("forward", "reverse", "bidirectional")
    made.activations = chosen(made, op, ways)
    n, value, layout = int(rng.integers(1, 4)), "x", made.pick(0, 0, 1)
    shape = (N, T, d) if layout else (T, N, d)
    sizes = shape
    for l in range(int(rng.integers(1, 4))):
        below = layout
        if l:
            layout = made.pick(below, below, 1 - below)
            value, sizes, relayed = between(made, value, sizes, below, layout)
            made.joined.append(relayed)
        value, sizes = layer(made, value, sizes, op, ways, n, layout)
    batch, time = ("N", "T") if made.varies else shape[:2]
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, time, d])
    outputs = [helper.make_empty_tensor_value_info(y) for _, _, y, _ in made.layers]
    outputs += [helper.make_empty_tensor_value_info(x) for _, x, _, _ in made.layers if x != "x"]
    graph = helper.make_graph(made.nodes, "g", [given], outputs, made.constants)
    opset = [helper.make_opsetid("", 21)]
    return helper.make_model(graph, opset_imports=opset, ir_version=10), shape, made


def layer(made, value, sizes, op, ways, n, layout):
    """A recurrent node with weights of chance; its output and the sizes of that."""
    rng, D, g = made.rng, 1 + (ways == "bidirectional"), GATES[op]
    shapes = [(D, g * n, sizes[-1]), (D, g * n, n), (D, 2 * g * n)]
    weights = [made.constant(rng.uniform(-1, 1, one).astype("float32")) for one in shapes]
    given = {"hidden_size": n, "direction": ways, "layout": layout}
    if op == "GRU":
        given["linear_before_reset"] = made.reset
    inputs = [value, *weights[: made.pick(2, 3, 3)]]
    name = made.add(op, inputs, **given, **made.activations)
    made.layers.append((f"n{name}", value, name, layout))
    first, second = sizes[:2]
    return name, (first, second, D, n) if layout else (first, D, second, n)


def chosen(made, op, ways):
    """An RNN's activation of chance, written out or left out."""
    if op != "RNN" or made.pick(True, False):
        return {}
    rho = made.pick("Tanh", "relu", "Sigmoid", "Softplus", "Elu")
    return {"activations": [rho] * (1 + (ways == "bidirectional"))}


def between(made, value, sizes, below, layout):
    """Nodes from an output of one layout to an input of another: (value, sizes, do they relay)."""
    kind = made.pick(*RELAYS, "chance", "chance", "chance", "mixed", "shifted")
    if kind == "chance":
        return by_chance(made, value, sizes)
    value, sizes = relay(made, value, sizes, below, layout, kind)
    if kind == "mixed":
        value = made.add("Transpose", [value], perm=[1, 0, 2])
        sizes = (sizes[1], sizes[0], sizes[2])
    if kind == "shifted":
        value = made.add("Add", [value, made.constant(np.float32(0.5))])
    return value, sizes, kind in RELAYS


def relay(made, value, sizes, below, layout, kind):
    """As exporters write it: features side by side, time and batch in the order of the layout."""
    if not below:
        T, D, N, n = sizes
        if D == 1 and kind != "torch":
            value = made.add("Squeeze", [value, made.constant(np.array([1]))])
        else:
            value = made.add("Transpose", [value], perm=[0, 2, 1, 3])
            literal = [] if made.varies else [[T, N, D * n]]  # which fits no other batch
            target = made.pick([0, 0, -1], [0, 0, D * n], *literal)
            value = made.add("Reshape", [value, shape_of(made, value, target, kind)])
        sizes = (T, N, D * n)
    else:
        N, T, D, n = sizes
        value = made.add("Reshape", [value, shape_of(made, value, [0, 0, -1], kind)])
        sizes = (N, T, D * n)
    if kind == "identity":
        value = made.add("Identity", [made.add("Cast", [value], to=TensorProto.FLOAT)])
    if kind == "tf":
        turned = made.add("Transpose", [value], perm=[1, 0, 2])
        value = made.add("Transpose", [turned], perm=[1, 0, 2])
    if below != layout:
        value = made.add("Transpose", [value], perm=[1, 0, 2])
        sizes = (sizes[1], sizes[0], sizes[2])
    return value, sizes


def shape_of(made, value, target, kind):
    """A constant, or the sizes of the value cut out and multiplied, as torch's exporter does."""
    if kind != "exporter":
        return made.constant(np.array(target))
    whole = made.add("Shape", [value])
    ends = [made.constant(np.array([i])) for i in range(5)]
    cut = [made.add("Slice", [whole, ends[i], ends[i + 1]]) for i in range(4)]
    last = made.add("Mul", cut[2:])
    return made.add("Concat", [*cut[:2], last], axis=0)


def by_chance(made, value, sizes):
    """Any nodes after which there are three axes."""
    rng = made.rng
    for _ in range(int(rng.integers(0, 4))):
        op = made.pick("Transpose", "Reshape", "Squeeze", "Unsqueeze", "Identity", "Mul")
        if op == "Transpose":
            perm = [int(i) for i in rng.permutation(len(sizes))]
            value, sizes = made.add(op, [value], perm=perm), tuple(sizes[i] for i in perm)
        elif op == "Reshape":
            sizes = factored(made, math.prod(sizes), int(rng.integers(2, 5)))
            value = made.add(op, [value, made.constant(np.array(sizes))])
        elif op == "Squeeze" and 1 in sizes and len(sizes) > 1:
            place = sizes.index(1)
            value = made.add(op, [value, made.constant(np.array([place]))])
            sizes = sizes[:place] + sizes[place + 1 :]
        elif op == "Unsqueeze" and len(sizes) < 5:
            place = int(rng.integers(0, len(sizes) + 1))
            value = made.add(op, [value, made.constant(np.array([place]))])
            sizes = (*sizes[:place], 1, *sizes[place:])
        elif op == "Mul":
            value = made.add(op, [value, made.constant(np.float32(0.5))])
    if len(sizes) != 3 or made.pick(True, False):
        sizes = factored(made, math.prod(sizes), 3)
        target = list(sizes)
        target[made.pick(0, 1, 2)] = -1
        value = made.add("Reshape", [value, made.constant(np.array(target))])
    return value, sizes, False


def factored(made, number, parts):
    """Sizes of that product."""
    found = []
    for _ in range(parts - 1):
        found.append(int(made.pick(*(k for k in range(1, number + 1) if number % k == 0))))
        number //= found[-1]
    return (*found, number)
