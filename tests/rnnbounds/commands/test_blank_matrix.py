"""A record whose matrix leaves something out is told in a line by `claims --matrix`."""

import json

import pytest


@pytest.mark.slow
@pytest.mark.parametrize("left", [0, 1])
def test_a_blank_is_named(call, refused, tiny, tmp_path, left):
    """Whether nothing is left of the matrix or all but one entry."""
    arguments = ("certified-norm", "-n", 0, "--attacks", "random", "--out", tmp_path)
    assert call("verify", *arguments).code == 0
    record = tmp_path / "run.json"
    told = json.loads(record.read_text())
    told["matrix"]["entries"] = told["matrix"]["entries"][:left]
    record.write_text(json.dumps(told))
    for form in ("text", "json"):
        line = refused("claims", "--matrix", "--run", record, "--format", form)
        assert "the matrix has no entry for certified-norm on" in line
        assert line.endswith("; write the run again")
