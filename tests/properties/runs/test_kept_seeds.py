"""Systems that some seed drew and that the suite once could not decide: each is kept, and holds."""

from __future__ import annotations

import pytest

from rnnbounds.properties.runs.replay import find_statement, replay

DRIVEN_GRU = (
    '{"kind":"certified","n":4,"d":2,"T":3,"seed":16736,"sequences":6,"member":0,"sequence":3,'
    '"K":3,"regime":"gaussian","lam":0.375,"scale":1024.0,"bias":0.5,"epsilon":0.57,'
    '"distance":1.0,"cell":"gru","norm":"spectral","over":"box"}'
)
DRIVEN_TANH = (
    '{"kind":"certified","n":1,"d":1,"T":24,"seed":168980087237844,"batch":2,"sequences":6,'
    '"member":1,"sequence":2,"K":16,"regime":"driven","lam":0.5,"scale":1024.0,"bias":0.0,'
    '"epsilon":0.26,"distance":0.015625,"cell":"rnn-tanh","norm":"diagonal",'
    '"dtype":"float16","over":"box"}'
)
HALVED = (
    '{"kind":"certified","n":2,"d":2,"T":1,"seed":167678978340535,"batch":2,"sequences":6,'
    '"member":0,"sequence":0,"K":1,"inputs":"impulse","lam":0.125,"scale":0.25,"bias":0.5,'
    '"epsilon":0.01,"distance":0.015625,"cell":"leaky-tanh",'
    '"norm":"diagonal","dtype":"float16","over":"box"}'
)
FIRST_LAYER = (
    '{"kind":"certified","n":3,"d":1,"T":2,"seed":391877924832709,"sequences":6,"member":0,'
    '"sequence":0,"K":2,"regime":"driven","lam":0.375,"scale":0.0009765625,"bias":0.5,'
    '"epsilon":0.26,"distance":1.0,"layers":2,"layer":1,'
    '"cell":"stacked-gru","norm":"cascade","dtype":"float16","over":"box"}'
)
DRIVEN_ERF = (
    '{"kind":"certified","n":1,"d":1,"T":12,"seed":39454,"batch":2,"sequences":6,"member":0,'
    '"sequence":0,"K":12,"regime":"driven","lam":0.125,"scale":1024.0,"bias":0.0,"epsilon":0.01,'
    '"distance":0.015625,"cell":"rnn-erf","norm":"perron",'
    '"dtype":"float16","over":"rows"}'
)
STEEP_ELU = (
    '{"kind":"certified","n":4,"d":2,"T":16,"seed":29198,"batch":2,"sequences":6,"member":1,'
    '"sequence":0,"K":16,"lam":0.125,"scale":0.25,"bias":0.5,"epsilon":0.26,"distance":0.015625,'
    '"cell":"rnn-elu","norm":"spectral","dtype":"bfloat16"}'
)
DEEP = (
    '{"kind":"certified","n":2,"d":2,"T":16,"seed":60294,"batch":2,"sequences":6,"member":0,'
    '"sequence":0,"K":16,"regime":"signs","inputs":"impulse","lam":0.5,"scale":1024.0,"bias":0.5,'
    '"epsilon":0.01,"distance":1.0,"layers":2,"cell":"deep-tanh",'
    '"dtype":"float32","over":"box"}'
)
DEEP_OF_ONE_INPUT = (
    '{"kind":"certified","n":2,"d":1,"T":24,"seed":55399,"batch":2,"sequences":6,"member":0,'
    '"sequence":0,"K":16,"regime":"driven","lam":0.125,"scale":1024.0,"bias":0.5,"epsilon":0.01,'
    '"distance":0.125,"layers":2,"cell":"deep-tanh","norm":"infinity","over":"box"}'
)

# (claim, form, spec): what a run printed for replaying.
KEPT = (
    # ELU above 0 at h, if not at h′: both sides are the root of one rational.
    (
        "cell-constants",
        "weights",
        '{"kind":"gradient","n":1,"d":1,"T":64,"seed":8604754902744,"batch":4,"sequences":2,'
        '"member":0,"sequence":1,"activation":"elu","K":32,"regime":"block","inputs":"resonant",'
        '"lam":0.9,"scale":0.0009765625,"bias":0.5,"distance":1.0,"target":0.0}',
    ),
    # A gate without bias under no input is open by exactly a half.
    # Driven by inputs up to 1024, tanh z and σ(z) differ from 1 by what takes 6000 bits to see.
    ("certificate", "constants", DRIVEN_GRU),
    *((("certificate", form, DRIVEN_TANH)) for form in ("radius", "first", "state")),
    # With W = 0 a leak of a half halves a difference exactly, whatever tanh makes of the input.
    ("certificate", "forgetting", HALVED),
    # 1 − erf 250 takes 90,000 bits to see; that it is positive, none.
    *((("certificate", form, DRIVEN_ERF)) for form in ("radius", "state")),
    # With W = 0 an ELU of slope 1 meets a bound on slopes, beside units of irrational slope.
    ("certificate", "constants", STEEP_ELU),
    # A box of inputs keeps a cell so saturated that λ is 1.6e-301, and λ¹⁶ takes 16,000 bits.
    *((("certificate", form, DEEP)) for form in ("contraction", "output", "forgetting")),
    ("certificate", "contraction", DEEP_OF_ONE_INPUT),
    # What is printed of a first layer is true under the set of inputs, not under the ball around.
    ("certificate", "constants", FIRST_LAYER),
)


@pytest.mark.parametrize(("claim", "form", "spec"), KEPT)
def test_what_was_undecided_once_holds(claim: str, form: str, spec: str) -> None:
    """Every check of the system is decided, and well; some windows may be too short to ask."""
    found = replay(spec, *find_statement(claim, form), claim, form)
    assert {check.verdict for check in found.checks} - {"VACUOUS"} == {"HOLDS"}
