import random
from collections.abc import Callable

import pytest

from rnnbounds.reports.records.checks import Check, Tally, Verdict
from rnnbounds.reports.records.record import (
    AttackRecord,
    Axiom,
    ClaimRecord,
    Cost,
    Environment,
    FormRecord,
    LedgerRecord,
    LedgerStep,
    Run,
    Symbol,
    VariantRecord,
    Work,
)

TRUNCATION = (
    "<mrow><msub><mi>h</mi><mi>gap</mi></msub><mo>&#x2264;</mo><mfrac><mrow><msub><mi>S</mi>"
    "<mn>0</mn></msub><mo>&InvisibleTimes;</mo><mo>(</mo><msup><mi>λ</mi><mi>k</mi></msup>"
    "<mo>-</mo><msup><mi>λ</mi><mi>T</mi></msup><mo>)</mo></mrow><mrow><mn>1</mn><mo>-</mo>"
    "<mi>λ</mi></mrow></mfrac></mrow>"
)
TITLES = {
    "state-bound": ("States stay bounded", "Miller & Hardt"),
    "truncation": ("Truncation after k steps", "Miller & Hardt, Lemma 1"),
    "instability": ("An unstable system that no k truncates", "Miller & Hardt, §3"),
}
WORKS = ("proof", "sabotage", "random", "targeted", "gradient", "extremal")
VARIANTS = (
    ("off-by-one", "One power of λ too many: the window counts k + 1.", "random", 12),
    ("no-drive", "Forgets the drive, as if no state exceeded 1.", "random", 3),
    ("finite-minus", "Subtracts λᵀ twice.", "extremal", 1204),
    ("radius", "Takes the spectral radius for λ.", "targeted", 431),
)


def sample_check(
    claim: str = "truncation", ratio: float = 1 - 2.1e-9, verdict: Verdict = "HOLDS"
) -> Check:
    """One check with plausible numbers."""
    rhs = 0.7310585786300049
    return Check(
        claim=claim,
        form="finite",
        spec={"model": "rnn", "n": 4, "d": 2, "T": 30, "k": 7, "lam": 0.97, "activation": "tanh",
              "regime": "scaled-orthogonal", "inputs": "impulse", "seed": 20261, "member": 17},
        k=7,
        lhs=ratio * rhs,
        lhs_error=3.1e-16,
        rhs=rhs,
        rhs_error=2.3e-16,
        ratio=ratio,
        verdict=verdict,
        replay="""rnnbounds replay '{"model":"rnn","n":4,"d":2,"T":30,"k":7,"seed":20261}'""",
    )  # fmt: skip


