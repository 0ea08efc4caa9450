"""No finite unitary network equals a sigmoid network that contracts (Emami et al., Theorem 4.1).

At any time before, (Uᵀ)^j e of the one network is (Wᵀ)^j c of the other. Those of an orthogonal U
come back to one another, as near as one likes; the powers of a scalar |w| keep away from 1, and the
powers of a W with a radius below 1 fade.
"""

from sympy import Abs, Expr, Symbol

from rnnbounds.theory.axioms.base import SUBMULTIPLICATIVE_GAIN, TRIANGLE_GAIN
from rnnbounds.theory.axioms.powers import GELFAND, RETURNS
from rnnbounds.theory.claims.contraction.vanilla import STABLE_RADIUS
from rnnbounds.theory.language import ONE, ZERO, Assumption, Use, assume, at, eq, le, ne, symbols
from rnnbounds.theory.language.terms.unitary import POWERS, outset, radius, ratio
from rnnbounds.theory.language.terms.variables import i, j, s, v
from rnnbounds.theory.language.terms.vectors import gain, norm
from rnnbounds.theory.models.lemmas.powers import fading
from rnnbounds.theory.models.unitary.lines import UNROLLED
from rnnbounds.theory.models.unitary.local_maps import n
from rnnbounds.theory.models.unitary.relations import (
    EQUAL,
    MOVED_BACK,
    OF_W,
    ORTHOGONAL,
    SAME,
    SEQUENCE,
    SIGMOIDAL,
    SUPPOSED,
    back,
    back_other,
    c,
    candidate_units,
    e,
    faded,
    moved,
    networks_assumption,
    other_units,
    sigmoid_gap,
)
from rnnbounds.theory.proof import Claim, FormStatement, Source, Step, step, theorem

w_abs, driven, W_radius = symbols("w_abs driven W_radius")


def return_step(id: str, gap: Expr, remaining: Expr, ratio: Expr, *uses: Use) -> Step:
    """Step apart ≤ 0 (a separation of the vectors (Uᵀ)^j e), as powers of an orthogonal U recur."""
    return step(id, le(gap, ZERO), given=(EQUAL,)).by(
        *uses,
        "U keeps them apart",
        "m entries",
        "lengths stay",
        RETURNS.at(*SEQUENCE, gap, remaining, ratio, *SUPPOSED),
    )


def exclusion_form(
    name: str,
    network: Assumption,
    networks: Assumption,
    driven: Assumption,
    steps: tuple[Step, ...],
    note: str,
) -> FormStatement:
    """Form: no unitary network equals a network of this kind."""
    model = (SAME, SIGMOIDAL, network, ORTHOGONAL, UNROLLED, networks, driven)
    bound, all_steps = ne(sigmoid_gap, ZERO), (*MOVED_BACK, *steps)
    return theorem(name, bound, model, "sigmoid", all_steps, note)


NOT_ISOMETRIC = Assumption("not isometric", "|w| ≠ 1", ne(w_abs, ONE))
NETWORKS = networks_assumption(
    "by w",
    eq(gain(other_units(j) * back_other * v), w_abs * gain(other_units(j) * v)),
    scalar=eq(n, ONE),
)
DRIVEN = assume(
    "driven", "f ≠ 0 and c ≠ 0: the scalar network's output depends on its inputs", forall=(j,)
).that(ne(gain(other_units(j) * c), ZERO))

first, output = candidate_units(0), gain(other_units(0) * c)
lower_gap = Abs(1 - w_abs) * output / (gain(first) + 1)
GEOMETRY = (
    step(
        "geometric", eq(gain(other_units(0) * faded(j)), w_abs**j * output), forall=(j,)
    ).by_induction(base=OF_W, step=(OF_W, at("networks", 0, faded(j), 0, 0))),
    step(
        "powers below one", le(w_abs ** (j + 1), w_abs), forall=(j,), given=(le(w_abs, ONE),)
    ).by_induction(),
    step(
        "powers above one", le(w_abs, w_abs ** (j + 1)), forall=(j,), given=(le(ONE, w_abs),)
    ).by_induction(),
    step(
        "lengths of outputs",
        eq(gain(first * moved(j)), w_abs**j * output),
        forall=(j,),
        given=(EQUAL,),
    ).by(
        at("outputs move back", 0, j),
        at("geometric", j),
        TRIANGLE_GAIN.at(first * moved(j) - other_units(0) * faded(j), other_units(0) * faded(j)),
        TRIANGLE_GAIN.at(other_units(0) * faded(j) - first * moved(j), first * moved(j)),
    ),
    step(
        "what U moves",
        le(Abs(1 - w_abs ** (j + 1)) * output, gain(first) * norm(e - moved(j + 1))),
        forall=(j,),
        given=(EQUAL,),
    ).by(
        at("lengths of outputs", 0),
        at("lengths of outputs", j + 1),
        POWERS.at(back, e, 0),
        TRIANGLE_GAIN.at(first * (e - moved(j + 1)), first * moved(j + 1)),
        TRIANGLE_GAIN.at(first * (moved(j + 1) - e), first * e),
        SUBMULTIPLICATIVE_GAIN.at(first, e - moved(j + 1)),
    ),
    step(
        "U keeps them apart",
        le(lower_gap, norm(moved(i) - moved(i + j + s + 1))),
        forall=(s, i, j),
        given=(EQUAL,),
    ).by(
        at("distances stay", j + s + 1, i),
        at("what U moves", j + s),
        at("powers below one", j + s),
        at("powers above one", j + s),
    ),
    return_step("w is isometric", lower_gap, ZERO, ZERO),
)
EXCLUDED = exclusion_form(
    "excluded",
    NOT_ISOMETRIC,
    NETWORKS,
    DRIVEN,
    GEOMETRY,
    "exact equality is excluded at all times together; any finite accuracy is not",
).by("w is isometric", "not isometric", at("driven", 0))

