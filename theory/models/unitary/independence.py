"""Linear relations between the units of a tanh network are trivial ones (Emami et al., section 4).

The lemma is an argument in prose: it speaks of poles of meromorphic functions.
"""

from theory.axioms.ranks import RANK_KERNEL, RANK_PRODUCT
from theory.language import ONE, ZERO, assume, at, eq, le, symbols
from theory.language.terms.unitary import rank
from theory.language.terms.variables import operator, v
from theory.language.terms.vectors import Scalar, function, norm
from theory.proof import step, theorem

sign_classes, sample_rank = symbols("sign_classes sample_rank")

INDEPENDENCE = (
    "Claim: in a tanh network t_k = tanh(a_k), a_k = A t_{k−1} + G x_k + d, with any real A, "
    "every relation Σ e_i t_{k,i} ≡ const between functions of x_0, …, x_k is a combination "
    "of trivial ones: e_i with a_{k,i} constant, and e_i − ς e_j with a_{k,i} ≡ ς a_{k,j}, ς "
    "= ±1. As trivial relations hold of the pre-activations a_k too, so does then every "
    "relation. Merging units that are equal up to a sign and dropping constants, let Q be a "
    "non-empty set of units whose a_{k,i} are not constant and pairwise not ± equal; no Σ_Q "
    "e_i tanh a_{k,i} with all e_i ≠ 0 is constant. Let x be the last input on which some "
    "a_{k,i}, i ∈ Q, depends, and freeze the others at real values off finitely many proper "
    "analytic sets, so that the units of Q that depend on x stay so, pairwise not ± equal; "
    "the others are constants. All these functions are meromorphic off a closed countable set "
    "that misses the real line, and real on it; the rest of the plane is connected, so that a "
    "relation holds there too. It is enough that some point of it is a simple pole of exactly "
    "one tanh A_j(x), at which every A_j is analytic. This is shown by induction on the "
    "level. Level 0, A_j = θ_j + g_j x: tanh A_j has simple poles, of residue 1/g_j, at (iπ(ν "
    "+ ½) − θ_j)/g_j. Among the units with the same real part −θ_j/g_j the largest |g_j| is "
    "unique, and its pole nearest to the real axis is shared by none. Level δ + 1, A_j = "
    "const + Σ_C A_jC tanh a_C, real A_jC, over classes C up to sign of level δ: by the "
    "hypothesis for the classes that occur, some x_0 is a pole of one tanh a_C alone, simple; "
    "there A_j is analytic or has a simple pole, and ratios of these residues are the real "
    "ratios of the A_jC. Let J have the largest |A_JC|. Near x_0 A_J takes every large "
    "value once, so tanh A_J has simple poles x_ν → x_0 with A_J(x_ν) = iπ(ν + ½), one for each "
    "large |ν|. A unit analytic at x_0 has no pole near x_0 but perhaps x_0 itself. For any "
    "other unit j let ϱ = A_JC/A_jC, |ϱ| ≥ 1, and Φ = A_J − ϱ A_j, analytic at x_0; if x_ν is "
    "a pole of tanh A_j too, Φ(x_ν) = iπ(ν + ½ − ϱ(ν' + ½)) for some ν'. If Φ is constant, it "
    "is real, so 0 where a pole is shared: A_J ≡ ϱ A_j, |ϱ| > 1, 2ν + 1 = ϱ(2ν' + 1), and in "
    "lowest terms ϱ = ±p/q with p ≥ 3 odd and p | 2ν + 1. If it is not, the shared ν have "
    "density 0: else infinitely many pairs of them have the same gaps Δν, Δν', and "
    "Φ(x_{ν+Δν}) − Φ(x_ν) → 0 makes ϱ = Δν/Δν' rational; then Φ(x_ν) lies in a discrete set "
    "and converges, is constant on a sequence that accumulates at x_0, and so is Φ. The ν "
    "divisible by all the p have positive density and 2ν + 1 is prime to all p; so infinitely "
    "many x_ν are poles of tanh A_J alone. That Φ is real on the real line is essential: "
    "tanh(z − iπ/3) + tanh z + tanh(z + iπ/3) = 3 tanh 3z. The claim is applied to the "
    "unitary and the scalar network side by side."
)

# values v = v·t_k as a function of the inputs, up to constants; representatives selects units
values, representatives = operator("H_units"), operator("S_classes")
of_network = function("of_network", Scalar, __name__)  # 1 for the units of a tanh network

NETWORK = assume(
    "tanh network",
    "H has the values of the units t_k = tanh(A t_{k−1} + G x_k + d) of a network with real "
    "weights; S selects one unit of each class of units that are equal up to the sign and not "
    "constant",
).that(eq(of_network(values), ONE), eq(rank(representatives), sign_classes))
INDEPENDENT = theorem(
    "independence",
    le(sign_classes, sample_rank),
    (NETWORK,),
    "planted",
    (
        step(
            "independence lemma",
            eq(norm(representatives * v), ZERO),
            forall=(v,),
            given=(eq(norm(values * representatives * v), ZERO), eq(of_network(values), ONE)),
        ).in_words(INDEPENDENCE),
        step(
            "no relation",
            eq(norm(representatives * v), ZERO),
            forall=(v,),
            given=(eq(norm(values * representatives * v), ZERO),),
        ).by(at("independence lemma", v), "tanh network"),
    ),
    note="equal as functions of the inputs; the lemma is a human step",
).by(
    "no relation",
    "tanh network",
    RANK_KERNEL.at(values * representatives, representatives),
    RANK_PRODUCT.at(values, representatives),
)