def sample_claim(name: str = "truncation") -> ClaimRecord:
    """A claim that passes, with two forms, two proofs and four variants."""
    draw = random.Random(name)
    title, source = TITLES[name]
    many = draw.randrange(10**2, 10**4)
    tally = Tally(holds=many * 1012, vacuous=draw.choice([0, 0, 602]))
    both = tally.merge(tally)
    reached = {"random": 0.93127, "targeted": 0.99904, "gradient": 1 - 7e-7, "extremal": 1 - 2.1e-9}
    steps = (
        LedgerStep(id="gap-recursion", statement="h_gap(t+1) <= lam*h_gap(t)",
                   method="smt", uses=("contraction", "triangle"), verdict="proved"),
        LedgerStep(id="start", statement="h_start <= S_0*(1 - lam**(T - k))/(1 - lam)",
                   method="axiom", uses=("state-bound",), verdict="proved"),
        LedgerStep(id="claim", statement="h_gap <= S_0*(lam**k - lam**T)/(1 - lam)",
                   mathml=TRUNCATION, method="induction",
                   uses=("gap-recursion", "start"), verdict="proved",
                   detail="base k = 0; step k to k + 1"),
    )  # fmt: skip
    forms = tuple(
        FormRecord(
            name=form, about="rnn", text="h_gap <= S_0*(lam**k - lam**T)/(1 - lam)",
            latex=r"h_{gap} \le \frac{S_0 (\lambda^k - \lambda^T)}{1 - \lambda}",
            mathml=TRUNCATION, tally=tally, escalated=412, best_ratio=1 - 2.1e-9,
            assumptions=("0 ≤ λ < 1", "the input is bounded: ‖x‖ ≤ B_x", "h_0 = 0"),
            ids=("0 ≤ λ < 1", "bounded", "start"),
            typeset=(
                "<math><mn>0</mn><mo>≤</mo><mi>λ</mi><mo>&lt;</mo><mn>1</mn></math>",
                "the input is bounded: <math><mi>‖x‖</mi><mo>≤</mo><mi>B</mi></math>",
                "<math><msub><mi>h</mi><mn>0</mn></msub></math> is 0",
            ),
            note="Tight for a scaled rotation driven by a constant." if form == "finite" else "",
            reached=reached,
            cost=None if form == "finite" else Cost(least=1.0, greatest=4.5),
        )
        for form in ("finite", "uniform")
    )  # fmt: skip
    return ClaimRecord(
        id=name,
        title=title,
        source=source,
        relation="<=",
        latex=forms[0].latex,
        mathml=TRUNCATION,
        tally=both,
        systems=12_000,
        pairs=96_000,
        checks=both.total,
        escalated=824,
        vacuous_by_assumption={"0 ≤ λ < 1": 1204} if tally.vacuous else {},
        attacks={
            name: AttackRecord(systems=systems, pairs=pairs, checks=checks,
                               best_ratio=reached[name], note=note)
            for name, systems, pairs, checks, note in (
                ("random", 4000, 64000, both.total - 36_010, ""),
                ("targeted", 4000, 16000, 20_000, ""),
                ("gradient", 3990, 15990, 16_000, ""),
                ("extremal", 10, 10, 10, "the constant drive of Lemma 1"),
            )
        },
        worst=sample_check(name),
        tightest=tuple(sample_check(name, 1 - 2.1e-9 * 4**i) for i in range(3)),
        failing=(),
        forms=forms,
        ledgers=tuple(
            LedgerRecord(form=form.name, steps=steps, axioms=("triangle", "operator-norm"),
                         proved=True)
            for form in forms
        ),
        variants=tuple(
            VariantRecord(
                id=f"{name}-{word}", text=text, form="finite",
                statement="h_gap <= S_0*lam**(k + 1)/(1 - lam)", mathml=TRUNCATION,
                convicted=True, attack=attack, systems=systems,
                counterexample=sample_check(name, 1.07, "VIOLATED"), ledger_fails=True,
                why="step 'claim': refuted at S_0 = 1, λ = 1/2, k = 0",
            )
            for word, text, attack, systems in VARIANTS
        ),
        extremal="W = λQ with Q a rotation, driven so that every input adds to the same direction.",
        works=(Work(title="Stable Recurrent Models", url="https://arxiv.org/abs/1805.10369"),),
        place=f"theory/claims/{name.replace('-', '_')}.py",
        symbols=("lam", "h_gap"),
    )  # fmt: skip


@pytest.fixture
def run() -> Run:
    """A run of three claims that passes."""
    return Run(
        environment=Environment(
            versions={"python": "3.11.7", "torch": "2.13.0", "numpy": "2.4.6"}, threads=1,
            platform="Linux x86-64", device="cpu", workers=2, started="2026-11-21T10:00:00Z",
            finished="2026-11-21T10:01:40Z", seconds=100.2,
            command="rnnbounds verify --profile quick",
            float_settings={"TF32 (matmul)": "off", "subnormals": "kept"},
            durations={"prove": 8.1, "truncation": 14.0},
        ),
        profile="quick",
        seed=0,
        attacks=("random", "targeted", "gradient", "extremal"),
        claims=tuple(sample_claim(name) for name in TITLES),
        axioms=(
            Axiom(name="triangle", text="‖a + b‖ ≤ ‖a‖ + ‖b‖", source="any textbook"),
            Axiom(name="operator-norm", text="‖W v‖ ≤ ‖W‖ ‖v‖", source="Horn & Johnson, §5.6"),
        ),
        expected_parts=tuple(f"{name}/{work}" for name in TITLES for work in WORKS),
        symbols=(
            Symbol(
                name="lam", notation="λ", mathml="<math><mi>λ</mi></math>", role="certified",
                meaning="contraction factor", typeset="contraction factor", norm="of the state",
                norm_typeset="of the state",
            ),
            Symbol(
                name="h_gap", notation="‖h_T-h_T^(k)‖", mathml="<math><mi>gap</mi></math>",
                meaning="full against truncated state, k inputs",
                typeset="full against truncated state, <math><mi>k</mi></math> inputs",
                norm="Euclidean", norm_typeset="Euclidean", role="measured",
                definition="norm(state(x, 0, T) - state(x, T - k, k))",
                definition_mathml="<math><mi>state</mi></math>",
            ),
        ),
    )  # fmt: skip


@pytest.fixture
def check() -> Callable[..., Check]:
    """A maker of single checks."""
    return sample_check