t_0 = Symbol("t_0", integer=True)  # a time at which the output depends on the inputs

NETWORKS_OF_W = networks_assumption("of W", le(radius(back_other), W_radius))
SOMETIME_DRIVEN = assume(
    "driven",
    "at some time t_0 the output depends on the inputs: its derivative in the latest is not 0",
    condition=eq(driven, ONE),
).that(ne(gain(other_units(t_0) * c), ZERO))

candidate, other = candidate_units(t_0), other_units(t_0)
q, margin = ratio(back_other), gain(candidate) + 1
latest, left = gain(other * c) / margin, gain(other) * outset(back_other, c) / margin
STABLE = ("stable radius", at("networks", 0, 0, 0, 0))
CONSTANT = (
    step(
        "no more than W leaves",
        le(gain(candidate_units(i) * moved(j)), gain(other_units(i)) * norm(faded(j))),
        forall=(i, j),
        given=(EQUAL,),
    ).by(
        at("outputs move back", i, j),
        TRIANGLE_GAIN.at(
            candidate_units(i) * moved(j) - other_units(i) * faded(j), other_units(i) * faded(j)
        ),
        SUBMULTIPLICATIVE_GAIN.at(other_units(i), faded(j)),
    ),
    *fading(back_other, c, *STABLE),
    step(
        "U keeps them apart",
        le(latest - left * q**s, norm(moved(i) - moved(i + j + s + 1))),
        forall=(s, i, j),
        given=(EQUAL,),
    ).by(
        *STABLE,
        at("outputs", t_0, 0),
        at("no more than W leaves", t_0, j + s + 1),
        GELFAND.at(back_other, c, j + s + 1),
        at("later powers", s, j),
        at("distances stay", j + s + 1, i),
        TRIANGLE_GAIN.at(other * c - candidate * e, candidate * e),
        TRIANGLE_GAIN.at(candidate * (e - moved(j + s + 1)), candidate * moved(j + s + 1)),
        SUBMULTIPLICATIVE_GAIN.at(candidate, e - moved(j + s + 1)),
    ),
    return_step("the output is constant", latest, left, q, *STABLE, GELFAND.at(back_other, c, 0)),
)
VECTOR = exclusion_form(
    "vector",
    STABLE_RADIUS,
    NETWORKS_OF_W,
    SOMETIME_DRIVEN,
    CONSTANT,
    "of any number of units; ‖W‖ may be as large as it likes",
).by("the output is constant", "driven")

URNN_SIGMOID = Claim(
    id="urnn-sigmoid",
    title="No unitary network equals a sigmoid network that contracts",
    source=Source(
        "Emami et al., Input-Output Equivalence of Unitary and Contractive RNNs", "Theorem 4.1"
    ),
    forms=(EXCLUDED, VECTOR),
    false_variants=(
        EXCLUDED.variant("unit-weight", "w = ±1 is excluded too", without="not isometric"),
        EXCLUDED.variant(
            "mixed", "a sigmoid network equals no tanh network either", without="same activation"
        ),
        VECTOR.variant("radius-one", "W may have any spectral radius", without="stable radius"),
        VECTOR.variant("constant-output", "a constant output is excluded too", without="driven"),
    ),
    extremal=(
        "w = 1, which a single state matches, and any orthogonal U over copies of it, as an "
        "orthogonal W matches itself; tanh with w = 1/4 and the sigmoid with U = 1"
    ),
    example_factor=1.25,
)
