"""``attack`` and ``replay``: a typed bound, and one check again."""

import re
import shlex
from dataclasses import replace

import numpy as np
import pytest

from rnnbounds.properties.attacks.budget import PROFILES

CLAIM = ("--claim", "truncation")
SPEC = '{"kind":"rnn","n":2,"d":1,"T":5,"K":3,"lam":0.75,"seed":4}'
FALSE = "h_gap <= S_0*lam**k"


@pytest.mark.parametrize(
    "statement", ["h_gap <= S_0*lam**(k+1)/(1-lam)", FALSE, "h_norm <= 0.999*S_0/(1-lam)"]
)
def test_a_false_bound_falls(call, tiny, statement, tmp_path, monkeypatch):
    """Exit 1 with a shrunk counter-example, whose command replays the violation."""
    outcome = call("attack", statement)
    assert (outcome.code, outcome.err) == (1, "")
    monkeypatch.chdir(tmp_path)
    falls, command = outcome.out.splitlines()
    assert falls.startswith("refuted: ")
    assert falls.endswith(" attack)")
    again = call(*shlex.split(command)[1:])
    assert again.code == 1
    assert "VIOLATED" in again.out
    with np.load("worst.npz") as arrays:
        assert (arrays["lhs"] > arrays["rhs"]).any()


@pytest.mark.parametrize("statement", ["h_norm <= log(lam - 2)", "h_norm <= sqrt(-1 - lam)"])
def test_what_nothing_decides_does_not_stand(call, tiny, statement):
    """A side that is no number is never a pass: exit 1, and no counter-example is claimed."""
    outcome = call("attack", statement, "--attacks", "random", "--format", "json")
    assert (outcome.code, outcome.err) == (1, "")
    document = outcome.json
    assert (document["stands"], document["holds"], document["counterexample"]) == (False, 0, None)
    # Where a logarithm has no value the statement says nothing: vacuous, not undecided.
    assert (document["undecided"] > 0) == ("log" not in statement)


@pytest.mark.slow
def test_what_is_near_equality_is_explained(call, monkeypatch):
    """How near, on how many systems, an example that replays as undecided or equal, and a remedy
    that works; the proof that has the statement as a step."""
    monkeypatch.setitem(PROFILES, "quick", replace(PROFILES["quick"], random=8))
    attacked = ("attack", "h_gap <= lam**k*h_start", "--attacks", "random")
    first, near, example, remedy, proved, *_ = call(*attacked).out.splitlines()
    assert first.startswith("undecided: h_gap <= h_start*lam**k (")
    counts = re.fullmatch(
        r"undecided checks are on ([\d,]+) systems; "
        r"lhs/rhs is within 1e-05 of 1 at ([\d,]+) of ([\d,]+)",
        near,
    )
    systems, close, undecided = (int(number.replace(",", "")) for number in counts.groups())
    assert 0 < systems <= undecided
    assert 0 < close <= undecided
    command = example.removeprefix("an example: rnnbounds ")
    assert "1.0" in call(*shlex.split(command)).out
    assert "multiply the right side by 1.0001" in remedy
    command = "rnnbounds prove truncation --form finite --step forgetting"
    assert proved == f"proved under its assumptions: {command}"
    again = call("attack", "h_gap <= 1.0001*lam**k*h_start", "--attacks", "random")
    assert (again.code, again.out[:12]) == (0, "not refuted:")


@pytest.mark.parametrize(
    ("statement", "remedy"),
    [
        ("__import__('os')", "unknown quantity '__import__'"),
        ("(" * 10**6 + "h_gap" + ")" * 10**6 + " <= 1", "at most 10000 are read"),
        ("(" * 100 + "h_gap" + ")" * 100 + " <= 1", "at most 60 brackets are nested"),
        ("h_gap\0 <= 1", r"contains '\x00'; use names"),
        ("h_gap <= 1\nimport os", "unknown quantity 'import'"),
    ],
)
def test_hostile_statements(refused, tiny, statement, remedy):
    """Nothing is evaluated as code, and nothing takes long: one line."""
    for arguments in (("attack", statement), ("replay", "{}", "--statement", statement)):
        line = refused(*arguments)
        assert remedy in line
        assert len(line) < 2_100


