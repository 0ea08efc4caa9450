"""A replay judges what its command names, and every command that is printed can be replayed."""

import json
import shlex

import pytest

from rnnbounds.properties.attacks.extremal import extremal_specs
from rnnbounds.properties.systems.spec import REQUIRED_FIELDS
from rnnbounds.properties.systems.table import make_spec, parse_spec
from rnnbounds.reports.records.codec import load
from rnnbounds.theory import CLAIMS

NAMED_SPEC = {"kind": "rnn", "n": 2, "d": 1, "T": 5, "seed": 4}


@pytest.mark.parametrize("name", [*REQUIRED_FIELDS, "all"])
def test_a_spec_that_does_not_say_what_it_is_of(refused, name):
    """There is no system by default, and so no verdict on it."""
    spec = {} if name == "all" else {key: v for key, v in NAMED_SPEC.items() if key != name}
    line = refused("replay", json.dumps(spec), "--claim", "truncation")
    assert f"does not say its {'kind' if name == 'all' else name};" in line


@pytest.mark.parametrize(
    ("about", "claim", "form"),
    [("lstm", "contraction-lstm", "one-step"), ("causal", "receptive-field", "causal-one-shorter")],
)
def test_a_spec_of_another_kind(refused, about, claim, form):
    """A form that speaks of other systems is not judged vacuous on this one."""
    line = refused("replay", json.dumps(NAMED_SPEC), "--claim", claim, "--form", form)
    assert f"{claim} ({form}) is about {about} systems, and this one is rnn;" in line


def test_what_is_printed_is_read():
    """Each kind's specs come back from their text, all fields as by default included."""
    specs = [make_spec()]
    for about in {form.about for claim in CLAIMS for form in claim.forms}:
        specs += [spec for spec, _ in zip(extremal_specs(about), range(3), strict=False)]
    assert len(specs) > 50
    for spec in specs:
        assert parse_spec(spec.text) == spec
        assert set(json.loads(spec.text)) >= set(spec.required_fields())
        assert json.loads(spec.text) == json.loads(json.dumps(spec.explicit_fields))


@pytest.mark.slow
def test_what_a_run_prints_is_replayed(call, tiny, tmp_path):
    """Every command of a record, counter-examples included, gives the same check; and so does the
    record's own spec."""
    assert call("verify", "state-bound", "-n", 0, "--attacks", "random,extremal", "--out", tmp_path)
    (record,) = load(tmp_path / "run.json").claims
    fallen = [variant.counterexample for variant in record.variants]
    checks = [*record.tightest, *[check for check in fallen if check is not None]]
    assert len(checks) > 4
    for check in checks:
        name, *arguments = shlex.split(check.replay)
        assert name == "rnnbounds"
        seen = call(*arguments, "--format", "json")
        assert seen.code in (0, 1)
        same = [other for other in seen.json if other["k"] == check.k]
        assert [other["verdict"] for other in same] == [check.verdict]
    arguments[1] = json.dumps(check.spec)
    assert call(*arguments, "--format", "json").json == seen.json
