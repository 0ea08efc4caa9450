"""Run records: everything one run saw, as frozen structs with a published JSON Schema.

A record holds the statements, assumptions, ledgers and variants *as tested*, so that a page
can be made from it alone. Times, versions and devices live in `Environment` and nowhere else:
two runs of one seed differ in that field only. Formulas are presentation MathML; a text that is
`typeset` has <math> elements in it.
"""

from typing import Literal

import msgspec
from msgspec import field
from msgspec.structs import replace

from rnnbounds.reports.records.checks import Check, Count, Curve, Record, Tally
from rnnbounds.reports.text import Number, greatest_ratio


class Symbol(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A quantity: its name in records, notation, meaning, norm or unit, and formal definition.

    `role` is parameter, certified or measured; only what is measured has a definition.
    """

    name: str
    notation: str
    mathml: str
    meaning: str
    typeset: str
    norm: str
    norm_typeset: str
    role: str
    definition: str = ""
    definition_mathml: str = ""


class Work(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A cited work, and the address of its text; the address is empty where there is none."""

    title: str
    url: str = ""


StepVerdict = Literal["proved", "failed"]


class LedgerStep(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One step of a proof, stated for what `quantifier` says; `scope` is the quantifier with its
    formulas as MathML."""

    id: str
    statement: str
    method: str
    uses: tuple[str, ...]
    verdict: StepVerdict
    detail: str = ""
    mathml: str = ""
    quantifier: str = ""
    scope: str = ""


class Definition(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Equations that define a new function; `typeset` has them as MathML."""

    name: str
    text: str
    typeset: str = ""


class LedgerRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The proof of one form, and the axioms that it rests on.

    `presupposed` names the inclusions that the form assumes; without any it is derived from
    hypotheses alone. `ranges` are the least values that its quantities are declared to have. `met`
    is false where no test has a system that meets all assumptions.
    """

    form: str
    steps: tuple[LedgerStep, ...]
    axioms: tuple[str, ...]
    proved: bool
    definitions: tuple[Definition, ...] = ()
    presupposed: tuple[str, ...] = ()
    ranges: tuple[str, ...] = ()
    met: bool = True

    @property
    def standing(self) -> str:
        """How the form is proved, in words."""
        if not self.proved:
            return "not proved"
        return "derived from an assumed inclusion" if self.presupposed else "derived"


class Axiom(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A textbook theorem, which is taken without proof."""

    name: str
    text: str
    source: str


SCHEMA: Literal["rnnbounds/run/4"] = "rnnbounds/run/4"


class AttackRecord(Record, frozen=True, kw_only=True):
    """How far one attack got: its budget in counts and the greatest certified lhs/rhs."""

    numbers = ("best_ratio",)

    systems: Count
    pairs: Count
    checks: Count
    best_ratio: Number | None
    note: str = ""

    def merge(self, other: "AttackRecord") -> "AttackRecord":
        """Both parts together; NaN wins over every ratio, for it must not be hidden."""
        return AttackRecord(
            systems=self.systems + other.systems,
            pairs=self.pairs + other.pairs,
            checks=self.checks + other.checks,
            best_ratio=greatest_ratio(self.best_ratio, other.best_ratio),
            note=self.note or other.note,
        )


class Cost(Record, frozen=True, kw_only=True):
    """A form's bound over that of the first form with the same left side, over all that held."""

    numbers = ("least", "greatest")

    least: Number
    greatest: Number

    def merge(self, other: "Cost") -> "Cost":
        """The range of both parts together."""
        return Cost(
            least=min(float(self.least), float(other.least)),
            greatest=max(float(self.greatest), float(other.greatest)),
        )


class FormRecord(Record, frozen=True, kw_only=True):
    """One form of a claim: its statement as tested, what it assumes, how it fared.

    `assumptions` are texts, `ids` their names, and `typeset` the texts with formulas as MathML.
    `reached` is the greatest lhs/rhs by attack, `cost` what the form gives away; `nearest` are the
    checks in which what is to differ came nearest, by the number of states; `curve` is what the
    left side came to at each window.
    """

    numbers = ("best_ratio",)

    name: str
    about: str
    text: str
    latex: str
    mathml: str
    assumptions: tuple[str, ...]
    ids: tuple[str, ...]
    typeset: tuple[str, ...]
    tally: Tally
    escalated: Count
    best_ratio: Number | None
    note: str = ""
    reached: dict[str, Number | None] = field(default_factory=dict)
    cost: Cost | None = None
    nearest: tuple[Check, ...] = ()
    curve: Curve | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not len(self.ids) == len(self.typeset) == len(self.assumptions):
            raise ValueError("each assumption has a name and a typeset text")

    @property
    def assumption_texts(self) -> tuple[tuple[str, str, str], ...]:
        """Each assumption: name, typeset, plain text."""
        return tuple(zip(self.ids, self.typeset, self.assumptions, strict=True))


class VariantRecord(Record, frozen=True, kw_only=True):
    """A false variant: how it fell, or that it stands (a failure of the suite).

    `ledger_fails` says that the proof of the true form, run against this statement, failed; `why`
    says where.
    """

    id: str
    text: str
    form: str
    statement: str
    mathml: str
    convicted: bool
    attack: str | None
    systems: Count
    counterexample: Check | None
    ledger_fails: bool
    why: str = ""


class ClaimRecord(Record, frozen=True, kw_only=True):
    """One claim: what it says, how it was proved, attacked and distorted.
    `works` are those that `source` cites, `place` is the file that states the claim, `symbols` are
    the names of the quantities that its forms speak of."""

    id: str
    title: str
    source: str
    relation: Literal["<=", "<", "==", "!=", "exists"]
    latex: str
    mathml: str
    tally: Tally
    systems: Count
    pairs: Count
    checks: Count
    escalated: Count
    vacuous_by_assumption: dict[str, Count]
    attacks: dict[str, AttackRecord]
    worst: Check | None
    tightest: tuple[Check, ...]
    failing: tuple[Check, ...]
    forms: tuple[FormRecord, ...]
    ledgers: tuple[LedgerRecord, ...]
    variants: tuple[VariantRecord, ...]
    extremal: str = ""
    works: tuple[Work, ...] = ()
    place: str = ""
    symbols: tuple[str, ...] = ()

    @property
    def best_ratio(self) -> Number | None:
        """The greatest lhs/rhs that any attack reached."""
        return greatest_ratio(*(attack.best_ratio for attack in self.attacks.values()))

    @property
    def proved(self) -> bool:
        """True if every form has a ledger, and every ledger is proved."""
        proved = {ledger.form for ledger in self.ledgers if ledger.proved}
        return all(form.name in proved for form in self.forms) and all(
            ledger.proved for ledger in self.ledgers
        )

    def ledger(self, form: str) -> LedgerRecord | None:
        """The proof of the form of this name."""
        return next((ledger for ledger in self.ledgers if ledger.form == form), None)

    @property
    def assuming(self) -> tuple[str, ...]:
        """The forms that assume an inclusion."""
        return tuple(ledger.form for ledger in self.ledgers if ledger.presupposed)

    @property
    def standing(self) -> str:
        """How the claim is proved, in a few words."""
        if not self.proved:
            return "not proved"
        forms, assuming = len(self.forms), len(self.assuming)
        return f"derived, {assuming} of {forms} from an inclusion" if assuming else "derived"


class Guarantee(Record, frozen=True, kw_only=True):
    """One guarantee of a certificate, which models attacked: it is not proved. `used` is the
    largest share of a bound that was seen; `failing` are checks that do not hold."""

    numbers = ("used",)

    name: str
    text: str
    models: Count
    tally: Tally
    used: Number
    failing: tuple[str, ...] = ()

    def merge(self, other: "Guarantee") -> "Guarantee":
        """Both parts together."""
        return replace(
            self,
            models=self.models + other.models,
            tally=self.tally.merge(other.tally),
            used=max(self.used, other.used, key=float),
            failing=(*self.failing, *other.failing),
        )


class Environment(Record, frozen=True, kw_only=True):
    """Environment and times of a run: the only part in which two runs of one seed may differ.

    `float_settings` are settings that change results silently (TF32, reduced precision, flushing
    of subnormals); `durations` are seconds by part; `commit` is that of the working folder.
    """

    versions: dict[str, str] = field(default_factory=dict)
    platform: str = ""
    device: str = ""
    threads: Count = 0
    workers: Count = 0
    float_settings: dict[str, str] = field(default_factory=dict)
    command: str = ""
    started: str = ""
    finished: str = ""
    seconds: float = 0.0
    durations: dict[str, float] = field(default_factory=dict)
    commit: str = ""


class Run(Record, frozen=True, kw_only=True):
    """One run. `missing_parts` lists the expected parts that never reported, `symbols` the
    quantities of all its claims."""

    schema: Literal["rnnbounds/run/4"] = SCHEMA
    environment: Environment
    profile: str
    seed: int
    attacks: tuple[str, ...]
    claims: tuple[ClaimRecord, ...]
    axioms: tuple[Axiom, ...]
    expected_parts: tuple[str, ...] = ()
    missing_parts: tuple[str, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    guarantees: tuple[Guarantee, ...] = ()
