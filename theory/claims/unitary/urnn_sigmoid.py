"""No finite unitary network equals a sigmoid network that contracts (Emami et al., Theorem 4.1)."""

from sympy import Rational

from rnnbounds.theory.claims.unitary.sigmoid_scalar import EXCLUDED
from rnnbounds.theory.claims.unitary.sigmoid_vector import VECTOR
from rnnbounds.theory.language import le, symbols
from rnnbounds.theory.models.unitary.independence import INDEPENDENT
from rnnbounds.theory.models.unitary.relations import sigmoid_gap
from rnnbounds.theory.proof import Claim, Source

unit_count, equal_classes, sample_rank = symbols("unit_count equal_classes sample_rank")
analytic_classes, analytic_rank = symbols("analytic_classes analytic_rank")


URNN_SIGMOID = Claim(
    id="urnn-sigmoid",
    title="No unitary network equals a sigmoid network that contracts",
    source=Source(
        "Emami et al., Input-Output Equivalence of Unitary and Contractive RNNs", "Theorem 4.1"
    ),
    forms=(EXCLUDED, VECTOR, INDEPENDENT),
    false_variants=(
        EXCLUDED.variant("unit-weight", "w = ±1 is excluded too", without="not isometric"),
        EXCLUDED.variant(
            "no-approximation", "the outputs stay 1/50 apart", le(Rational(1, 50), sigmoid_gap)
        ),
        EXCLUDED.variant(
            "relu-too",
            "with ReLU, too, no unitary network equals a contractive one",
            without="sigmoidal",
        ),
        EXCLUDED.variant(
            "mixed", "a sigmoid network equals no tanh network either", without="same activation"
        ),
        VECTOR.variant("radius-one", "W may have any spectral radius", without="stable radius"),
        VECTOR.variant("constant-output", "a constant output is excluded too", without="driven"),
        INDEPENDENT.variant("every-unit", "all units are independent", le(unit_count, sample_rank)),
        INDEPENDENT.variant(
            "signs-apart",
            "units that differ by the sign are independent",
            le(equal_classes, sample_rank),
        ),
        INDEPENDENT.variant(
            "any-analytic",
            "tanh A_i are independent for any analytic A_i that are not equal up to the sign",
            le(analytic_classes, analytic_rank),
        ),
    ),
    extremal=(
        "w = 1, which a single state matches, and any orthogonal U over copies of it, as an "
        "orthogonal W matches itself; a unit that its bias all but switches off comes as near as "
        "one likes for |w| < 1"
    ),
    emphasis=1.25,
)
