"""The worst instance as arrays: those of the very check, small, or none at all."""

import json

import numpy as np
import pytest
from msgspec.structs import replace

from rnnbounds.properties.judging.evidence import Evidence, tightest_checks, tightness_key
from rnnbounds.properties.runs.replay import find_statement, replay
from rnnbounds.properties.runs.worst_instance import LONGEST_DRAWN_RUN, worst_instance
from rnnbounds.theory import claim


def spec_of(**fields) -> str:
    """A spec of one scalar linear model under random inputs."""
    usual = {
        "kind": "rnn", "activation": "identity", "n": 1, "d": 1, "T": 12, "K": 8, "lam": 0.5,
        "regime": "diagonal", "inputs": "gaussian", "seed": 0, "member": 0, "sequence": 0,
    }  # fmt: skip
    return json.dumps(usual | fields)


def check_of(name: str = "truncation", form: str = "finite", **fields):
    """Its check at k = 0."""
    return replay(spec_of(**fields), *find_statement(name, form), name, form).checks[0]


def test_the_runs_of_a_truncation():
    """States step by step, the truncated run from zero on the last k inputs, both sides by k."""
    check = check_of()
    found = worst_instance(claim("truncation"), [check])
    W, U, b = (np.array(found.weights[name]) for name in "WUb")
    x, h, other = (np.array(part) for part in (found.inputs, found.states, found.others))
    assert (len(x), len(h)) == (12, 13)
    for start, run in ((0, h), (12 - found.window, other)):
        assert np.all(run[0] == 0)
        for t in range(len(run) - 1):
            np.testing.assert_allclose(run[t + 1], W @ run[t] + U @ x[start + t] + b[0], rtol=1e-12)
    seen = replay(spec_of(), *find_statement("truncation", "finite"), "truncation", "finite")
    assert [(p.at, p.lhs, p.rhs) for p in found.sides] == [(c.k, c.lhs, c.rhs) for c in seen.checks]
    gap = np.linalg.norm(h[-1] - other[-1])
    assert gap == pytest.approx(found.sides[found.window].lhs, rel=1e-12)
    assert found.check == check


def test_the_runs_of_other_inputs():
    """Both runs are whole; the sides stand at T."""
    found = worst_instance(claim("input-robustness"), [check_of("input-robustness")])
    assert len(found.others) == len(found.states) == 13
    assert len(found.other_inputs) == 12
    assert found.other_inputs != found.inputs
    assert found.window is None
    (side,) = found.sides
    gap = np.linalg.norm(np.subtract(found.states[-1], found.others[-1]))
    assert (side.at, side.lhs) == (12, pytest.approx(gap, rel=1e-9))


def test_a_single_run():
    """A bound on states has one run, and its end is the left side."""
    found = worst_instance(claim("state-bound"), [check_of("state-bound")])
    assert found.others == ()
    assert found.sides[0].lhs == pytest.approx(abs(found.states[-1][0]), rel=1e-12)


def test_what_cannot_be_drawn_is_left_out():
    """A single step, a run that is too long; the next check is taken instead."""
    entry = claim("truncation")
    single, long = check_of(T=1, K=1), check_of(T=LONGEST_DRAWN_RUN + 1)
    assert worst_instance(entry, [single, long]) is None
    assert worst_instance(entry, [single, long, check_of()]).check == check_of()
    step = check_of("contraction-rnn", "euclidean")
    assert worst_instance(claim("contraction-rnn"), [step]) is None


def test_a_gap_that_is_zero_is_not_drawn():
    """A feed-forward model forgets all at once: its left side is 0 at every window."""
    name, form = "truncation", "finite"
    assert worst_instance(claim(name), [check_of(name, form, lam=0.0)]) is None


def test_systems_in_rationals_are_not_drawn():
    """The unitary claims are about other things than the run of the model in floats."""
    spec = json.dumps({
        "kind": "unitary", "n": 1, "d": 1, "T": 24, "K": 4, "seed": 2, "regime": "diagonal",
        "member": 0, "sequence": 0,
    })  # fmt: skip
    name, form = "urnn-gradient", "vanishing"
    check = replay(spec, *find_statement(name, form), name, form).checks[0]
    assert worst_instance(claim(name), [check]) is None


def test_the_truncated_run_has_a_third_of_the_inputs():
    """Or as many as the largest window, where that is less."""
    for K, found in ((12, 4), (3, 3)):
        assert worst_instance(claim("truncation"), [check_of(K=K)]).window == found


def test_a_single_run_is_drawn_only_where_its_end_is_bounded():
    """Not of a claim about rounding, whose left side is an error."""
    name = "rounding-state"
    check = check_of(name, "state", activation="tanh", n=2, d=2, regime="orthogonal")
    assert worst_instance(claim(name), [check]) is None


def test_among_equals_the_longest_run_comes_first():
    """Of at most 64 steps, and of these the one that forgets slowest."""
    plain = replace(check_of(), ratio=1.0)

    def of(**spec):
        return replace(plain, spec=plain.spec | spec)

    ranked = [of(T=64, lam=0.9), of(T=64, lam=0.5), of(T=20, lam=0.9), of(T=300, lam=0.9)]
    assert sorted((ranked[i] for i in (2, 0, 3, 1)), key=tightness_key) == ranked
    assert sorted([replace(ranked[0], ratio=0.9), ranked[3]], key=tightness_key)[0] == ranked[3]


def test_a_check_that_forms_share_is_kept_with_all_of_them():
    """The first three different checks of all forms, whatever form each is of."""
    entry = claim("truncation")
    one, two, three, four = (replace(check_of(T=T), ratio=1.0) for T in (12, 11, 10, 9))
    forms = [Evidence.empty(entry, form) for form in entry.forms[:2]]
    forms[0].tightest = [one, two, three]
    forms[1].tightest = [
        replace(check, form="uniform", replay="another") for check in (one, three, four)
    ]
    found = tightest_checks(forms)
    assert [(check.spec["T"], check.form) for check in found] == [
        (12, "finite"), (12, "uniform"), (11, "finite"), (10, "finite"), (10, "uniform"),
    ]  # fmt: skip
