"""All attempts to prove falsehoods, by name."""

from falsehoods.attack import Attack, Claimed, Entering, Forgery
from falsehoods.balls import BALLS
from falsehoods.binders import BINDERS
from falsehoods.definitions import DEFINITIONS
from falsehoods.domains import DOMAINS
from falsehoods.edges import EDGES
from falsehoods.forms import FORMS
from falsehoods.logic import LOGIC
from falsehoods.names import NAMES
from falsehoods.proposals import PROPOSALS, OfLemma
from falsehoods.rounding import ROUNDING
from falsehoods.sorts import SORTS

FAMILIES = (
    *(LOGIC, ROUNDING, SORTS, DEFINITIONS, DOMAINS, BALLS, BINDERS, EDGES, NAMES, FORMS),
    PROPOSALS,
)
ATTACKS: dict[str, Attack | Claimed | Entering | Forgery | OfLemma] = {
    name: attack for family in FAMILIES for name, attack in family.items()
}