def test_a_model_is_no_statement(refused, stable_model):
    """The line says which command attacks it; a long formula is no file's name."""
    told = refused("attack", stable_model)
    assert f"to attack a model say 'rnnbounds certify {shlex.quote(str(stable_model))}" in told
    assert "file" not in refused("attack", "h_gap <= " + "S_0*" * 999)


def test_what_is_assumed_is_said(call, tiny):
    """A bound that is false from λ = 2 on stands only below λ = 1, and the answer says so; the
    replay of such a system names what it does not meet."""
    bound = "h_norm <= S_0*T"
    assert "assumed: lam < 1" in call("attack", bound, "--attacks", "random").out.splitlines()
    assert call("attack", bound, "--attacks", "random", "--format", "json").json["assumed"] == [
        "lam < 1"
    ]
    steep = SPEC.replace("0.75", "2.0")
    assert "VACUOUS (not met: lam < 1)" in call("replay", steep, "--statement", bound).out
    grown = call("replay", steep, "--statement", f"{bound}, T < 9, lam < 1.5").out
    assert "VACUOUS (not met: lam < 1, lam < 3/2)" in grown
    without = ("--statement", "grad_gap <= eps_k")
    assert (
        "not met: a finite eps_k" in call("replay", SPEC.replace("rnn", "gradient"), *without).out
    )


def test_a_close_violation_says_what_decided_it(call, tiny):
    """h_1 = u, so that h_norm = S_0 and S_0(1 − 10⁻³⁰) is violated by less than float64 has: the
    difference is printed, and no lhs/rhs, which would be less than 1."""
    spec = '{"kind":"linear","n":1,"d":1,"T":1,"seed":0,"regime":"diagonal","lam":0.5}'
    bound = "h_norm <= (1 - 1e-30)*B_h*(1 - lam)"
    out = call("replay", spec, "--statement", bound).out
    assert "decided in balls and rationals: lhs − rhs = 7.68e-31)" in out
    assert " 0.9999999999999999 " not in out
    equal = call("replay", spec, "--statement", "h_norm < B_h*(1 - lam)").out
    assert equal.splitlines()[1].endswith("1.0      VIOLATED")


@pytest.mark.parametrize("condition", ["lam > 1", "lam >= 1, lam <= 1", "T < 9, 2*lam > 2"])
def test_no_attack_goes_beyond_contraction(call, tiny, condition):
    """A side condition that no λ < 1 meets ends in a line that says so."""
    outcome = call("attack", f"h_norm <= S_0*T, {condition}")
    assert outcome.code == 1
    assert "λ ≥ 1 is not attacked" in outcome.out
    assert "weaken" not in outcome.out


@pytest.mark.parametrize("condition", ["lam > 0.9", "lam <= 1", "T < 0"])
def test_what_an_attack_may_meet_is_attacked(call, tiny, condition):
    """A side condition that some λ < 1 meets, or that is about something else, is tried."""
    out = call("attack", f"h_norm <= S_0*T, {condition}", "--attacks", "random").out
    assert "is not attacked" not in out
    assert ("weaken" in out) == (condition == "T < 0")


@pytest.mark.parametrize(
    "spec",
    ["[" * 10**6, '{"values":' * 10**6, '{"T":[' + "[" * 10**6, '{"T":' + "9" * 5000 + "}"],
    ids=lambda spec: spec[:9],
)
def test_hostile_specs(refused, tmp_path, spec):
    """Whatever is no spec gets one line; nothing is written."""
    line = refused("replay", spec, *CLAIM, "--dump", tmp_path / "x.npz")
    assert line.endswith("copy the spec from a failure or from the page")
    assert not list(tmp_path.iterdir())
