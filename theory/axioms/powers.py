"""Textbook theorems on the sequence A^j v: that it fades, and that it comes back."""

from rnnbounds.theory.axioms.reading import HORN, RUDIN, axiom
from rnnbounds.theory.language import Axiom, axioms_in

GELFAND = axiom(
    "Gelfand's formula",
    f"{HORN}, Corollaries 5.6.13 and 5.6.14",
    "‖A^j v‖ ≤ c q^j for some q < 1, where the spectral radius is below 1",
    "A v j: norm(power(A, v, j)) <= outset(A, v)*ratio(A)**j where radius(A) < 1;"
    " 0 <= outset(A, v) where radius(A) < 1; 0 <= ratio(A) where radius(A) < 1;"
    " ratio(A) < 1 where radius(A) < 1",
)
# Under a premise, for what it says of a candidate is to be refuted.
RETURNS = axiom(
    "Bolzano-Weierstrass theorem",
    f"{RUDIN}, Theorems 3.6 and 3.20",
    "a bounded sequence in ℝ^m has late terms that are arbitrarily close: a number is not "
    "positive if, for every s, it is at most z q^s plus the distance of any two terms more than s "
    "apart",
    "A v m y_ z_ q_ size_ premise_: y_ <= 0 where premise_ == 0 and 0 <= q_ and q_ < 1",
    "s i j: y_ - z_*q_**s <= norm(power(A, v, i) - power(A, v, i + j + s + 1)) where premise_ == 0",
    "j: rows(power(A, v, j)) <= m",
    "j: norm(power(A, v, j)) <= size_",
)

POWER_AXIOMS: tuple[Axiom, ...] = axioms_in(globals())
